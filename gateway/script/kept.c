#include "script/kept.h"

#include "base/memory.h"
#include "script/keep.h"
#include "script/plain.h"

#include <lauxlib.h>
#include <stdlib.h>
#include <string.h>

/* ---- declaring ---- */

static size_t declared_bytes(const struct keep *keep)
{
    size_t sum = 0;

    for (const struct keep_entry *entry = keep_first(keep); entry != NULL;
         entry = entry->next)
        sum += entry->max;
    return sum;
}

/* What a declaration can't have; NULL: nothing. */
static const char *what_is_wrong(const struct border *border, const char *name,
                                 size_t max)
{
    if (keep_find(border->keep, border->owner, name) != NULL)
        return "this filter has it already";
    if (max > KEPT_MAX - declared_bytes(border->keep))
        return "the tables of all filters together would keep more than 64 MiB";
    return NULL;
}

static void push_table(lua_State *L, struct border *border,
                       const struct keep_entry *before)
{
    if (before != NULL && before->bytes.size > 0)
        plain_push(L, border, 1, &before->bytes);
    else
        lua_newtable(L);
}

static int kept(lua_State *L)
{
    struct border *border = lua_touserdata(L, lua_upvalueindex(1));
    const char *name = luaL_checkstring(L, 2);
    uint64_t version = (uint64_t)luaL_checknumber(L, 3);
    size_t max = (size_t)luaL_checknumber(L, 4);
    const char *wrong = what_is_wrong(border, name, max);
    struct keep_entry *entry;
    int reference;

    if (wrong != NULL) {
        lua_pushnil(L);
        lua_pushstring(L, wrong);
        return 2;
    }
    push_table(L, border,
               keep_before(border->keep, border->owner, name, version));
    lua_pushvalue(L, -1);
    reference = luaL_ref(L, LUA_REGISTRYINDEX);
    entry = keep_add(border->keep, border->owner, name, version);
    entry->table = reference;
    entry->max = max;
    return 1;
}

void kept_push(lua_State *L, struct border *border)
{
    lua_pushlightuserdata(L, border);
    lua_pushcclosure(L, kept, 1);
}

/* ---- saving ---- */

struct saving {
    struct border *border;
    struct keep_entry *entry;
    int loader;
    struct error error;
};

static int save(lua_State *L)
{
    struct saving *saving = lua_touserdata(L, 1);
    struct keep_entry *entry = saving->entry;

    lua_rawgeti(L, LUA_REGISTRYINDEX, saving->loader);
    lua_rawgeti(L, LUA_REGISTRYINDEX, entry->table);
    plain_write(L, saving->border, 2, entry->max, &entry->bytes,
                &saving->error);
    return 0;
}

static void save_entry(lua_State *L, struct border *border, int loader,
                       struct keep_entry *entry)
{
    struct saving saving = {border, entry, loader, {{0}}};

    buffer_clear(&entry->bytes);
    free(entry->failure);
    entry->failure = NULL;
    if (lua_cpcall(L, save, &saving) != 0) {
        error_set(&saving.error, "there was no memory to write it down");
        lua_pop(L, 1);
    }
    if (!error_is_set(&saving.error))
        return;
    buffer_free(&entry->bytes);
    entry->failure = memory_text(saving.error.text, strlen(saving.error.text));
}

void kept_save(lua_State *L, struct border *border, int loader)
{
    for (struct keep_entry *entry = keep_first(border->keep); entry != NULL;
         entry = entry->next)
        if (entry->object == NULL)
            save_entry(L, border, loader, entry);
}

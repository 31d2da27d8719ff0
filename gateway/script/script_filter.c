#include "script/script_parts.h"

#include "base/memory.h"
#include "base/signature.h"
#include "script/options.h"

#include <lauxlib.h>
#include <stdlib.h>
#include <string.h>

/* ---- loading ---- */

struct loading {
    struct script *script;
    struct script_filter *filter;
    const struct script_wanted *wanted;
};

static uint64_t sign(lua_State *L, int index,
                     const struct config_value *options)
{
    size_t size;
    const char *texts = lua_tolstring(L, index, &size);
    uint64_t signature = signature_add(SIGNATURE_EMPTY, texts, size);
    uint64_t chosen = options == NULL ? 0 : options_hash(options);

    return signature_add(signature, &chosen, sizeof chosen);
}

static void take_hooks(lua_State *L, int index, struct script_hooks *hooks)
{
    lua_getfield(L, index, "on_batch");
    lua_getfield(L, index, "on_loss");
    lua_getfield(L, index, "every_ms");
    hooks->on_batch = lua_toboolean(L, -3);
    hooks->on_loss = lua_toboolean(L, -2);
    hooks->every_ms = (uint64_t)lua_tonumber(L, -1);
    lua_pop(L, 3);
}

/* loader.load(name, options, counters) -> run, path, texts, hooks */
int script_load_filter(lua_State *L)
{
    const struct loading *loading = lua_touserdata(L, 1);
    struct script_filter *filter = loading->filter;
    const struct config_value *options = loading->wanted->options;

    lua_rawgeti(L, LUA_REGISTRYINDEX, loading->script->loader);
    lua_getfield(L, 2, "load");
    lua_pushstring(L, loading->wanted->name);
    if (options == NULL || options->kind == CONFIG_NULL)
        lua_newtable(L);
    else
        options_push(L, options, loading->script->border, 2);
    lua_pushlightuserdata(L, &filter->counters);
    lua_call(L, 3, 4); /* stack: loading, loader, run, path, texts, hooks */
    take_hooks(L, 6, &filter->hooks);
    filter->signature = sign(L, 5, options);
    filter->path = memory_text(lua_tostring(L, 4), lua_objlen(L, 4));
    lua_pushvalue(L, 3);
    filter->run = luaL_ref(L, LUA_REGISTRYINDEX);
    return 0;
}

/* How many filters of this script its chain has so far. */
static uint32_t count_namesakes(const struct script *script,
                                const struct script_wanted *wanted)
{
    const char *stream = wanted->stream == NULL ? "" : wanted->stream;
    uint32_t count = 0;

    for (const struct script_filter *filter = script->filters; filter != NULL;
         filter = filter->older)
        if (strcmp(filter->owner.script, wanted->name) == 0 &&
            strcmp(filter->owner.stream, stream) == 0)
            count++;
    return count;
}

/* Stays though its script can't be loaded: what it declared knows it. */
static struct script_filter *new_filter(struct script *script,
                                        const struct script_wanted *wanted)
{
    struct script_filter *filter = memory_new(sizeof *filter);

    owner_set(&filter->owner, wanted->name, wanted->stream, wanted->position,
              count_namesakes(script, wanted) + 1);
    filter->script = script;
    filter->older = script->filters;
    script->filters = filter;
    return filter;
}

struct script_filter *script_load(struct script *script,
                                  const struct script_wanted *wanted,
                                  struct error *error)
{
    struct script_filter *filter = new_filter(script, wanted);
    struct loading loading = {script, filter, wanted};
    int status;

    script->border->owner = &filter->owner;
    lua_rawgeti(script->L, LUA_REGISTRYINDEX, script->load);
    lua_pushlightuserdata(script->L, &loading);
    watchdog_begin(script->dog, wanted->name, NULL, script->limits.load_ms);
    status = script_call(script, 1);
    script_tell_limit(script, wanted->name, status, watchdog_end(script->dog));
    if (status == 0)
        return filter;
    error_set(error, "%s", script->error);
    return NULL;
}

static void free_filter(struct script_filter *filter)
{
    owner_clear(&filter->owner);
    free(filter->path);
    free(filter);
}

void script_filters_free(struct script *script)
{
    while (script->filters != NULL) {
        struct script_filter *filter = script->filters;

        script->filters = filter->older;
        free_filter(filter);
    }
}

/* ---- what is known of one ---- */

const char *script_filter_path(const struct script_filter *filter)
{
    return filter->path;
}

uint64_t script_filter_signature(const struct script_filter *filter)
{
    return filter->signature;
}

const struct script_hooks *
script_filter_hooks(const struct script_filter *filter)
{
    return &filter->hooks;
}

void script_filter_tick(struct script_filter *filter)
{
    log_gate_tick(&filter->owner.gate);
}

struct filter_counters *script_filter_counters(struct script_filter *filter)
{
    return &filter->counters;
}

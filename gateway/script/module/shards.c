/*
 * The table of kvgate.shards as a Lua object, for its spec.  An id is 16 bytes.
 */
#include "script/module/module.h"
#include "script/shards/shard_table.h"

#include <lauxlib.h>
#include <string.h>

static const char type_name[] = "gateway.shard_table";

/* gateway.shard_table(capacity, groups) -> table */
static int table_new(lua_State *L)
{
    struct shard_table **box = lua_newuserdata(L, sizeof *box);

    *box = shard_table_new((uint32_t)luaL_checkinteger(L, 1),
                           (uint32_t)luaL_checkinteger(L, 2));
    luaL_getmetatable(L, type_name);
    lua_setmetatable(L, -2);
    return 1;
}

static struct shard_table *check_table(lua_State *L)
{
    return *(struct shard_table **)luaL_checkudata(L, 1, type_name);
}

static int table_gc(lua_State *L)
{
    shard_table_free(check_table(L));
    return 0;
}

static struct shard_id check_id(lua_State *L, int argument)
{
    struct shard_id id;
    size_t size;
    const char *bytes = luaL_checklstring(L, argument, &size);

    luaL_argcheck(L, size == sizeof id, argument, "an id has 16 bytes");
    memcpy(&id, bytes, sizeof id);
    return id;
}

static int push_count(lua_State *L, struct shard_count count)
{
    lua_pushinteger(L, count.before);
    lua_pushinteger(L, count.after);
    return 2;
}

/* table:put(group, id, part) -> before, after; nothing: it is full */
static int put(lua_State *L)
{
    struct shard_count count;

    if (!shard_table_put(check_table(L), (uint32_t)luaL_checkinteger(L, 2),
                         check_id(L, 3), (uint32_t)luaL_checkinteger(L, 4),
                         &count))
        return 0;
    return push_count(L, count);
}

/* table:take(id, part) -> before, after */
static int take(lua_State *L)
{
    return push_count(L, shard_table_take(check_table(L), check_id(L, 2),
                                          (uint32_t)luaL_checkinteger(L, 3)));
}

/* table:count(id) -> parts */
static int count(lua_State *L)
{
    lua_pushinteger(L, shard_table_count(check_table(L), check_id(L, 2)));
    return 1;
}

/* table:set(group, id, number) -> true; false: it is full */
static int set(lua_State *L)
{
    lua_pushboolean(
        L, shard_table_set(check_table(L), (uint32_t)luaL_checkinteger(L, 2),
                           check_id(L, 3), (uint64_t)luaL_checknumber(L, 4)));
    return 1;
}

/* table:get(id) -> number or nothing */
static int get(lua_State *L)
{
    uint64_t number;

    if (!shard_table_get(check_table(L), check_id(L, 2), &number))
        return 0;
    lua_pushnumber(L, (lua_Number)number);
    return 1;
}

/* table:drop(group) */
static int drop(lua_State *L)
{
    shard_table_drop(check_table(L), (uint32_t)luaL_checkinteger(L, 2));
    return 0;
}

/* table:size(group) -> slots */
static int size(lua_State *L)
{
    lua_pushinteger(
        L, shard_table_size(check_table(L), (uint32_t)luaL_checkinteger(L, 2)));
    return 1;
}

/* table:used() -> slots, dropped ones included */
static int used(lua_State *L)
{
    lua_pushinteger(L, shard_table_used(check_table(L)));
    return 1;
}

static const luaL_Reg methods[] = {
    {"put", put},   {"take", take}, {"count", count},
    {"set", set},   {"get", get},   {"drop", drop},
    {"size", size}, {"used", used}, {NULL, NULL}};

void module_shards(lua_State *L)
{
    module_class(L, type_name, methods, table_gc);
    lua_pushcfunction(L, table_new);
    lua_setfield(L, -2, "shard_table");
}

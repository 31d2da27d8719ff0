#include "eager.h"

#include "check.h"

#include <lauxlib.h>
#include <lua.h>
#include <lualib.h>

#include <string.h>

/* Kept in a metatable of each table: an empty one could be either. */
enum { ARRAY = 1, MAP = 2 };

struct eager {
    lua_State *L;
    int filter; /* in the registry */
    int null;   /* stands for nil in tables, which cannot hold one */
    int streams;
};

struct eager *eager_new(const char *path, int streams)
{
    struct eager *eager = calloc(1, sizeof *eager);
    lua_State *L = luaL_newstate();

    check(eager != NULL && L != NULL, "memory");
    luaL_openlibs(L);
    lua_newuserdata(L, 1);
    eager->null = luaL_ref(L, LUA_REGISTRYINDEX);
    check(luaL_dofile(L, path) == 0, path);
    lua_createtable(L, 0, 1);
    lua_pushinteger(L, streams);
    lua_setfield(L, -2, "streams");
    /* stack: make, options */
    check(lua_pcall(L, 1, 1, 0) == 0, path);
    eager->filter = luaL_ref(L, LUA_REGISTRYINDEX);
    eager->streams = streams;
    eager->L = L;
    return eager;
}

/* ---- msgpack to Lua ---- */

static void push_value(struct eager *eager, const msgpack_object *value);

static void set_kind(lua_State *L, int kind)
{
    lua_createtable(L, 0, 1);
    lua_pushlstring(L, "type", 4);
    lua_pushinteger(L, kind);
    /* stack: table, metatable, "type", kind */
    lua_settable(L, -3);
    lua_setmetatable(L, -2);
}

static void push_map(struct eager *eager, const msgpack_object_map *map)
{
    lua_createtable(eager->L, 0, (int)map->size);
    for (uint32_t i = 0; i < map->size; i++) {
        push_value(eager, &map->ptr[i].key);
        push_value(eager, &map->ptr[i].val);
        /* stack: table, key, value */
        lua_settable(eager->L, -3);
    }
    set_kind(eager->L, MAP);
}

static void push_array(struct eager *eager, const msgpack_object_array *array)
{
    lua_createtable(eager->L, (int)array->size, 0);
    for (uint32_t i = 0; i < array->size; i++) {
        push_value(eager, &array->ptr[i]);
        lua_rawseti(eager->L, -2, (int)i + 1);
    }
    set_kind(eager->L, ARRAY);
}

static void push_value(struct eager *eager, const msgpack_object *value)
{
    lua_State *L = eager->L;

    switch (value->type) {
    case MSGPACK_OBJECT_BOOLEAN:
        lua_pushboolean(L, value->via.boolean);
        break;
    case MSGPACK_OBJECT_POSITIVE_INTEGER:
        lua_pushnumber(L, (lua_Number)value->via.u64);
        break;
    case MSGPACK_OBJECT_NEGATIVE_INTEGER:
        lua_pushnumber(L, (lua_Number)value->via.i64);
        break;
    case MSGPACK_OBJECT_STR:
        lua_pushlstring(L, value->via.str.ptr, value->via.str.size);
        break;
    case MSGPACK_OBJECT_ARRAY:
        push_array(eager, &value->via.array);
        break;
    case MSGPACK_OBJECT_MAP:
        push_map(eager, &value->via.map);
        break;
    default:
        lua_rawgeti(L, LUA_REGISTRYINDEX, eager->null);
        break;
    }
}

/* ---- Lua to msgpack: the value on top of the stack ---- */

static void pack_value(struct eager *eager, msgpack_packer *to);

static void pack_list(struct eager *eager, msgpack_packer *to)
{
    lua_State *L = eager->L;
    size_t size = lua_objlen(L, -1);

    msgpack_pack_array(to, size);
    for (size_t i = 1; i <= size; i++) {
        lua_rawgeti(L, -1, (int)i);
        pack_value(eager, to);
        lua_pop(L, 1);
    }
}

static size_t count_pairs(lua_State *L)
{
    size_t count = 0;

    lua_pushnil(L);
    while (lua_next(L, -2) != 0) {
        lua_pop(L, 1);
        count++;
    }
    return count;
}

static void pack_pairs(struct eager *eager, msgpack_packer *to)
{
    lua_State *L = eager->L;

    msgpack_pack_map(to, count_pairs(L));
    lua_pushnil(L);
    while (lua_next(L, -2) != 0) {
        /* stack: table, key, value */
        lua_pushvalue(L, -2);
        pack_value(eager, to);
        lua_pop(L, 1);
        pack_value(eager, to);
        lua_pop(L, 1);
    }
}

/* A table that the filter made has no kind: with members in a row it is an
 * array. */
static bool is_array(lua_State *L)
{
    bool array = lua_objlen(L, -1) > 0;

    if (lua_getmetatable(L, -1)) {
        lua_pushlstring(L, "type", 4);
        lua_rawget(L, -2);
        array = lua_tointeger(L, -1) == ARRAY;
        lua_pop(L, 2);
    }
    return array;
}

static void pack_table(struct eager *eager, msgpack_packer *to)
{
    if (is_array(eager->L))
        pack_list(eager, to);
    else
        pack_pairs(eager, to);
}

static void pack_number(msgpack_packer *to, lua_Number number)
{
    if (number == (lua_Number)(int64_t)number)
        msgpack_pack_int64(to, (int64_t)number);
    else
        msgpack_pack_double(to, number);
}

static void pack_text(lua_State *L, msgpack_packer *to)
{
    size_t size;
    const char *text = lua_tolstring(L, -1, &size);

    msgpack_pack_str(to, size);
    msgpack_pack_str_body(to, text, size);
}

static void pack_value(struct eager *eager, msgpack_packer *to)
{
    lua_State *L = eager->L;

    switch (lua_type(L, -1)) {
    case LUA_TBOOLEAN:
        lua_toboolean(L, -1) ? msgpack_pack_true(to) : msgpack_pack_false(to);
        break;
    case LUA_TNUMBER:
        pack_number(to, lua_tonumber(L, -1));
        break;
    case LUA_TSTRING:
        pack_text(L, to);
        break;
    case LUA_TTABLE:
        pack_table(eager, to);
        break;
    default:
        msgpack_pack_nil(to);
        break;
    }
}

/* ---- the filter ---- */

/* What the verdict on top of the stack says: a name s<number>, or true. */
static int stream_of(struct eager *eager)
{
    const char *name;
    long stream;

    if (!lua_toboolean(eager->L, -1))
        return -1;
    if (lua_type(eager->L, -1) != LUA_TSTRING)
        return 0;
    name = lua_tostring(eager->L, -1);
    stream = strtol(name + 1, NULL, 10);
    check(name[0] == 's' && stream >= 0 && stream < eager->streams, name);
    return (int)stream;
}

int eager_filter(struct eager *eager, const msgpack_object *event,
                 msgpack_sbuffer *out)
{
    lua_State *L = eager->L;
    int stream;

    push_value(eager, event);
    lua_rawgeti(L, LUA_REGISTRYINDEX, eager->filter);
    lua_pushvalue(L, -2);
    /* stack: event, filter, event */
    check(lua_pcall(L, 1, 1, 0) == 0, "filter");
    stream = stream_of(eager);
    lua_pop(L, 1);
    if (stream >= 0) {
        msgpack_packer to;

        msgpack_packer_init(&to, &out[stream], msgpack_sbuffer_write);
        pack_value(eager, &to);
    }
    lua_pop(L, 1);
    return stream;
}

#include "script/options.h"

#include "base/signature.h"

#include <lauxlib.h>
#include <string.h>

static const int64_t exact_max = INT64_C(1) << 53;

/* ---- to Lua ---- */

static void push_wide(lua_State *L, struct border *border, int loader,
                      uint64_t bits, const char *maker)
{
    border->token.u64 = bits;
    border->token.i64 = (int64_t)bits;
    lua_getfield(L, loader, maker);
    lua_call(L, 0, 1);
}

static void push_integer(lua_State *L, int64_t value, struct border *border,
                         int loader)
{
    if (value >= -exact_max && value <= exact_max)
        lua_pushnumber(L, (lua_Number)value);
    else
        push_wide(L, border, loader, (uint64_t)value,
                  value < 0 ? "signed" : "unsigned");
}

static void push_list(lua_State *L, const struct config_value *list,
                      struct border *border, int loader)
{
    lua_createtable(L, (int)list->size, 0);
    for (size_t i = 0; i < list->size; i++) {
        options_push(L, &list->items[i], border, loader);
        lua_rawseti(L, -2, (int)i + 1);
    }
}

static void push_map(lua_State *L, const struct config_value *map,
                     struct border *border, int loader)
{
    lua_createtable(L, 0, (int)map->size);
    for (size_t i = 0; i < map->size; i++) {
        options_push(L, &map->items[2 * i], border, loader);
        options_push(L, &map->items[2 * i + 1], border, loader);
        lua_rawset(L, -3);
    }
}

void options_push(lua_State *L, const struct config_value *value,
                  struct border *border, int loader)
{
    luaL_checkstack(L, 4, "options are nested too deep");
    switch (value->kind) {
    case CONFIG_NULL:
        lua_pushnil(L);
        break;
    case CONFIG_BOOL:
        lua_pushboolean(L, value->boolean);
        break;
    case CONFIG_INTEGER:
        push_integer(L, value->integer, border, loader);
        break;
    case CONFIG_UINTEGER:
        push_wide(L, border, loader, value->uinteger, "unsigned");
        break;
    case CONFIG_NUMBER:
        lua_pushnumber(L, value->number);
        break;
    case CONFIG_STRING:
        lua_pushlstring(L, value->string, value->size);
        break;
    case CONFIG_LIST:
        push_list(L, value, border, loader);
        break;
    case CONFIG_MAP:
        push_map(L, value, border, loader);
        break;
    }
}

/* ---- to a hash ---- */

static uint64_t hash_scalar(const struct config_value *value, uint64_t hash)
{
    switch (value->kind) {
    case CONFIG_BOOL:
        return signature_add(hash, &value->boolean, sizeof value->boolean);
    case CONFIG_INTEGER:
        return signature_add(hash, &value->integer, sizeof value->integer);
    case CONFIG_UINTEGER:
        return signature_add(hash, &value->uinteger, sizeof value->uinteger);
    case CONFIG_NUMBER:
        return signature_add(hash, &value->number, sizeof value->number);
    case CONFIG_STRING:
        return signature_add(hash, value->string, value->size);
    default:
        return hash;
    }
}

/* Pairs are added up, so that their order is lost. */
static uint64_t hash_map(const struct config_value *map, uint64_t hash)
{
    uint64_t sum = 0;

    for (size_t i = 0; i < map->size; i++) {
        uint64_t pair[2] = {options_hash(&map->items[2 * i]),
                            options_hash(&map->items[2 * i + 1])};

        sum += signature_add(SIGNATURE_EMPTY, pair, sizeof pair);
    }
    return signature_add(hash, &sum, sizeof sum);
}

uint64_t options_hash(const struct config_value *value)
{
    unsigned char kind = (unsigned char)value->kind;
    uint64_t hash = signature_add(SIGNATURE_EMPTY, &kind, 1);

    if (value->kind == CONFIG_MAP)
        return hash_map(value, hash);
    if (value->kind != CONFIG_LIST)
        return hash_scalar(value, hash);
    for (size_t i = 0; i < value->size; i++) {
        uint64_t item = options_hash(&value->items[i]);

        hash = signature_add(hash, &item, sizeof item);
    }
    return hash;
}

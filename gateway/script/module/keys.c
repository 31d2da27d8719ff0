/*
 * A key template as a Lua object, for its spec.  Numbers cross as hex digits,
 * so that no 64-bit value becomes a double.
 */
#include "base/error.h"
#include "script/keys/key_digits.h"
#include "script/keys/key_template.h"
#include "script/module/module.h"

#include <inttypes.h>
#include <lauxlib.h>
#include <stdio.h>

static const char type_name[] = "gateway.template";

static int push_failure(lua_State *L, const struct error *error)
{
    lua_pushnil(L);
    lua_pushstring(L, error->text);
    return 2;
}

/* gateway.template(text) -> template, or nil and why not */
static int template_new(lua_State *L)
{
    size_t size;
    const char *text = luaL_checklstring(L, 1, &size);
    struct key_template **box = lua_newuserdata(L, sizeof *box);
    struct error error = {0};

    *box = key_template_new(text, size, &error);
    if (*box == NULL)
        return push_failure(L, &error);
    luaL_getmetatable(L, type_name);
    lua_setmetatable(L, -2);
    return 1;
}

static struct key_template *check_template(lua_State *L)
{
    struct key_template **box = luaL_checkudata(L, 1, type_name);

    return *box;
}

static int template_gc(lua_State *L)
{
    key_template_free(check_template(L));
    return 0;
}

/* template:match(key) -> { name = bytes } or nil */
static int template_match(lua_State *L)
{
    struct key_template *template = check_template(L);
    struct key_capture captures[KEY_TEMPLATE_CAPTURES];
    size_t size;
    const char *key = luaL_checklstring(L, 2, &size);

    if (!key_template_match(template, (const uint8_t *)key, size, captures)) {
        lua_pushnil(L);
        return 1;
    }
    lua_newtable(L);
    for (uint32_t i = 0; i < key_template_count(template); i++) {
        if (captures[i].size == 0)
            continue;
        lua_pushlstring(L, key + captures[i].start, captures[i].size);
        lua_setfield(L, -2, key_template_name(template, i));
    }
    return 1;
}

/* template:names() -> { name, ... } in their order */
static int template_names(lua_State *L)
{
    const struct key_template *template = check_template(L);

    lua_newtable(L);
    for (uint32_t i = 0; i < key_template_count(template); i++) {
        lua_pushstring(L, key_template_name(template, i));
        lua_rawseti(L, -2, (int)i + 1);
    }
    return 1;
}

static int push_number(lua_State *L,
                       uint64_t (*number)(const uint8_t *digits, size_t size))
{
    size_t size;
    const char *digits = luaL_checklstring(L, 1, &size);
    char text[17];

    snprintf(text, sizeof text, "%016" PRIx64,
             number((const uint8_t *)digits, size));
    lua_pushstring(L, text);
    return 1;
}

static int low64(lua_State *L)
{
    return push_number(L, key_low64);
}

static int high64(lua_State *L)
{
    return push_number(L, key_high64);
}

static int decimal(lua_State *L)
{
    return push_number(L, key_decimal);
}

static const luaL_Reg methods[] = {
    {"match", template_match}, {"names", template_names}, {NULL, NULL}};

static const luaL_Reg functions[] = {{"template", template_new},
                                     {"key_low64", low64},
                                     {"key_high64", high64},
                                     {"key_decimal", decimal},
                                     {NULL, NULL}};

void module_keys(lua_State *L)
{
    module_class(L, type_name, methods, template_gc);
    luaL_register(L, NULL, functions);
}

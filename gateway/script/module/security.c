/*
 * Keys, files that only we may read, and lists of clients, for busted.
 */
#include "base/security.h"
#include "base/config.h"
#include "base/secret.h"
#include "script/module/module.h"

#include <stdlib.h>
#include <string.h>

/* z85_key(text) -> 32 bytes, or nil */
static int security_z85_key(lua_State *L)
{
    size_t size;
    const char *text = luaL_checklstring(L, 1, &size);
    uint8_t key[Z85_BYTES];

    if (!z85_read_key(text, size, key))
        return 0;
    lua_pushlstring(L, (const char *)key, sizeof key);
    return 1;
}

static int push_error(lua_State *L, const struct error *error)
{
    lua_pushnil(L);
    lua_pushstring(L, error->text);
    return 2;
}

/* secret(path, room) -> line, or nil and what is wrong */
static int security_secret(lua_State *L)
{
    char line[64] = "";
    struct error error = {0};

    if (!secret_read(luaL_checkstring(L, 1), line, sizeof line, &error))
        return push_error(L, &error);
    lua_pushstring(L, line);
    return 1;
}

/* secret_equals(secret, given) -> boolean */
static int security_secret_equals(lua_State *L)
{
    size_t secret_size, given_size;
    const char *secret = luaL_checklstring(L, 1, &secret_size);
    const char *given = luaL_checklstring(L, 2, &given_size);

    lua_pushboolean(L, secret_equals(secret, secret_size, given, given_size));
    return 1;
}

/* listed(path of a list or nil, key) -> boolean, or nil and what is wrong */
static int security_listed(lua_State *L)
{
    struct security security = {.kind = SECURITY_CURVE, .server = true};
    struct error error = {0};
    size_t size;
    const char *text = luaL_checklstring(L, 2, &size);
    uint8_t key[Z85_BYTES];
    bool listed;

    luaL_argcheck(L, z85_read_key(text, size, key), 2, "expected a key");
    if (!lua_isnil(L, 1) &&
        !security_read_list(&security, luaL_checkstring(L, 1), &error)) {
        security_clear(&security);
        return push_error(L, &error);
    }
    security_sort_list(&security);
    listed = security_is_listed(&security, key);
    security_clear(&security);
    lua_pushboolean(L, listed);
    return 1;
}

/* config_secrets(text, path) -> mistakes of the files that it names */
static int security_config_secrets(lua_State *L)
{
    size_t size;
    const char *text = luaL_checklstring(L, 1, &size);
    struct buffer mistakes = {0};
    struct config *config =
        config_read(luaL_checkstring(L, 2), text, size, &mistakes);

    if (config != NULL)
        config_read_secrets(config, &mistakes);
    config_free(config);
    lua_pushlstring(L, buffer_text(&mistakes), mistakes.size);
    buffer_free(&mistakes);
    return 1;
}

void module_security(lua_State *L)
{
    static const luaL_Reg functions[] = {
        {"z85_key", security_z85_key},
        {"secret", security_secret},
        {"secret_equals", security_secret_equals},
        {"listed", security_listed},
        {"config_secrets", security_config_secrets},
        {NULL, NULL}};

    luaL_setfuncs(L, functions, 0);
}

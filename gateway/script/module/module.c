#include "script/module/module.h"

__attribute__((visibility("default"))) int luaopen_gateway(lua_State *L);

void module_class(lua_State *L, const char *name, const luaL_Reg *methods,
                  lua_CFunction free)
{
    luaL_newmetatable(L, name);
    lua_newtable(L);
    luaL_setfuncs(L, methods, 0);
    lua_setfield(L, -2, "__index");
    if (free != NULL) {
        lua_pushcfunction(L, free);
        lua_setfield(L, -2, "__gc");
    }
    lua_pop(L, 1);
}

int luaopen_gateway(lua_State *L)
{
    lua_newtable(L);
    module_base(L);
    module_arena(L);
    module_security(L);
    module_recording(L);
    module_codec(L);
    module_script(L);
    module_keys(L);
    module_shards(L);
    module_relay(L);
    module_sequence(L);
    return 1;
}

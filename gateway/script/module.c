#include "script/module.h"

#include <lauxlib.h>

__attribute__((visibility("default"))) int luaopen_gateway(lua_State *L);

int luaopen_gateway(lua_State *L)
{
    lua_newtable(L);
    module_base(L);
    module_codec(L);
    module_script(L);
    module_keys(L);
    module_relay(L);
    return 1;
}

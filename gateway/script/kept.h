/*
 * kept - tables that filters declare, over a reload
 *
 * The half of lua/kvgate/state.lua that is C.
 */
#ifndef SCRIPT_KEPT_H
#define SCRIPT_KEPT_H

#include "script/border.h"

#include <lua.h>

enum {
    KEPT_MAX = 64 << 20 /* bytes of all tables of a generation together */
};

/*
 * Push a Lua function: kept(loader, name, version, max) returns the table that
 * the filter which loads had under this name and version, or a new one, and
 * declares it; nil and a text if it can't.
 */
void kept_push(lua_State *L, struct border *border);

/* Write down every declared table of border->keep, or why it can't be.
 * `loader`: the registry's reference of the table of kvgate/loader.lua. */
void kept_save(lua_State *L, struct border *border, int loader);

#endif

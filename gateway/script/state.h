/*
 * state - what a new Lua state is filled with
 *
 * Lua's libraries, the embedded runtime, and what that may know of the gateway.
 */
#ifndef SCRIPT_STATE_H
#define SCRIPT_STATE_H

#include "script/border.h"
#include "script/script.h"

#include <lua.h>

/* Raises; `world->path` must stay. */
void state_fill(lua_State *L, struct border *border,
                const struct script_world *world);

#endif

/*
 * module - the core as a Lua module, for busted
 *
 * gateway.so is the same core as the daemon's without sockets or clocks: bytes
 * and time are arguments.  Each function below adds one layer's test surface to
 * the module's table, which is on top of the stack.  Not part of the daemon.
 */
#ifndef SCRIPT_MODULE_H
#define SCRIPT_MODULE_H

#include <lauxlib.h>

void module_base(lua_State *L);      /* config, json, metrics, log */
void module_arena(lua_State *L);     /* arenas */
void module_security(lua_State *L);  /* keys and files of secrets */
void module_recording(lua_State *L); /* recordings */
void module_codec(lua_State *L);     /* cursor, event, batch, builder */
void module_script(lua_State *L);    /* scripts */
void module_keys(lua_State *L);      /* key templates */
void module_shards(lua_State *L);    /* the table of kvgate.shards */
void module_relay(lua_State *L);     /* the whole relay */
void module_sequence(lua_State *L);  /* trackers and stampers */

/* A metatable of that name; `free`, for __gc, may be NULL. */
void module_class(lua_State *L, const char *name, const luaL_Reg *methods,
                  lua_CFunction free);

#endif

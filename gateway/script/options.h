/*
 * options - what the configuration gives to a filter
 *
 * Maps and lists become plain tables, null becomes nil, an integer that no
 * double holds becomes 64-bit cdata.
 */
#ifndef SCRIPT_OPTIONS_H
#define SCRIPT_OPTIONS_H

#include "base/config.h"
#include "script/border_abi.h"

#include <lua.h>

/* Push a value.  `loader` is the stack index of lua/kvgate/loader.lua's table,
 * which makes the cdata of the border's token. */
void options_push(lua_State *L, const struct config_value *value,
                  struct border *border, int loader);

/* A hash that two values share if a script cannot tell them apart: the order of
 * a map's keys does not matter. */
uint64_t options_hash(const struct config_value *value);

#endif

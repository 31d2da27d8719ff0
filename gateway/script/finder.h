/*
 * finder - script and module files along the script path
 *
 * A Lua function for the runtime: find(name, is_module) returns the path and
 * the text of the first file there is, or raises with the places searched.
 */
#ifndef SCRIPT_FINDER_H
#define SCRIPT_FINDER_H

#include <lua.h>

enum { FINDER_FILE_MAX = 1 << 20 }; /* bytes of a script */

/* Push the function.  `path` (NULL-terminated) must outlive the state. */
void finder_push(lua_State *L, char *const *path);

#endif

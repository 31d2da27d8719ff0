/*
 * plain - tables of plain data, as bytes and back
 *
 * Strings, numbers, booleans, 64-bit integers and tables of them, up to 64
 * deep.  The bytes never leave the process.
 */
#ifndef SCRIPT_PLAIN_H
#define SCRIPT_PLAIN_H

#include "base/buffer.h"
#include "base/error.h"
#include "script/border.h"

#include <lua.h>
#include <stdbool.h>

enum { PLAIN_DEPTH = 64 };

/*
 * Append the table on top of the stack.  False, and `error` says what can't be
 * kept and where it is, or that it takes more than `max` bytes.  The work is
 * bounded by `max`.  `loader`: index of the table of kvgate/loader.lua, which
 * knows 64-bit integers.  Call protected; the stack may be left higher.
 */
bool plain_write(lua_State *L, struct border *border, int loader, size_t max,
                 struct buffer *out, struct error *error);

/* Push what plain_write wrote.  Raises when memory ends. */
void plain_push(lua_State *L, struct border *border, int loader,
                const struct buffer *bytes);

#endif

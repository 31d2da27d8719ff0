/*
 * heap - the memory of one Lua state, bounded
 *
 * Stands before LuaJIT's own allocator and counts.  LuaJIT collects nothing
 * when memory is short, so garbage counts until it is collected: above half of
 * the limit a step is due between two runs, after a refusal or above three
 * quarters a whole collection, or what one event left would cost the next.
 */
#ifndef SCRIPT_HEAP_H
#define SCRIPT_HEAP_H

#include <lua.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct heap;

/* From now on.  Each refusal puts `mark` into `breach`. */
struct heap *heap_new(lua_State *L, size_t limit, uint32_t *breach,
                      uint32_t mark);

/* Give the state its own allocator back; to be closed right after. */
void heap_free(struct heap *heap);

/* Whether heap_collect should be called, between two runs. */
bool heap_is_due(const struct heap *heap);

/* A lua_CFunction for a protected call; its argument is the heap, as light
 * userdata. */
int heap_collect(lua_State *L);

#endif

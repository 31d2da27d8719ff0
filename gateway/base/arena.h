/*
 * arena - memory that lives as long as one message
 *
 * Bump allocation in chunks that never move, so pointers into it stay good
 * until arena_reset.  Chunks are kept for the next message: no allocation in
 * the steady state.  Bounded: past `limit` bytes arena_take returns NULL, and
 * the caller loses the event that asked.
 */
#ifndef BASE_ARENA_H
#define BASE_ARENA_H

#include <stddef.h>

struct arena;

/* `limit`: bytes that one message may take in all. */
struct arena *arena_new(size_t limit);
void arena_free(struct arena *arena);

/* `size` bytes, aligned for any type, not initialised; NULL past the limit. */
void *arena_take(struct arena *arena, size_t size);

/* Forget everything; keeps one chunk, frees the rest. */
void arena_reset(struct arena *arena);

#endif

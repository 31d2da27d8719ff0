#include "base/arena.h"
#include "base/memory.h"

#include <stdalign.h>
#include <stdlib.h>

enum {
    ARENA_FIRST = 16 << 10, /* bytes of the first chunk */
    ARENA_KEEP = 1 << 20    /* a larger chunk is not kept for later */
};

struct chunk {
    struct chunk *older;
    size_t size;
    size_t used;
    alignas(max_align_t) unsigned char bytes[];
};

struct arena {
    struct chunk *newest; /* the only one with room */
    size_t limit;
    size_t taken;
};

struct arena *arena_new(size_t limit)
{
    struct arena *arena = memory_new(sizeof *arena);

    arena->limit = limit;
    return arena;
}

static void free_chunks(struct chunk *chunk)
{
    while (chunk != NULL) {
        struct chunk *older = chunk->older;

        free(chunk);
        chunk = older;
    }
}

void arena_free(struct arena *arena)
{
    if (arena == NULL)
        return;
    free_chunks(arena->newest);
    free(arena);
}

/* Chunks double, so the newest alone nearly fits the next such message. */
static void add_chunk(struct arena *arena, size_t size)
{
    size_t room = arena->newest != NULL ? arena->newest->size * 2 : ARENA_FIRST;
    struct chunk *chunk;

    if (room > arena->limit - arena->taken)
        room = arena->limit - arena->taken;
    if (room < size)
        room = size;
    chunk = memory_resize(NULL, sizeof *chunk + room);
    chunk->older = arena->newest;
    chunk->size = room;
    chunk->used = 0;
    arena->newest = chunk;
}

void *arena_take(struct arena *arena, size_t size)
{
    const size_t unit = alignof(max_align_t);
    struct chunk *chunk;
    size_t whole;

    if (size > arena->limit)
        return NULL;
    whole = (size + unit - 1) / unit * unit;
    if (whole < size || whole > arena->limit - arena->taken)
        return NULL;
    if (arena->newest == NULL ||
        whole > arena->newest->size - arena->newest->used)
        add_chunk(arena, whole);
    chunk = arena->newest;
    chunk->used += whole;
    arena->taken += whole;
    return chunk->bytes + chunk->used - whole;
}

void arena_reset(struct arena *arena)
{
    struct chunk *kept = arena->newest;

    arena->taken = 0;
    if (kept == NULL)
        return;
    free_chunks(kept->older);
    kept->older = NULL;
    kept->used = 0;
    if (kept->size > ARENA_KEEP) {
        free(kept);
        arena->newest = NULL;
    }
}

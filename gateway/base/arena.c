#include "base/arena.h"
#include "base/memory.h"

#include <stdlib.h>

enum {
    ARENA_FIRST = 16 << 10, /* bytes of the first chunk */
    ARENA_KEEP = 1 << 20    /* a larger chunk is not kept for later */
};

struct chunk {
    struct chunk *older;
    size_t size;
    alignas(max_align_t) unsigned char bytes[];
};

struct arena *arena_new(size_t limit)
{
    struct arena *arena = memory_new(sizeof *arena);

    arena->limit = limit / ARENA_UNIT * ARENA_UNIT;
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

static size_t taken_of_newest(const struct arena *arena)
{
    return arena->newest != NULL ? arena->newest->size - arena->room : 0;
}

static void use_chunk(struct arena *arena, struct chunk *chunk)
{
    arena->newest = chunk;
    arena->next = chunk->bytes;
    arena->room = chunk->size;
}

/* Chunks double, so the newest alone nearly fits the next such message. */
static void add_chunk(struct arena *arena, size_t least, size_t most)
{
    size_t size = arena->newest != NULL ? arena->newest->size * 2 : ARENA_FIRST;
    struct chunk *chunk;

    if (size > most)
        size = most;
    if (size < least)
        size = least;
    chunk = memory_resize(NULL, sizeof *chunk + size);
    chunk->older = arena->newest;
    chunk->size = size;
    arena->filled += taken_of_newest(arena);
    use_chunk(arena, chunk);
}

void *arena_take_slowly(struct arena *arena, size_t size)
{
    size_t left = arena->limit - arena->filled - taken_of_newest(arena);

    if (size > left)
        return NULL;
    if (arena->newest == NULL || size > arena->room)
        add_chunk(arena, arena_whole(size), left);
    return arena_cut(arena, size);
}

void arena_reset(struct arena *arena)
{
    struct chunk *kept = arena->newest;

    arena->filled = 0;
    if (kept == NULL)
        return;
    free_chunks(kept->older);
    kept->older = NULL;
    if (kept->size <= ARENA_KEEP) {
        use_chunk(arena, kept);
    } else {
        free(kept);
        arena->newest = NULL;
        arena->room = 0;
    }
}

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
    free(arena->spare);
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

/* The spare one if it will do; NULL: it won't. */
static struct chunk *take_spare(struct arena *arena, size_t least, size_t most)
{
    struct chunk *chunk = arena->spare;

    if (chunk == NULL || chunk->size < least || chunk->size > most)
        return NULL;
    arena->spare = NULL;
    return chunk;
}

static struct chunk *new_chunk(size_t size)
{
    struct chunk *chunk = memory_resize(NULL, sizeof *chunk + size);

    chunk->size = size;
    return chunk;
}

/* Chunks double, so the newest alone nearly fits the next such message. */
static void add_chunk(struct arena *arena, size_t least, size_t most)
{
    size_t size = arena->newest != NULL ? arena->newest->size * 2 : ARENA_FIRST;
    struct chunk *chunk = take_spare(arena, least, most);

    if (size > most)
        size = most;
    if (size < least)
        size = least;
    if (chunk == NULL)
        chunk = new_chunk(size);
    chunk->older = arena->newest;
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

/* The larger of this and the spare one is spare. */
static void put_aside(struct arena *arena, struct chunk *chunk)
{
    struct chunk *spare = arena->spare;

    if (spare != NULL && spare->size > chunk->size) {
        free(chunk);
    } else {
        free(spare);
        arena->spare = chunk;
    }
}

static void drop_newest(struct arena *arena)
{
    struct chunk *chunk = arena->newest;

    arena->newest = chunk->older;
    if (chunk->size <= ARENA_KEEP)
        put_aside(arena, chunk);
    else
        free(chunk);
}

void arena_rewind(struct arena *arena, const struct arena_mark *mark)
{
    while (arena->newest != mark->newest)
        drop_newest(arena);
    arena->filled = mark->filled;
    arena->room = mark->room;
    if (arena->newest != NULL)
        arena->next =
            arena->newest->bytes + (arena->newest->size - arena->room);
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

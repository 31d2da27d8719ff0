/*
 * arena - memory that lives as long as one message
 *
 * Bump allocation in chunks that never move, so pointers into it stay good
 * until arena_reset or arena_rewind.  Chunks are kept for the next message: no
 * allocation in the steady state.  Bounded: past `limit` bytes arena_take
 * returns NULL, and the caller loses the event that asked.
 */
#ifndef BASE_ARENA_H
#define BASE_ARENA_H

#include <stdalign.h>
#include <stddef.h>

enum { ARENA_UNIT = alignof(max_align_t) };

/* Open for arena_take alone.  All sizes are multiples of ARENA_UNIT. */
struct arena {
    unsigned char *next; /* what is free of the newest chunk: */
    size_t room;         /* so many bytes, all of them within the limit */
    struct chunk *newest;
    struct chunk *spare; /* what a rewind left over; NULL: nothing */
    size_t filled;       /* bytes taken of the older chunks */
    size_t limit;
};

/* `limit`: bytes that one message may take in all. */
struct arena *arena_new(size_t limit);
void arena_free(struct arena *arena);

/* The bytes of a block for `size`. */
static inline size_t arena_whole(size_t size)
{
    return (size + ARENA_UNIT - 1) / ARENA_UNIT * ARENA_UNIT;
}

/* Cut a block off the newest chunk, which has room for it. */
static inline void *arena_cut(struct arena *arena, size_t size)
{
    size_t whole = arena_whole(size);
    void *block = arena->next;

    arena->next += whole;
    arena->room -= whole;
    return block;
}

/* arena_take when the newest chunk does not have more room than that. */
void *arena_take_slowly(struct arena *arena, size_t size);

/* `size` bytes, aligned for any type, not initialised; NULL past the limit. */
static inline void *arena_take(struct arena *arena, size_t size)
{
    return size < arena->room ? arena_cut(arena, size)
                              : arena_take_slowly(arena, size);
}

/* How far an arena is filled. */
struct arena_mark {
    struct chunk *newest;
    size_t room;
    size_t filled;
};

static inline struct arena_mark arena_mark(const struct arena *arena)
{
    return (struct arena_mark){arena->newest, arena->room, arena->filled};
}

/* Forget what was taken since the mark; keeps one chunk of it for later. */
void arena_rewind(struct arena *arena, const struct arena_mark *mark);

/* Forget everything; keeps one chunk, frees the rest. */
void arena_reset(struct arena *arena);

#endif

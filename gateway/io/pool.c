#include "io/pool.h"

#include "base/memory.h"

#include <stdatomic.h>
#include <stdlib.h>

struct pool_block {
    struct pool *pool;
    struct pool_block *next;
    struct load *load;    /* of who lent it, while it is lent */
    size_t bytes;         /* that it counts there */
    struct buffer memory; /* lent: on its way; idle: for the next builder */
};

/*
 * `returned` is pushed by many threads and emptied as a whole by the one that
 * lends, so that no thread ever pops from it: a plain exchange is enough.
 */
struct pool {
    size_t idle_max;
    struct pool_block *idle; /* the lending thread's own */
    _Atomic(struct pool_block *) returned;
    atomic_size_t idle_bytes; /* in both lists */
};

struct pool *pool_new(size_t idle_max)
{
    struct pool *pool = memory_new(sizeof *pool);

    pool->idle_max = idle_max;
    atomic_init(&pool->returned, NULL);
    atomic_init(&pool->idle_bytes, 0);
    return pool;
}

static void free_block(struct pool_block *block)
{
    buffer_free(&block->memory);
    free(block);
}

static void free_list(struct pool_block *block)
{
    while (block != NULL) {
        struct pool_block *next = block->next;

        free_block(block);
        block = next;
    }
}

void pool_free(struct pool *pool)
{
    if (pool == NULL)
        return;
    free_list(pool->idle);
    free_list(atomic_exchange(&pool->returned, NULL));
    free(pool);
}

static struct pool_block *take_idle(struct pool *pool)
{
    struct pool_block *block;

    if (pool->idle == NULL)
        pool->idle = atomic_exchange_explicit(&pool->returned, NULL,
                                              memory_order_acquire);
    block = pool->idle;
    if (block == NULL)
        return NULL;
    pool->idle = block->next;
    atomic_fetch_sub_explicit(&pool->idle_bytes, block->memory.capacity,
                              memory_order_relaxed);
    return block;
}

struct pool_block *pool_lend(struct pool *pool, struct buffer *buffer,
                             struct load *load, size_t bytes)
{
    struct pool_block *block = take_idle(pool);
    struct buffer spare;

    if (block == NULL) {
        block = memory_new(sizeof *block);
        block->pool = pool;
    }
    spare = block->memory;
    block->memory = *buffer;
    *buffer = spare;
    buffer_clear(buffer);
    block->load = load;
    block->bytes = bytes;
    load_add(load, bytes);
    return block;
}

void *pool_content(struct pool_block *block)
{
    return block->memory.data;
}

void pool_return(struct pool_block *block)
{
    struct pool *pool = block->pool;
    size_t bytes = block->memory.capacity;
    size_t before = atomic_fetch_add_explicit(&pool->idle_bytes, bytes,
                                              memory_order_relaxed);

    load_remove(block->load, block->bytes);
    if (before + bytes > pool->idle_max) {
        atomic_fetch_sub_explicit(&pool->idle_bytes, bytes,
                                  memory_order_relaxed);
        free_block(block);
        return;
    }
    block->next = atomic_load_explicit(&pool->returned, memory_order_relaxed);
    while (!atomic_compare_exchange_weak_explicit(&pool->returned, &block->next,
                                                  block, memory_order_release,
                                                  memory_order_relaxed))
        continue;
}

/*
 * pool - blocks of memory on their way through libzmq, and back
 *
 *   builder's block ─ pool_lend ─ libzmq's queues ─ pool_return ─┐
 *          └────────────── a block that came back ◄──────────────┘
 *
 * One thread lends, any thread returns: libzmq frees a message in the I/O
 * thread that sent it.  What lies idle is bounded in bytes; more is freed.
 */
#ifndef IO_POOL_H
#define IO_POOL_H

#include "base/buffer.h"
#include "io/load.h"

#include <stddef.h>

struct pool;
struct pool_block;

/* `idle_max`: bytes that may lie idle. */
struct pool *pool_new(size_t idle_max);

/* Every block must have come back. */
void pool_free(struct pool *pool);

/*
 * Take the memory of `buffer`, content and all, and give it an idle block (or
 * none) instead.  The block goes back by pool_return; until then `bytes` count
 * in `load`.
 */
struct pool_block *pool_lend(struct pool *pool, struct buffer *buffer,
                             struct load *load, size_t bytes);

/* The memory that was taken. */
void *pool_content(struct pool_block *block);

/* From any thread. */
void pool_return(struct pool_block *block);

#endif

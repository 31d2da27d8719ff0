/*
 * shard_table - which parts of which blocks are there
 *
 * Open addressing over slots of 32 bytes that are allocated once, so that no
 * event waits for a rehash; the system gives their memory as they are used.  A
 * block is one slot, and one more for each 64 parts behind its first 64.  Slots
 * belong to groups; a group is dropped at once, by changing its generation, and
 * its slots are reclaimed bit by bit afterwards.
 */
#ifndef SCRIPT_SHARD_TABLE_H
#define SCRIPT_SHARD_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { SHARD_PARTS = 4096 }; /* of a block, at most */

/* Who a block is: a keyed 128-bit hash, so that strangers find no two blocks
 * that share one. */
struct shard_id {
    uint64_t words[2];
};

/* Parts of a block that were there and are there. */
struct shard_count {
    uint32_t before, after;
};

struct shard_table;

/* At most `capacity` (1 to 2^30) slots taken, in `groups` (to 65535) groups. */
struct shard_table *shard_table_new(uint32_t capacity, uint32_t groups);
void shard_table_free(struct shard_table *table);

/* Note that a part (below SHARD_PARTS) is there.  False, and nothing changed:
 * the table is full. */
bool shard_table_put(struct shard_table *table, uint32_t group,
                     struct shard_id id, uint32_t part,
                     struct shard_count *count);

/* Note that it is not. */
struct shard_count shard_table_take(struct shard_table *table,
                                    struct shard_id id, uint32_t part);

/* Parts of it that are there. */
uint32_t shard_table_count(const struct shard_table *table, struct shard_id id);

/* A slot may hold a number instead, under an id that is no block's. */
bool shard_table_set(struct shard_table *table, uint32_t group,
                     struct shard_id id, uint64_t number);
bool shard_table_get(const struct shard_table *table, struct shard_id id,
                     uint64_t *number);

/* Forget all that is in a group. */
void shard_table_drop(struct shard_table *table, uint32_t group);

/* Slots that a group has, and what tells it from the group that had its number
 * before it was dropped; never 0. */
uint32_t shard_table_size(const struct shard_table *table, uint32_t group);
uint32_t shard_table_generation(const struct shard_table *table,
                                uint32_t group);

/* Slots taken, by groups that were dropped, too. */
uint32_t shard_table_used(const struct shard_table *table);

#endif

/*
 * shard_hash - from texts to the id of a block
 *
 * SipHash-2-4-128 under a key of the table's own: keys come from strangers, and
 * two blocks with one id would be one block.
 */
#ifndef SCRIPT_SHARD_HASH_H
#define SCRIPT_SHARD_HASH_H

#include "script/shards/shard_table.h"

enum { SHARD_HASH_KEY = 16 };

/* Bytes, borrowed. */
struct shard_text {
    const void *bytes;
    size_t size;
};

/* A fresh key. */
void shard_hash_key(uint8_t key[SHARD_HASH_KEY]);

/* The id of texts one behind the other, each with its size, so that no two
 * lists of texts are alike. */
struct shard_id shard_hash(const uint8_t key[SHARD_HASH_KEY],
                           const struct shard_text *texts, size_t count);

#endif

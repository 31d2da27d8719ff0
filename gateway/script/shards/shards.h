/*
 * shards - from a store's objects to the blocks that engines speak of
 *
 * The functions of border.shards, described in shard_abi.h.
 */
#ifndef SCRIPT_SHARDS_H
#define SCRIPT_SHARDS_H

#include "script/shards/shard_abi.h"

extern const struct shard_border shard_border;

#endif

/*
 * shard_frames - what stands around the digest in keys, and what it means
 *
 * Few in a stream, so each is taken apart once and remembered.  A place holds
 * two; a third one takes the place of the older.
 */
#ifndef SCRIPT_SHARD_FRAMES_H
#define SCRIPT_SHARD_FRAMES_H

#include "script/shards/shard_table.h"

enum { SHARD_FRAMES = 8192 }; /* places, a power of two */

struct shard_frame {
    struct shard_id frame;
    struct shard_id block; /* what all parts of its blocks have in common */
    uint32_t model;
    uint32_t generation; /* the model's; 0: free */
    uint32_t part;
};

struct shard_frames {
    struct shard_frame pairs[SHARD_FRAMES][2]; /* the newer one first */
};

/* NULL: not remembered. */
const struct shard_frame *shard_frames_find(const struct shard_frames *frames,
                                            struct shard_id frame);

void shard_frames_keep(struct shard_frames *frames, struct shard_frame frame);

#endif

#include "script/shards/shard_frames.h"

static bool is_same(struct shard_id a, struct shard_id b)
{
    return a.words[0] == b.words[0] && a.words[1] == b.words[1];
}

const struct shard_frame *shard_frames_find(const struct shard_frames *frames,
                                            struct shard_id frame)
{
    const struct shard_frame *pair =
        frames->pairs[frame.words[0] & (SHARD_FRAMES - 1)];

    for (int i = 0; i < 2; i++) {
        if (pair[i].generation != 0 && is_same(pair[i].frame, frame))
            return &pair[i];
    }
    return NULL;
}

void shard_frames_keep(struct shard_frames *frames, struct shard_frame frame)
{
    struct shard_frame *pair =
        frames->pairs[frame.frame.words[0] & (SHARD_FRAMES - 1)];

    if (pair[0].generation != 0 && !is_same(pair[0].frame, frame.frame))
        pair[1] = pair[0];
    pair[0] = frame;
}

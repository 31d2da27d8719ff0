/*
 * shard_models - how many parts the blocks of a model have
 *
 * Told, or learned: parts get numbers as they are first seen, and the model is
 * learned once SHARD_MODEL_BLOCKS blocks have had all of them and none was new
 * for a while.  Numbers stand in the table, in a group of the model's own.
 */
#ifndef SCRIPT_SHARD_MODELS_H
#define SCRIPT_SHARD_MODELS_H

#include "script/shards/shard_hash.h"

enum {
    SHARD_MODELS = 1024,
    SHARD_MODEL_BLOCKS = 16,
};

struct shard_model {
    struct shard_id id;
    uint32_t parts; /* 0 in a model that is new */
    uint32_t whole; /* times that a block had all parts, since one was new */
    int64_t since;  /* when that was, in milliseconds */
    bool learned;
};

struct shard_models {
    struct shard_table *table;
    const uint8_t *key;
    uint32_t group; /* of the first one */
    uint32_t count;
    struct shard_model models[SHARD_MODELS];
};

/* Its number, made if there is none; SHARD_MODELS: there are too many. */
uint32_t shard_models_open(struct shard_models *models, struct shard_text name);

enum shard_part_found {
    SHARD_PART_KNOWN = 0,
    SHARD_PART_NEW,      /* it has a number now */
    SHARD_PART_SURPRISE, /* the model was learned without it: it starts anew */
    SHARD_PART_UNKNOWN,  /* and not asked to be made */
    SHARD_PART_TOO_MANY,
    SHARD_PART_NO_ROOM,
};

/* The number of a part. */
enum shard_part_found shard_models_part(struct shard_models *models,
                                        uint32_t model, struct shard_text part,
                                        bool make, int64_t now,
                                        uint32_t *number);

/* A block has all parts of the model.  True: with it the model is learned. */
bool shard_models_whole(struct shard_models *models, uint32_t model,
                        int64_t now, int64_t settle);

/* Changes when a model starts anew. */
uint32_t shard_models_generation(const struct shard_models *models,
                                 uint32_t model);

#endif

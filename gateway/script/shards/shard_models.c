#include "script/shards/shard_models.h"

#include <string.h>

uint32_t shard_models_open(struct shard_models *models, struct shard_text name)
{
    struct shard_id id = shard_hash(models->key, &name, 1);

    for (uint32_t i = 0; i < models->count; i++) {
        if (memcmp(&models->models[i].id, &id, sizeof id) == 0)
            return i;
    }
    if (models->count == SHARD_MODELS)
        return SHARD_MODELS;
    models->models[models->count] = (struct shard_model){.id = id};
    return models->count++;
}

static struct shard_id part_id(const struct shard_models *models,
                               uint32_t model, struct shard_text part)
{
    const struct shard_text texts[] = {
        {"part", 4},
        {&models->models[model].id, sizeof(struct shard_id)},
        part};

    return shard_hash(models->key, texts, 3);
}

enum shard_part_found shard_models_part(struct shard_models *models,
                                        uint32_t number, struct shard_text part,
                                        bool make, int64_t now, uint32_t *found)
{
    struct shard_model *model = &models->models[number];
    uint32_t group = models->group + number;
    struct shard_id id = part_id(models, number, part);
    uint64_t known;

    if (shard_table_get(models->table, id, &known)) {
        *found = (uint32_t)known;
        return SHARD_PART_KNOWN;
    }
    if (!make)
        return SHARD_PART_UNKNOWN;
    if (model->learned) {
        shard_table_drop(models->table, group);
        *model = (struct shard_model){.id = model->id};
        return SHARD_PART_SURPRISE;
    }
    if (model->parts == SHARD_PARTS)
        return SHARD_PART_TOO_MANY;
    if (!shard_table_set(models->table, group, id, model->parts))
        return SHARD_PART_NO_ROOM;
    *found = model->parts++;
    model->whole = 0;
    model->since = now;
    return SHARD_PART_NEW;
}

bool shard_models_whole(struct shard_models *models, uint32_t number,
                        int64_t now, int64_t settle)
{
    struct shard_model *model = &models->models[number];

    if (model->whole < SHARD_MODEL_BLOCKS)
        model->whole++;
    model->learned =
        model->whole == SHARD_MODEL_BLOCKS && now - model->since >= settle;
    return model->learned;
}

uint32_t shard_models_generation(const struct shard_models *models,
                                 uint32_t number)
{
    return shard_table_generation(models->table, models->group + number);
}

#include "codec/field.h"

#include "base/nearest.h"

#include <string.h>

/* Kinds are how the publisher means a field, not what the wire must hold. */
#define FIELD(text, kind_of)                                                   \
    {                                                                          \
        .name = (text), .size = sizeof(text) - 1, .kind = (kind_of)            \
    }

const struct field_info field_table[EVENT_FIELDS] = {
    [FIELD_EVENT_ID] = FIELD("event_id", FIELD_KIND_U64),
    [FIELD_TIMESTAMP] = FIELD("timestamp", FIELD_KIND_NUMBER),
    [FIELD_EVENT_TYPE] = FIELD("event_type", FIELD_KIND_TEXT),
    [FIELD_TYPE] = FIELD("type", FIELD_KIND_TEXT),
    [FIELD_MODEL_NAME] = FIELD("model_name", FIELD_KIND_TEXT),
    [FIELD_BLOCK_SIZE] = FIELD("block_size", FIELD_KIND_NUMBER),
    [FIELD_ADDITIONAL_SALT] = FIELD("additional_salt", FIELD_KIND_TEXT),
    [FIELD_LORA_NAME] = FIELD("lora_name", FIELD_KIND_TEXT),
    [FIELD_TENANT_ID] = FIELD("tenant_id", FIELD_KIND_TEXT),
    [FIELD_BACKEND_ID] = FIELD("backend_id", FIELD_KIND_TEXT),
    [FIELD_MEDIUM] = FIELD("medium", FIELD_KIND_TEXT),
    [FIELD_DP_RANK] = FIELD("dp_rank", FIELD_KIND_NUMBER),
    [FIELD_GROUP_ID] = FIELD("group_id", FIELD_KIND_TEXT),
    [FIELD_OBJECT_KEY] = FIELD("object_key", FIELD_KIND_TEXT),
    [FIELD_CONNECTOR_BLOCK_HASH] =
        FIELD("connector_block_hash", FIELD_KIND_TEXT),
    [FIELD_CACHE_PREFIX] = FIELD("cache_prefix", FIELD_KIND_TEXT),
    [FIELD_TP_RANK] = FIELD("tp_rank", FIELD_KIND_NUMBER),
    [FIELD_HEAD_OR_TP_RANK] = FIELD("head_or_tp_rank", FIELD_KIND_NUMBER),
    [FIELD_PCP_RANK] = FIELD("pcp_rank", FIELD_KIND_NUMBER),
    [FIELD_DCP_RANK] = FIELD("dcp_rank", FIELD_KIND_NUMBER),
    [FIELD_PP_RANK] = FIELD("pp_rank", FIELD_KIND_NUMBER),
    [FIELD_LAYER_ID] = FIELD("layer_id", FIELD_KIND_NUMBER),
    [FIELD_SEQ_HASHES] = FIELD("seq_hashes", FIELD_KIND_HASHES),
    [FIELD_BLOCK_HASHES] = FIELD("block_hashes", FIELD_KIND_HASHES),
    [FIELD_BASE_BLOCK_IDX] = FIELD("base_block_idx", FIELD_KIND_NUMBER),
    [FIELD_PARENT_HASH] = FIELD("parent_hash", FIELD_KIND_U64),
    [FIELD_TOKEN_IDS] = FIELD("token_ids", FIELD_KIND_LIST),
    [FIELD_PARENT_BLOCK_HASH] = FIELD("parent_block_hash", FIELD_KIND_U64),
};

enum { FIELD_SLOTS = 64, FIELD_SHORTEST = 4 };

/*
 * A perfect hash of the names: size, first and third byte tell all of them
 * apart.  A new name that meets another here needs other factors; the field
 * spec looks every name up.
 */
static unsigned field_slot(const uint8_t *name, size_t size)
{
    return (unsigned)(size + 2u * name[0] + 22u * name[2]) % FIELD_SLOTS;
}

/* The field whose name falls into each slot, plus one; 0: none does. */
static const unsigned char field_slots[FIELD_SLOTS] = {
    [0] = FIELD_EVENT_ID + 1,
    [2] = FIELD_EVENT_TYPE + 1,
    [4] = FIELD_OBJECT_KEY + 1,
    [6] = FIELD_LAYER_ID + 1,
    [8] = FIELD_PCP_RANK + 1,
    [12] = FIELD_TYPE + 1,
    [14] = FIELD_CONNECTOR_BLOCK_HASH + 1,
    [15] = FIELD_TIMESTAMP + 1,
    [16] = FIELD_BACKEND_ID + 1,
    [17] = FIELD_PP_RANK + 1,
    [20] = FIELD_CACHE_PREFIX + 1,
    [24] = FIELD_BLOCK_SIZE + 1,
    [25] = FIELD_TP_RANK + 1,
    [26] = FIELD_BLOCK_HASHES + 1,
    [32] = FIELD_GROUP_ID + 1,
    [35] = FIELD_TOKEN_IDS + 1,
    [37] = FIELD_TENANT_ID + 1,
    [38] = FIELD_SEQ_HASHES + 1,
    [41] = FIELD_ADDITIONAL_SALT + 1,
    [45] = FIELD_LORA_NAME + 1,
    [48] = FIELD_DCP_RANK + 1,
    [52] = FIELD_BASE_BLOCK_IDX + 1,
    [53] = FIELD_HEAD_OR_TP_RANK + 1,
    [55] = FIELD_PARENT_HASH + 1,
    [56] = FIELD_MEDIUM + 1,
    [57] = FIELD_DP_RANK + 1,
    [60] = FIELD_MODEL_NAME + 1,
    [61] = FIELD_PARENT_BLOCK_HASH + 1,
};

enum field field_find(const uint8_t *name, size_t size)
{
    unsigned found;

    if (size < FIELD_SHORTEST)
        return FIELD_NONE;
    found = field_slots[field_slot(name, size)];
    if (found == 0 || field_table[found - 1].size != size ||
        memcmp(field_table[found - 1].name, name, size) != 0)
        return FIELD_NONE;
    return (enum field)(found - 1);
}

const char *field_meant(const char *name)
{
    struct nearest nearest = {.word = name};

    for (size_t i = 0; i < EVENT_FIELDS; i++)
        nearest_offer(&nearest, field_table[i].name);
    return nearest.known != NULL && nearest.distance > 0 ? nearest.known : NULL;
}

/*
 * field - the fields that the gateway knows by number
 *
 * RFC #1527's map fields in the order in which Mooncake's publisher writes
 * them, with the extras of its key-parsing generation.  A field that is not
 * here is still carried, read and edited, by its name.
 */
#ifndef CODEC_FIELD_H
#define CODEC_FIELD_H

#include "codec/event_abi.h"

#include <stddef.h>

enum field {
    FIELD_EVENT_ID = 0,
    FIELD_TIMESTAMP,
    FIELD_EVENT_TYPE,
    FIELD_TYPE,
    FIELD_MODEL_NAME,
    FIELD_BLOCK_SIZE,
    FIELD_ADDITIONAL_SALT,
    FIELD_LORA_NAME,
    FIELD_TENANT_ID,
    FIELD_BACKEND_ID,
    FIELD_MEDIUM,
    FIELD_DP_RANK,
    FIELD_GROUP_ID,
    FIELD_OBJECT_KEY,
    FIELD_CONNECTOR_BLOCK_HASH,
    FIELD_CACHE_PREFIX,
    FIELD_TP_RANK,
    FIELD_HEAD_OR_TP_RANK,
    FIELD_PCP_RANK,
    FIELD_DCP_RANK,
    FIELD_PP_RANK,
    FIELD_LAYER_ID,
    FIELD_SEQ_HASHES,
    FIELD_BLOCK_HASHES,
    FIELD_BASE_BLOCK_IDX,
    FIELD_PARENT_HASH,
    FIELD_TOKEN_IDS,
    FIELD_PARENT_BLOCK_HASH,
    FIELD_NONE, /* no known field; equals EVENT_NAMED */
};

/* How a field's value reads in a script, whatever width the wire used. */
enum field_kind {
    FIELD_KIND_TEXT = 0, /* string or nil */
    FIELD_KIND_NUMBER,   /* an integer that a double holds */
    FIELD_KIND_U64,      /* exact 64 bits */
    FIELD_KIND_HASHES,   /* array of exact 64-bit values */
    FIELD_KIND_LIST,     /* array */
};

struct field_info {
    const char *name;
    unsigned char size; /* of name */
    enum field_kind kind;
};

/* The table, indexed by enum field. */
extern const struct field_info field_table[EVENT_FIELDS];

/* The field called `name`, or FIELD_NONE. */
enum field field_find(const uint8_t *name, size_t size);

/* The known field that this name is nearly; NULL: none, or it is one. */
const char *field_meant(const char *name);

#endif

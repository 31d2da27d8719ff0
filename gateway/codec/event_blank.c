#include "base/arena.h"
#include "codec/batch.h"
#include "codec/pack.h"

#include <assert.h>
#include <string.h>

enum { BLANK_MAX = 512 }; /* bytes of the longest layout, and more */

/* What a type has: the publisher's fields, in its order, up to one. */
struct layout {
    const char *name;
    const char *legacy;
    enum field last;
};

static const struct layout *layout_of(const char *name, size_t size)
{
    static const struct layout layouts[] = {
        {"removed", "BlockRemoved", FIELD_BASE_BLOCK_IDX},
        {"cleared", "AllBlocksCleared", FIELD_DP_RANK},
        {"stored", "BlockStored", FIELD_PARENT_BLOCK_HASH},
        {NULL, NULL, FIELD_PARENT_BLOCK_HASH}};
    const struct layout *layout = layouts;

    while (layout->name != NULL && (strlen(layout->name) != size ||
                                    memcmp(layout->name, name, size) != 0))
        layout++;
    return layout;
}

/* Parts of the key, which only publishers that take it apart have. */
static bool is_part(enum field field)
{
    return field >= FIELD_CONNECTOR_BLOCK_HASH && field <= FIELD_LAYER_ID;
}

static uint8_t *put_text(uint8_t *at, const char *text, size_t size)
{
    at = pack_str_header(at, (uint32_t)size);
    memcpy(at, text, size);
    return at + size;
}

static uint8_t *put_value(uint8_t *at, const struct layout *layout,
                          enum field field)
{
    switch (field) {
    case FIELD_EVENT_ID:
        return pack_u64(at, 0);
    case FIELD_EVENT_TYPE:
        return put_text(at, layout->name == NULL ? "" : layout->name,
                        layout->name == NULL ? 0 : strlen(layout->name));
    case FIELD_TYPE:
        return layout->name == NULL
                   ? pack_nil(at)
                   : put_text(at, layout->legacy, strlen(layout->legacy));
    case FIELD_SEQ_HASHES:
    case FIELD_BLOCK_HASHES:
        return pack_array(at, 0);
    default:
        return pack_nil(at);
    }
}

bool event_blank(struct batch *batch, struct event *event, const char *name,
                 size_t size)
{
    const struct layout *layout = layout_of(name, size);
    uint8_t *bytes = arena_take(batch->arena, BLANK_MAX);
    uint8_t *at = bytes;
    uint32_t pairs = 0;
    enum event_fault fault;

    if (bytes == NULL)
        return false;
    for (enum field field = 0; field <= layout->last; field++)
        pairs += !is_part(field);
    at = pack_map(at, pairs);
    for (enum field field = 0; field <= layout->last; field++) {
        if (is_part(field))
            continue;
        at = put_text(at, field_table[field].name, field_table[field].size);
        at = put_value(at, layout, field);
    }
    fault = event_index(event, bytes, (uint32_t)(at - bytes));
    assert(fault == EVENT_OK && at - bytes <= BLANK_MAX);
    (void)fault;
    return true;
}

#include "codec/builder.h"
#include "codec/pack.h"

#include <string.h>

enum { BUILDER_GAP = 24 }; /* kept free for the array's and events' headers */

static void open_gap(struct buffer *out)
{
    if (out->size != 0)
        return;
    buffer_reserve(out, BUILDER_GAP);
    out->size = BUILDER_GAP;
}

uint8_t *builder_begin(struct builder *builder, size_t bound)
{
    open_gap(&builder->out);
    return buffer_reserve(&builder->out, bound);
}

void builder_end(struct builder *builder, const uint8_t *end)
{
    builder->out.size = (size_t)(end - builder->out.data);
    builder->count++;
}

bool builder_append(struct builder *builder, const struct event *event,
                    const uint64_t *id)
{
    size_t bound = event_write_bound(event);

    if (bound > BUILDER_EVENT_MAX)
        return false;
    builder_end(builder, event_write(event, id, builder_begin(builder, bound)));
    return true;
}

size_t builder_seal(struct builder *builder, const uint8_t *timestamp,
                    size_t timestamp_size, const uint8_t *rank,
                    size_t rank_size)
{
    uint8_t header[BUILDER_GAP];
    uint8_t *end = pack_array(header, 3);
    size_t size;

    memcpy(end, timestamp, timestamp_size);
    end = pack_array(end + timestamp_size, builder->count);
    size = (size_t)(end - header);
    open_gap(&builder->out);
    memcpy(builder->out.data + BUILDER_GAP - size, header, size);
    buffer_put(&builder->out, rank, rank_size);
    return BUILDER_GAP - size;
}

void builder_clear(struct builder *builder)
{
    buffer_clear(&builder->out);
    builder->count = 0;
}

void builder_free(struct builder *builder)
{
    buffer_free(&builder->out);
    builder->count = 0;
}

/*
 * builder - one outgoing payload while it fills
 *
 *   out.data  [ 24 bytes kept free | event | event | … | rank ]
 *                        header is written here, right-aligned, when sealed
 *
 * Events that share a builder share its timestamp and rank: who appends sees to
 * that.  The memory is handed over on sending and replaced (see relay/sink.h).
 */
#ifndef CODEC_BUILDER_H
#define CODEC_BUILDER_H

#include "base/buffer.h"
#include "codec/event.h"

enum {
    BUILDER_EVENTS = 64,        /* a message, as Mooncake's publisher */
    BUILDER_BYTES = 1 << 20,    /* a message that holds more is sealed */
    BUILDER_EVENT_MAX = 1 << 26 /* one event; a larger one does not fit */
};

struct builder {
    struct buffer out;
    uint32_t count; /* events in it; 0: empty */
};

/* Append an event, see event_write.  False, and nothing changed: the event is
 * larger than BUILDER_EVENT_MAX. */
bool builder_append(struct builder *builder, const struct event *event,
                    const uint64_t *id);

/* The same for what is written by the caller: room for one more, of at most
 * `bound` bytes; then where it ended. */
uint8_t *builder_begin(struct builder *builder, size_t bound);
void builder_end(struct builder *builder, const uint8_t *end);

static inline bool builder_is_full(const struct builder *builder)
{
    return builder->count >= BUILDER_EVENTS ||
           builder->out.size >= BUILDER_BYTES;
}

/*
 * Close the payload with its timestamp and rank, both one msgpack value of at
 * most PACK_SCALAR bytes.  Works on an empty builder too (an announcement).
 * Returns where the payload starts in out.data; it ends at out.size.
 */
size_t builder_seal(struct builder *builder, const uint8_t *timestamp,
                    size_t timestamp_size, const uint8_t *rank,
                    size_t rank_size);

void builder_clear(struct builder *builder);
void builder_free(struct builder *builder);

#endif

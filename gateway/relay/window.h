/*
 * window - from one decoded window of events to the streams
 *
 *   window ─ global chain ─ accept ─┬─ plain streams
 *                                   └─ copies ─ stream's chain ─ that stream
 *
 * Losses keep their place: a stream sees events and losses in the order of the
 * batch.  Marks go the same way, as far as the last filter.
 */
#ifndef RELAY_WINDOW_H
#define RELAY_WINDOW_H

#include "codec/batch.h"
#include "relay/message.h"
#include "relay/pipeline.h"
#include "relay/source.h"
#include "relay/stream.h"

struct window {
    struct pipeline *pipeline;
    struct stream **streams;       /* of the config, then the letters' */
    struct source *source;         /* NULL: of none */
    uint32_t source_index;         /* EVENT_END: of none */
    const uint64_t *reach;         /* streams that it may get to at the most */
    const struct message *message; /* NULL: a mark, outside of messages */
    const struct batch_header *header;
    uint64_t count; /* see struct batch */
    uint64_t last_id;
    uint32_t position; /* in the message, of the event in slot 0 */
    uint32_t received; /* slots with events of the message, from 0 on */
};

/* Work on what pipeline->batch holds now. */
void window_run(const struct window *window);

/* on_tick of a filter of the global chain, for which the batch holds a mark;
 * or of the chain of a stream. */
void window_tick(const struct window *window, size_t step);
void window_tick_stream(const struct window *window, size_t stream,
                        size_t step);

#endif

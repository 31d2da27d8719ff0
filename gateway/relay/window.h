/*
 * window - from one decoded window of events to the streams
 *
 *   window ─ global chain ─ accept ─┬─ plain streams
 *                                   └─ copies ─ stream's chain ─ that stream
 *
 * Losses keep their place: a stream sees events and losses in the order of the
 * batch.
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
    struct stream **streams; /* of the pipeline's config, in its order */
    struct source *source;
    uint32_t source_index;
    const struct message *message;
    const struct batch_header *header;
};

/* Work on what pipeline->batch holds now. */
void window_run(const struct window *window);

#endif

/*
 * occasion - what filters are called for outside of messages
 *
 * A loss of a whole source, and the time of an on_tick.  Each is a window of
 * one mark, so that what filters emit goes the way of all events; their
 * messages have the time of now and the rank of the last one.
 */
#ifndef RELAY_OCCASION_H
#define RELAY_OCCASION_H

#include "relay/moment.h"
#include "relay/pipeline.h"
#include "relay/source.h"

#include <stddef.h>
#include <stdint.h>

/* Where it happens. */
struct occasion {
    struct pipeline *pipeline;
    struct source **sources; /* of the pipeline's config, in its order */
    struct stream **streams;
    struct moment *moment;
};

/* Tell filters of a loss of `width` numbers, of which the streams that it
 * reaches know already.  Not during a window. */
void occasion_loss(const struct occasion *occasion, size_t source,
                   enum loss_cause cause, uint64_t width);

/* Call on_tick where it is due.  Returns the milliseconds until one is due
 * again; UINT64_MAX: none ever is. */
uint64_t occasion_tick(const struct occasion *occasion);

#endif

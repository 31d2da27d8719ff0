/*
 * sink - where a stream's messages go
 *
 * Given to the relay by the layer above: sockets in the daemon, a recorder in
 * tests.  Neither function may block.  False means that the message was not
 * sent.
 */
#ifndef RELAY_SINK_H
#define RELAY_SINK_H

#include "base/buffer.h"
#include "relay/message.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct sink_head {
    const char *topic; /* frame 0 */
    size_t topic_size;
    uint64_t sequence; /* frame 1 */
};

struct sink {
    void *context;

    /*
     * Send payload->data[start .. size).  May keep the buffer's memory and put
     * another block (or NULL, with capacity 0) in its place; the content is
     * void afterwards either way.
     */
    bool (*send)(void *context, const struct sink_head *head,
                 struct buffer *payload, size_t start);

    /* Send the payload frame of a message in hand as it is. */
    bool (*forward)(void *context, const struct sink_head *head,
                    const struct message *message);
};

#endif

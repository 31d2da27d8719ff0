/*
 * tap_print - messages of one stream as lines
 *
 * A line is one JSON object: an event, a message, or a mark that says what the
 * numbers tell of.  Follows the numbers with the same tracker as the gateway.
 */
#ifndef CLI_TAP_PRINT_H
#define CLI_TAP_PRINT_H

#include "base/buffer.h"
#include "cli/tap_options.h"
#include "relay/message.h"
#include "relay/sequence.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Open and plain; all pointers borrowed. */
struct tap_printer {
    const struct tap_options *options;
    struct buffer *out;
    uint64_t *printed; /* lines of events or messages, of all streams */
    const char *name;  /* NULL: not told */
    unsigned colour;   /* 0: none, else of the terminal's palette */
    struct seq_tracker tracker;
};

/* True when no more is wanted. */
bool tap_print_done(const struct tap_printer *printer);

void tap_print_message(struct tap_printer *printer, const uint8_t *topic,
                       size_t topic_size, const struct message *message);

#endif

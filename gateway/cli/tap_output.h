/*
 * tap_output - standard output that may be slow, stopped or gone
 *
 * Lines gather in `lines` and are written when there is nothing to wait for.
 * A terminal that was stopped, or a reader that sleeps, must not keep Ctrl-C
 * from ending the program: so a write never blocks.
 */
#ifndef CLI_TAP_OUTPUT_H
#define CLI_TAP_OUTPUT_H

#include "base/buffer.h"

#include <stdbool.h>

struct tap_output {
    struct buffer lines;
    int stop;    /* descriptor that is readable once the program shall end */
    int failure; /* errno of a write; EPIPE: the reader is gone */
};

/* Write all lines.  False when the program shall end or `failure` is set. */
bool tap_output_flush(struct tap_output *output);

#endif

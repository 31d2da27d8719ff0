/*
 * tap_record - what was received, written to a file as it came
 *
 * Messages gather and are written when there is nothing to wait for, or when
 * they are many.  Without a file to write to, all of this does nothing.
 */
#ifndef CLI_TAP_RECORD_H
#define CLI_TAP_RECORD_H

#include "base/buffer.h"
#include "base/error.h"
#include "cli/tap_options.h"
#include "io/inlet.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

struct tap_record {
    FILE *file; /* NULL: nothing is recorded */
    struct buffer bytes;
    uint64_t began_ns;
    int failure; /* errno of a write */
};

/* Writes over what the file held.  False and `error` when it cannot. */
bool tap_record_open(struct tap_record *record,
                     const struct tap_options *options, struct error *error);
void tap_record_close(struct tap_record *record);

/* The message in hand, of the stream with this index. */
void tap_record_message(struct tap_record *record, struct inlet *inlet,
                        size_t stream);

/* Write what gathered.  False once `failure` is set. */
bool tap_record_flush(struct tap_record *record);

#endif

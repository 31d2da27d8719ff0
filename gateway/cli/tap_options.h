/*
 * tap_options - which streams to print, and how
 */
#ifndef CLI_TAP_OPTIONS_H
#define CLI_TAP_OPTIONS_H

#include "base/error.h"
#include "cli/arguments.h"
#include "cli/curve_options.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { TAP_STREAMS_MAX = 64 };

struct tap_endpoint {
    const char *name; /* NULL: it was given none */
    const char *endpoint;
};

/* Texts are borrowed from argv. */
struct tap_options {
    struct tap_endpoint endpoints[TAP_STREAMS_MAX];
    size_t endpoint_count;
    bool bind;
    const char *topic; /* prefix subscribed to */
    uint64_t hwm;
    uint64_t count;              /* lines of events to print; 0: no end */
    bool batches;                /* one line a message */
    struct argument_list fields; /* of an event; none: all of them */
    struct curve_options curve;
    const char *record; /* a file to write to; NULL: none */
    bool help;
};

/* Fills all of `options`; `argv` must live as long. */
bool tap_options_read(struct tap_options *options, int argc, char **argv,
                      struct error *error);

void tap_options_help(void);

#endif

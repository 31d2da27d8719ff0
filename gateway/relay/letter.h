/*
 * letter - an event on which a filter failed, with all that is known of it
 *
 *   { source, sequence, position, stream, filter, result, error,
 *     event_size, event }
 *
 * One msgpack map; `event` is the map that was received, byte for byte.
 */
#ifndef RELAY_LETTER_H
#define RELAY_LETTER_H

#include "codec/event_abi.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    LETTER_TEXT = 1024,    /* bytes of one text, cut if it has more */
    LETTER_EVENT = 1 << 20 /* a larger event is left out: nil */
};

/* What happened to `event`; everything is borrowed.  NULL where it says so, and
 * nil in the letter. */
struct letter {
    const char *source;       /* NULL: the event is of none */
    const uint64_t *sequence; /* of its message; NULL: it came in none */
    const uint32_t *position; /* in it, from 0; NULL: a filter made it */
    const char *stream;       /* whose filter; NULL: of all streams */
    const char *filter;
    const char *result; /* script_result_text */
    const char *error;
    const struct event *event;
};

/* Bytes that letter_write will need at the most. */
size_t letter_bound(const struct letter *letter);

/* Write it to `to`, where the caller has made room; returns the first byte
 * behind it.  Texts that are no UTF-8 are mended. */
uint8_t *letter_write(const struct letter *letter, uint8_t *to);

#endif

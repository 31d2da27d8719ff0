/*
 * tap_body - the payload of a message, looked at before it is decoded
 *
 * [time, [event, …], …] of any of the publishers there are: events need not be
 * maps here, and what follows the events may be missing.  Every size is checked
 * against the bytes present, so nothing that a header claims is believed.
 */
#ifndef CLI_TAP_BODY_H
#define CLI_TAP_BODY_H

#include <stddef.h>
#include <stdint.h>

/* Borrows the payload. */
struct tap_body {
    const uint8_t *timestamp;
    const uint8_t *rank; /* NULL: there is none */
    const uint8_t *events;
    uint32_t count;
    uint64_t first_id, last_id; /* 0: none has one */
};

/* NULL and all of `body`, or why the payload is no batch. */
const char *tap_body_open(struct tap_body *body, const uint8_t *payload,
                          size_t size);

#endif

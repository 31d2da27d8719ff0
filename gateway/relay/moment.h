/*
 * moment - what the streams share while one message is worked on
 *
 * The time that the caller gave, and the timestamp and rank that all open
 * builders have in common: events share a message only when both agree, so when
 * either changes every open builder is sent first.
 */
#ifndef RELAY_MOMENT_H
#define RELAY_MOMENT_H

#include "codec/batch.h"
#include "codec/pack.h"
#include "relay/relay.h"

#include <stddef.h>
#include <stdint.h>

struct moment {
    struct relay_now now;
    uint8_t timestamp[PACK_SCALAR]; /* one msgpack integer */
    uint8_t rank[PACK_SCALAR];      /* one msgpack integer or nil */
    size_t timestamp_size;
    size_t rank_size;
    struct stream *open;    /* streams that may hold events, by next_open */
    uint32_t open_messages; /* worked on since all of them were sent */
};

/* Events of this message may join open builders only if they agree: else, and
 * after some messages anyway, those are sent first. */
void moment_enter(struct moment *moment, const struct batch_header *header);

/* The same for events of no message: now, with the rank of the last one.  The
 * header borrows the moment's bytes. */
struct batch_header moment_enter_now(struct moment *moment);

/* Send everything that is open. */
void moment_flush(struct moment *moment);

#endif

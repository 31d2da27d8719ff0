/*
 * recent - a few of the last messages of a source, to try new behaviour on
 *
 * At most one a quarter of a second, so that it costs next to nothing; kept by
 * copy, in memory that is used again.
 */
#ifndef RELAY_RECENT_H
#define RELAY_RECENT_H

#include "base/buffer.h"
#include "relay/message.h"

#include <stdbool.h>
#include <stdint.h>

enum {
    RECENT_MESSAGES = 8,
    RECENT_BYTES = 1 << 20, /* of a payload; larger ones are passed over */
    RECENT_MS = 250,        /* between two */
};

/* Zeroed: none. */
struct recent {
    struct {
        uint8_t sequence[8];
        struct buffer payload;
    } messages[RECENT_MESSAGES];
    uint32_t kept;    /* so far; the last RECENT_MESSAGES of them are there */
    uint64_t kept_ms; /* when the last one was */
};

/* Whether it is time for one. */
static inline bool recent_is_due(const struct recent *recent, uint64_t now_ms)
{
    return now_ms - recent->kept_ms >= RECENT_MS;
}

/* Keep a message of three frames, in place of the oldest. */
void recent_keep(struct recent *recent, const struct message *message,
                 uint64_t now_ms);

uint32_t recent_count(const struct recent *recent);

/* The message at `index` of recent_count, the oldest first.  Borrowed until the
 * next recent_keep. */
struct message recent_at(const struct recent *recent, uint32_t index);

/* Forget all, and release the memory. */
void recent_forget(struct recent *recent);

#endif

/*
 * publisher - the socket of a simulated publisher
 *
 * A PUB socket as a Mooncake master has it: it never waits, and loses whole
 * messages for a subscriber that does not keep up.  One that hears of
 * subscriptions is an XPUB socket, which is the same on the wire.
 */
#ifndef IO_PUBLISHER_H
#define IO_PUBLISHER_H

#include "base/error.h"
#include "io/socket.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct publisher {
    void *context;
    void *socket;
    char *endpoint; /* where it really is */
    uint64_t file;  /* of a bound ipc path, to remove */
};

struct publisher_frame {
    const void *data;
    size_t size;
};

/* False and `error` when it cannot bind or connect; close it all the same. */
bool publisher_open(struct publisher *publisher,
                    const struct socket_options *options, bool hears,
                    struct error *error);

/* Deliver what is sent for at most `linger_ms`, then close. */
void publisher_close(struct publisher *publisher, int linger_ms);

/* Wait for `count` subscriptions, of a publisher that hears of them; false when
 * `stop` became readable. */
bool publisher_wait(struct publisher *publisher, uint64_t count, int stop);

void publisher_send(struct publisher *publisher,
                    const struct publisher_frame *frames, size_t count);

#endif

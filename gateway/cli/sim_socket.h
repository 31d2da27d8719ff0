/*
 * sim_socket - the publisher's socket
 *
 * A PUB socket as the master has it: it never waits, and loses whole messages
 * for a subscriber that does not keep up.  When subscriptions are to be waited
 * for it is an XPUB socket, which is the same on the wire but hears of them.
 */
#ifndef CLI_SIM_SOCKET_H
#define CLI_SIM_SOCKET_H

#include "base/error.h"
#include "cli/sim_options.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct sim_socket {
    void *context;
    void *socket;
    char *endpoint; /* where it really is */
};

struct sim_frame {
    const void *data;
    size_t size;
};

/* False and `error` when it cannot bind or connect; close it all the same. */
bool sim_socket_open(struct sim_socket *socket,
                     const struct sim_options *options, struct error *error);

/* Deliver what is sent for at most `linger_ms`, then close. */
void sim_socket_close(struct sim_socket *socket, int linger_ms);

/* Wait for `count` subscriptions; false when `stop` became readable. */
bool sim_socket_wait(struct sim_socket *socket, uint64_t count, int stop);

void sim_socket_send(struct sim_socket *socket, const struct sim_frame *frames,
                     size_t count);

#endif

/*
 * config_endpoint - addresses, judged and compared
 *
 * What libzmq would refuse only at the start is refused here, with a reason;
 * and two ways to write one address are seen to be one.  No resolver is asked.
 */
#ifndef BASE_CONFIG_ENDPOINT_H
#define BASE_CONFIG_ENDPOINT_H

#include "base/error.h"

#include <stdbool.h>
#include <stdint.h>

enum { CONFIG_ENDPOINT_MAX = 512 };

enum config_transport {
    CONFIG_TCP = 0,
    CONFIG_IPC,
    CONFIG_INPROC,
};

struct config_endpoint {
    enum config_transport transport;
    char host[256];  /* canonical; of ipc the path, of inproc the name */
    bool every_host; /* bound to all interfaces */
    uint16_t port;
    bool chosen_later; /* a free port or path: clashes with nothing */
};

/* False, and in `error` what is wrong and what was expected. */
bool config_endpoint_parse(const char *text, bool bind,
                           struct config_endpoint *endpoint,
                           struct error *error);

/* The same for "HOST:PORT" of the admin server. */
bool config_address_parse(const char *text, struct config_endpoint *endpoint,
                          struct error *error);

/* Whether both cannot be bound at once. */
bool config_endpoint_clashes(const struct config_endpoint *a,
                             const struct config_endpoint *b);

/* Whether connecting to `target` surely reaches what is bound to `bound`. */
bool config_endpoint_reaches(const struct config_endpoint *target,
                             const struct config_endpoint *bound);

/* Whether it is of this machine alone: ipc, inproc, a loopback address. */
bool config_endpoint_is_local(const struct config_endpoint *endpoint);

#endif

/*
 * ports - the sockets of one configuration
 *
 * A reload opens a new set beside the old one.  A socket whose address stays is
 * shared by both until ports_commit, so its connections live on; if anything
 * can't be opened, the old set is as it was.
 */
#ifndef IO_PORTS_H
#define IO_PORTS_H

#include "base/config.h"
#include "base/error.h"
#include "base/log.h"
#include "io/inlet.h"
#include "io/outlet.h"
#include "io/pool.h"

#include <stdbool.h>
#include <stddef.h>

/* One socket: inlet for a source, outlet for a stream, the other is NULL. */
struct port {
    char *name;
    const struct config_socket *socket; /* of the configuration in force */
    bool shared; /* with the set that this one replaces, or that replaces it */
    struct inlet *inlet;
    struct outlet *outlet;
    struct log_gate gate; /* of what happens to its connections */
    unsigned waited; /* looks in a row at which a source had no connection */
};

struct ports {
    struct port *sources; /* in the order of the configuration */
    struct port *streams; /* the dead letters' last */
    size_t source_count, stream_count;
};

/*
 * Open what `config` (borrowed) describes, sharing what `old` (NULL: nothing)
 * has on the same address.  NULL and `error` when an address can't be had.
 */
struct ports *ports_open(void *context, struct pool *pool,
                         const struct config *config, struct ports *old,
                         struct error *error);

/* The new set is in force: takes over shared sockets, closes those that are
 * left over, frees the old set (may be NULL). */
void ports_commit(struct ports *ports, const struct config *config,
                  struct ports *old);

/* Close all. */
void ports_close(struct ports *ports);

#endif

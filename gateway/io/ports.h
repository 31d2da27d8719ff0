/*
 * ports - the sockets of one configuration
 *
 * A reload opens a new set beside the old one.  A socket whose address stays is
 * shared by both until ports_commit, so its connections live on; if anything
 * can't be opened, the old set is as it was.  A socket whose keys change is a
 * new one, for which the old one gives its address up.
 */
#ifndef IO_PORTS_H
#define IO_PORTS_H

#include "base/buffer.h"
#include "io/port.h"

#include <stddef.h>

struct ports {
    struct wire wire;
    struct port *sources; /* in the order of the configuration */
    struct port *streams; /* the dead letters' last */
    size_t source_count, stream_count;
};

/*
 * Open what `config` (borrowed) describes, sharing what `old` (NULL: nothing)
 * has on the same address with the same keys.  NULL and `error` when an
 * address can't be had.
 */
struct ports *ports_open(const struct wire *wire, const struct config *config,
                         struct ports *old, struct error *error);

/* The new set is in force: takes over shared sockets, closes those that are
 * left over, frees the old set (may be NULL). */
void ports_commit(struct ports *ports, const struct config *config,
                  struct ports *old);

/* A line for each socket that keeps a higher queue bound than it is to have. */
void ports_tell_kept(const struct ports *ports, struct buffer *out);

/* Warn of each new socket that strangers can reach, and that lets them in. */
void ports_warn_of_strangers(const struct ports *ports);

/* Close all. */
void ports_close(struct ports *ports);

#endif

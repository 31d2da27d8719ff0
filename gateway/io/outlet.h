/*
 * outlet - the sending socket of one stream
 *
 * A PUB socket as a struct sink.  It never blocks and never waits for a
 * subscriber: one that does not keep up misses messages, and sees that by
 * their numbers.
 */
#ifndef IO_OUTLET_H
#define IO_OUTLET_H

#include "base/error.h"
#include "io/pool.h"
#include "io/socket.h"
#include "relay/sink.h"

struct outlet;

/* `pool`: where sent blocks go; borrowed, must outlive the context.  NULL and
 * `error` when it can't bind or connect.  Caller closes. */
struct outlet *outlet_open(void *context, struct pool *pool,
                           const struct socket_options *options,
                           struct error *error);
void outlet_close(struct outlet *outlet);

/* Take over a changed queue bound. */
void outlet_configure(struct outlet *outlet,
                      const struct socket_options *options);

/* Where it really is.  Borrowed. */
const char *outlet_endpoint(const struct outlet *outlet);

/* Borrows the outlet. */
struct sink outlet_sink(struct outlet *outlet);

/* Take in subscriptions although there is nothing to send. */
void outlet_service(struct outlet *outlet);

#endif

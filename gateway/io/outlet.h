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
#include "io/monitor.h"
#include "io/socket.h"
#include "io/wire.h"
#include "relay/sink.h"

struct outlet;

/* NULL and `error` when it can't bind or connect.  Caller closes. */
struct outlet *outlet_open(const struct wire *wire,
                           const struct socket_options *options,
                           struct error *error);
void outlet_close(struct outlet *outlet);

/* Take over a higher queue bound, see socket_raise_hwm. */
void outlet_configure(struct outlet *outlet,
                      const struct socket_options *options);

/* The queue bound that it has. */
int outlet_hwm(const struct outlet *outlet);

/* Try again after the peer has said no. */
void outlet_reconnect(struct outlet *outlet);

/* Give its address up for another socket; and, if that came to nothing, take
 * it again. */
void outlet_unbind(struct outlet *outlet);
bool outlet_rebind(struct outlet *outlet, const struct socket_options *options,
                   struct error *error);

/* Bytes of messages that libzmq holds for its subscribers, those aside that
 * are so small that they were copied. */
size_t outlet_load(const struct outlet *outlet);

/* Its subscribers; to be read now and then.  Borrowed. */
struct monitor *outlet_monitor(struct outlet *outlet);

/* Where it really is.  Borrowed. */
const char *outlet_endpoint(const struct outlet *outlet);

/* Borrows the outlet. */
struct sink outlet_sink(struct outlet *outlet);

/* Take in subscriptions although there is nothing to send. */
void outlet_service(struct outlet *outlet);

#endif

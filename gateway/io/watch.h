/*
 * watch - what happens to the connections of sockets, told and counted
 */
#ifndef IO_WATCH_H
#define IO_WATCH_H

#include "base/buffer.h"
#include "io/ports.h"

#include <stdbool.h>
#include <stdint.h>

/* Read its news and log them; true: it has a connection more or less. */
bool watch_port(struct port *port);

/*
 * Every few milliseconds: cut off who does not read a stream while more waits
 * for its subscribers than queue_bytes.  True: that is so, look again soon.
 */
bool watch_load(struct port *stream, uint64_t now_ms);

/* About once a second: one that connects and was refused tries again. */
void watch_refusal(struct port *port);

/* The same: warn of a source that has had no connection for long. */
void watch_silence(struct port *source);

/* Prometheus text of what is known of connections. */
void watch_metrics(const struct ports *ports, struct buffer *out);

#endif

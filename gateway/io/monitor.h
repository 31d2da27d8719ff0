/*
 * monitor - how many peers a socket is connected to
 *
 * Follows libzmq's events of one socket.  A connection counts from the end of
 * its handshake, so what answers on the port but is no publisher does not.
 */
#ifndef IO_MONITOR_H
#define IO_MONITOR_H

#include "base/error.h"

#include <stdbool.h>
#include <stddef.h>

struct monitor;

enum monitor_change {
    MONITOR_NOTHING = 0, /* no more news */
    MONITOR_CONNECTED,
    MONITOR_LOST
};

/* Must be called before `socket` is attached to an address. */
struct monitor *monitor_new(void *context, void *socket, struct error *error);

/* Before its socket is closed. */
void monitor_free(struct monitor *monitor);

/* To poll on once monitor_read said MONITOR_NOTHING. */
int monitor_descriptor(const struct monitor *monitor);

/* The next change.  `endpoint` is borrowed until the next call. */
enum monitor_change monitor_read(struct monitor *monitor,
                                 const char **endpoint);

/* Connections that are alive, as far as read. */
size_t monitor_live(const struct monitor *monitor);

#endif

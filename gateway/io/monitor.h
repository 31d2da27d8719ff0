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
#include <stdint.h>

struct monitor;

enum monitor_change {
    MONITOR_NOTHING = 0, /* no more news */
    MONITOR_CONNECTED,
    MONITOR_LOST,
    MONITOR_REFUSED /* a handshake came to nothing, see monitor_reason */
};

/* Why handshakes came to nothing. */
enum monitor_refusal {
    MONITOR_BY_KEY = 0,   /* a key or password that is not let in */
    MONITOR_BY_HANDSHAKE, /* another mechanism or key, or no ZMTP at all */
    MONITOR_REFUSALS
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

/*
 * Break connections that had no room at any look (of which there were some) for
 * `patience_ms`: their peers do not read.  Returns how many.  To be called
 * every few milliseconds, all read before; monitor_forgive forgets what was
 * seen.
 */
size_t monitor_cut_stuck(struct monitor *monitor, uint64_t now_ms,
                         uint64_t patience_ms);
void monitor_forgive(struct monitor *monitor);

/* How many handshakes came to nothing, as far as read. */
uint64_t monitor_refused(const struct monitor *monitor,
                         enum monitor_refusal refusal);

/* Of the last MONITOR_REFUSED: by what, and in words. */
enum monitor_refusal monitor_refusal(const struct monitor *monitor);
const char *monitor_reason(const struct monitor *monitor);

#endif

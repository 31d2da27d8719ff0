/*
 * endpoint - what must be known of an address before libzmq gets it
 */
#ifndef IO_ENDPOINT_H
#define IO_ENDPOINT_H

#include "base/error.h"

#include <stdbool.h>
#include <stdint.h>

/*
 * Whether the address needs IPv6 sockets.  With them libzmq asks for IPv6
 * addresses alone wherever a name has any, and would never reach a publisher
 * that listens on IPv4 only, as most do: so a name that has an IPv4 address
 * gets IPv4.  May ask the resolver, which can take its time.
 */
bool endpoint_is_ipv6(const char *endpoint);

/*
 * Whether an ipc path may be bound.  libzmq deletes whatever lies there: that
 * is right for the socket of a process that is gone, not for one in use and
 * not for a file.
 */
bool endpoint_is_free(const char *endpoint, struct error *error);

/*
 * The socket file of an ipc path that was just bound, 0 when it has none; and
 * its removal, which libzmq leaves to us.  A file that somebody else has put
 * in its place stays.
 */
uint64_t endpoint_file(const char *endpoint);
void endpoint_remove(const char *endpoint, uint64_t file);

#endif

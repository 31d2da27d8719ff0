/*
 * listener - a listening TCP socket
 */
#ifndef IO_LISTENER_H
#define IO_LISTENER_H

#include "base/error.h"

#include <stddef.h>
#include <stdint.h>

/*
 * Listen on `host` ("*" is any address) and `port` (0 is any port).  Returns a
 * non-blocking descriptor that the caller closes, or -1 and `error`.
 */
int listener_open(const char *host, uint16_t port, struct error *error);

/* "127.0.0.1:9480" or "[::1]:9480", as it really is. */
void listener_address(int descriptor, char *text, size_t room);

#endif

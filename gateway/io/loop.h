/*
 * loop - the one thread that everything but the wire runs on
 *
 *   take messages, source by source, a bounded number each
 *   ├─ some are left: look at signals, connections, HTTP every few ms
 *   └─ none is left:  send what is open, sleep until something happens
 */
#ifndef IO_LOOP_H
#define IO_LOOP_H

#include "io/gateway.h"

/* Turn until SIGTERM or SIGINT.  signals_open must have been called. */
void loop_run(struct gateway *gateway);

#endif

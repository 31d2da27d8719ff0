/*
 * middle - the sockets of a process between publisher and subscriber
 *
 * As kvgate has them: two I/O threads, one for what comes in and one for what
 * goes out.  Both sides connect; the ends know their ports.
 */
#ifndef BENCH_MIDDLE_H
#define BENCH_MIDDLE_H

#include <zmq.h>

void *middle_context(void);

/* A socket of that type (SUB or XSUB) subscribed to all of `endpoint`; `queue`:
 * messages that it holds at the most, as text. */
void *middle_source(void *context, int type, const char *queue,
                    const char *endpoint);

/* A socket of that type (PUB or XPUB) that feeds `endpoint`. */
void *middle_stream(void *context, int type, const char *queue,
                    const char *endpoint);

#endif

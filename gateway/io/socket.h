/*
 * socket - libzmq as the gateway uses it: context, options, address
 *
 * One context with two I/O threads: what comes in is read by the first, what
 * goes out is written by the second, so that neither waits for the other.
 * Every failure is one sentence that names the owner, the endpoint and the
 * cause: stream "acme": cannot bind tcp://127.0.0.1:6001: address already in
 * use.
 */
#ifndef IO_SOCKET_H
#define IO_SOCKET_H

#include "base/error.h"
#include "base/security.h"

#include <stdbool.h>
#include <stddef.h>

enum {
    /* The largest frame taken in.  A peer that sends a larger one is
     * disconnected by libzmq, and what it sent is missing. */
    SOCKET_FRAME_MAX = 128 << 20,
    SOCKET_LINGER_MS = 200 /* what an outlet may still send when closed */
};

enum socket_kind {
    SOCKET_SUB = 0, /* receives */
    SOCKET_PUB      /* sends; drops for a subscriber that does not keep up */
};

struct socket_options {
    const char *owner;    /* as messages call it: source "store" */
    const char *endpoint; /* tcp://HOST:PORT, ipc://PATH */
    bool bind;            /* else connect */
    int hwm;              /* messages queued for a peer at the most */
    const struct security *security; /* NULL: none; needed by socket_new only */
    const char *domain; /* of a server, what zap_domain says; NULL: any client
                           with a key may come */
};

/* Whether this libzmq can encrypt at all. */
bool socket_has_curve(void);

/* NULL and `error` when the machine does not give one. */
void *socket_context_new(struct error *error);

/* Waits for what closed sockets still send: SOCKET_LINGER_MS at the most. */
void socket_context_free(void *context);

/* A socket with all its options, on no address yet.  Caller closes. */
void *socket_new(void *context, enum socket_kind kind,
                 const struct socket_options *options, struct error *error);
void socket_close(void *socket);

/* Give a socket that was made elsewhere its keys. */
bool socket_secure(void *socket, const struct socket_options *options,
                   struct error *error);

/* Bind or connect it. */
bool socket_attach(void *socket, const struct socket_options *options,
                   struct error *error);

/* Give a bound address up, so that another socket may have it.  Connections
 * stay.  Returns when it is free, or after a second. */
void socket_release(void *socket, const char *endpoint);

/* Connect anew, as libzmq itself does not when the peer has said no. */
void socket_reconnect(void *socket, const char *endpoint);

/* Where it really is: a port "*" has become a number.  Caller frees. */
char *socket_endpoint(void *socket);

/*
 * Readable when libzmq has news for the socket.  Edge-triggered: it is only
 * worth waiting on after the socket said that it has nothing.
 */
int socket_descriptor(void *socket);

/*
 * Change the bound of its queues, of live connections too.  Never to less than
 * before: libzmq's reader of a queue tells its writer only every hwm / 2
 * messages how far it is, so a lower bound may find a queue that is empty full,
 * and nothing would ever be written to it again.
 */
void socket_raise_hwm(void *socket, int hwm);

/* Let libzmq see to connections and subscriptions; for sockets that may go
 * long without a send or receive. */
void socket_service(void *socket);

#endif

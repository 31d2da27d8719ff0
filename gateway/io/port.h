/*
 * port - one socket of a configuration: the inlet of a source, or the outlet of
 * a stream
 */
#ifndef IO_PORT_H
#define IO_PORT_H

#include "base/config.h"
#include "base/error.h"
#include "base/log.h"
#include "io/inlet.h"
#include "io/outlet.h"
#include "io/wire.h"

#include <stdbool.h>
#include <stdint.h>

struct port {
    const char *kind; /* "source", "stream" */
    char *name;
    const struct config_socket *socket; /* of the configuration in force */
    bool shared;  /* with the set that this one replaces, or that replaces it */
    bool unbound; /* another socket is to have its address */
    uint64_t door;          /* see zap; 0: none */
    struct inlet *inlet;    /* of a source; else NULL */
    struct outlet *outlet;  /* of a stream; else NULL */
    struct log_gate gate;   /* of what happens to its connections */
    bool refused;           /* since the last look */
    uint64_t overloaded_ms; /* since when more waits than may; 0: it does not */
    uint64_t cut;           /* subscribers that were cut off for that */
    unsigned waited; /* looks in a row at which a source had no connection */
};

/* Nothing is opened yet; `kind` and `socket` are borrowed. */
void port_init(struct port *port, const char *kind, const char *name,
               const struct config_socket *socket);

/* Its socket too, unless another port shares it. */
void port_close(struct port *port, const struct wire *wire);

/* `topic` of a source; NULL: it is a stream. */
bool port_open(struct port *port, const struct wire *wire, const char *topic,
               struct error *error);

/* Whether a socket made for `a` serves `b` as it is. */
bool port_fits(const struct config_socket *a, const struct config_socket *b);

/* Use the socket of `old`, which may go on using it. */
void port_share(struct port *port, struct port *old);

/* Take over, for a shared socket, what its configuration has changed. */
void port_configure(struct port *port, const struct wire *wire,
                    const char *topic);

/* Give its address up for another port; and take it again, which is told if it
 * fails. */
void port_unbind(struct port *port);
void port_rebind(struct port *port);

/* One that connects: try again after the peer has said no. */
void port_reconnect(struct port *port);

struct monitor *port_monitor(const struct port *port);
bool port_is_connected(const struct port *port);

/* Where it really is.  Borrowed. */
const char *port_endpoint(const struct port *port);

/* Messages that may queue for one peer. */
int port_hwm(const struct port *port);

#endif

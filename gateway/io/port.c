#include "io/port.h"

#include "base/memory.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { OWNER = 160 };

void port_init(struct port *port, const char *kind, const char *name,
               const struct config_socket *socket)
{
    *port = (struct port){
        .kind = kind,
        .name = memory_text(name, strlen(name)),
        .socket = socket,
    };
    snprintf(port->gate.about, sizeof port->gate.about,
             "connections of %s \"%.60s\"", kind, name);
}

void port_close(struct port *port, const struct wire *wire)
{
    if (!port->shared) {
        inlet_close(port->inlet);
        outlet_close(port->outlet);
        zap_close_door(wire->zap, port->door);
    }
    free(port->name);
}

static void print_owner(const struct port *port, char owner[OWNER])
{
    snprintf(owner, OWNER, "%s \"%s\"", port->kind, port->name);
}

static const struct security *security_of(const struct config_socket *socket)
{
    return socket->security == NULL ? NULL : &socket->security->is;
}

static struct socket_options options_of(const struct port *port,
                                        const char *owner)
{
    return (struct socket_options){.owner = owner,
                                   .endpoint = port->socket->endpoint,
                                   .bind = port->socket->bind,
                                   .hwm = port->socket->hwm,
                                   .security = security_of(port->socket)};
}

bool port_open(struct port *port, const struct wire *wire, const char *topic,
               struct error *error)
{
    char owner[OWNER], domain[ZAP_DOMAIN];
    struct socket_options options = options_of(port, owner);

    print_owner(port, owner);
    if (options.security != NULL && options.security->server) {
        port->door = zap_open_door(wire->zap, owner, options.security);
        zap_domain(port->door, domain);
        options.domain = domain;
    }
    if (topic != NULL)
        port->inlet = inlet_open(wire->context, &options, topic, true, error);
    else
        port->outlet = outlet_open(wire, &options, error);
    return port->inlet != NULL || port->outlet != NULL;
}

static bool same_security(const struct config_socket *a,
                          const struct config_socket *b)
{
    if (a->security == NULL || b->security == NULL)
        return a->security == b->security;
    return security_is_same(&a->security->is, &b->security->is);
}

bool port_fits(const struct config_socket *a, const struct config_socket *b)
{
    return a->bind == b->bind && strcmp(a->endpoint, b->endpoint) == 0 &&
           same_security(a, b);
}

void port_share(struct port *port, struct port *old)
{
    old->shared = port->shared = true;
    port->inlet = old->inlet;
    port->outlet = old->outlet;
    port->door = old->door;
    port->cut = old->cut;
}

void port_configure(struct port *port, const struct wire *wire,
                    const char *topic)
{
    char owner[OWNER];
    struct socket_options options = options_of(port, owner);

    print_owner(port, owner);
    if (port->inlet != NULL)
        inlet_configure(port->inlet, &options, topic);
    else
        outlet_configure(port->outlet, &options);
    if (port->door != 0)
        zap_set_door(wire->zap, port->door, owner, options.security);
}

void port_unbind(struct port *port)
{
    port->unbound = true;
    if (port->inlet != NULL)
        inlet_unbind(port->inlet);
    else
        outlet_unbind(port->outlet);
}

void port_rebind(struct port *port)
{
    char owner[OWNER];
    struct socket_options options = options_of(port, owner);
    struct error error = {0};
    bool done;

    if (!port->unbound)
        return;
    port->unbound = false;
    print_owner(port, owner);
    if (port->inlet != NULL)
        done = inlet_rebind(port->inlet, &options, &error);
    else
        done = outlet_rebind(port->outlet, &options, &error);
    if (!done)
        log_line(LOG_ERROR, "%s; nobody new can come until a restart",
                 error.text);
}

void port_reconnect(struct port *port)
{
    if (port->inlet != NULL)
        inlet_reconnect(port->inlet);
    else
        outlet_reconnect(port->outlet);
}

struct monitor *port_monitor(const struct port *port)
{
    return port->inlet != NULL ? inlet_monitor(port->inlet)
                               : outlet_monitor(port->outlet);
}

bool port_is_connected(const struct port *port)
{
    return monitor_live(port_monitor(port)) > 0;
}

const char *port_endpoint(const struct port *port)
{
    return port->inlet != NULL ? inlet_endpoint(port->inlet)
                               : outlet_endpoint(port->outlet);
}

int port_hwm(const struct port *port)
{
    return port->inlet != NULL ? inlet_hwm(port->inlet)
                               : outlet_hwm(port->outlet);
}

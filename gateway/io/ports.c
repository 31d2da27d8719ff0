#include "io/ports.h"

#include "base/memory.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void close_port(struct port *port)
{
    if (!port->shared) {
        inlet_close(port->inlet);
        outlet_close(port->outlet);
    }
    free(port->name);
}

static void close_ports(struct port *ports, size_t count)
{
    for (size_t i = 0; i < count; i++)
        close_port(&ports[i]);
    free(ports);
}

void ports_close(struct ports *ports)
{
    if (ports == NULL)
        return;
    close_ports(ports->sources, ports->source_count);
    close_ports(ports->streams, ports->stream_count);
    free(ports);
}

static bool same_address(const struct config_socket *a,
                         const struct config_socket *b)
{
    return a->bind == b->bind && strcmp(a->endpoint, b->endpoint) == 0;
}

/*
 * An open socket on that address: the one of that name, or any that nobody has
 * taken.  Names come first because one with a "*" is many
 * addresses.
 */
static struct port *find_port(struct port *ports, size_t count,
                              const char *name,
                              const struct config_socket *socket)
{
    struct port *found = NULL;

    for (size_t i = 0; i < count; i++) {
        struct port *port = &ports[i];

        if (port->shared || !same_address(port->socket, socket))
            continue;
        if (strcmp(port->name, name) == 0)
            return port;
        if (found == NULL)
            found = port;
    }
    return found;
}

static void name_port(struct port *port, const char *kind, const char *name,
                      const struct config_socket *socket)
{
    port->name = memory_text(name, strlen(name));
    port->socket = socket;
    snprintf(port->gate.about, sizeof port->gate.about,
             "connections of %s \"%.60s\"", kind, name);
}

/* Use the socket that an old port has; false: there is none. */
static bool share_port(struct port *port, struct port *olds, size_t count)
{
    struct port *old = find_port(olds, count, port->name, port->socket);

    if (old == NULL)
        return false;
    old->shared = port->shared = true;
    port->inlet = old->inlet;
    port->outlet = old->outlet;
    return true;
}

static struct socket_options options_of(const struct config_socket *socket,
                                        const char *owner)
{
    return (struct socket_options){.owner = owner,
                                   .endpoint = socket->endpoint,
                                   .bind = socket->bind,
                                   .hwm = socket->hwm};
}

static bool open_source(struct port *port, void *context, const char *topic,
                        struct error *error)
{
    char owner[256] = "";
    struct socket_options options = options_of(port->socket, owner);

    snprintf(owner, sizeof owner, "source \"%s\"", port->name);
    port->inlet = inlet_open(context, &options, topic, true, error);
    return port->inlet != NULL;
}

static bool open_stream(struct port *port, void *context, struct pool *pool,
                        struct error *error)
{
    char owner[256] = "";
    struct socket_options options = options_of(port->socket, owner);

    snprintf(owner, sizeof owner, "stream \"%s\"", port->name);
    port->outlet = outlet_open(context, pool, &options, error);
    return port->outlet != NULL;
}

static void share_all(struct ports *ports, struct ports *old)
{
    for (size_t i = 0; i < ports->stream_count; i++)
        share_port(&ports->streams[i], old->streams, old->stream_count);
    for (size_t i = 0; i < ports->source_count; i++)
        share_port(&ports->sources[i], old->sources, old->source_count);
}

/* Streams first: what a source sends at once finds them open. */
static bool open_rest(struct ports *ports, void *context, struct pool *pool,
                      const struct config *config, struct error *error)
{
    for (size_t i = 0; i < ports->stream_count; i++)
        if (!ports->streams[i].shared &&
            !open_stream(&ports->streams[i], context, pool, error))
            return false;
    for (size_t i = 0; i < ports->source_count; i++)
        if (!ports->sources[i].shared &&
            !open_source(&ports->sources[i], context, config->sources[i].topic,
                         error))
            return false;
    return true;
}

static void unshare(struct port *ports, size_t count)
{
    for (size_t i = 0; i < count; i++)
        ports[i].shared = false;
}

static struct ports *make_ports(const struct config *config)
{
    struct ports *ports = memory_new(sizeof *ports);

    ports->source_count = config->source_count;
    ports->stream_count = config_output_count(config);
    ports->sources = memory_new(ports->source_count * sizeof(struct port));
    ports->streams = memory_new(ports->stream_count * sizeof(struct port));
    for (size_t i = 0; i < ports->source_count; i++)
        name_port(&ports->sources[i], "source", config->sources[i].name,
                  &config->sources[i].socket);
    for (size_t i = 0; i < ports->stream_count; i++)
        name_port(&ports->streams[i], "stream", config_output(config, i)->name,
                  &config_output(config, i)->socket);
    return ports;
}

struct ports *ports_open(void *context, struct pool *pool,
                         const struct config *config, struct ports *old,
                         struct error *error)
{
    struct ports *ports = make_ports(config);

    if (old != NULL)
        share_all(ports, old);
    if (open_rest(ports, context, pool, config, error))
        return ports;
    ports_close(ports);
    if (old != NULL) {
        unshare(old->sources, old->source_count);
        unshare(old->streams, old->stream_count);
    }
    return NULL;
}

void ports_commit(struct ports *ports, const struct config *config,
                  struct ports *old)
{
    for (size_t i = 0; i < ports->source_count; i++) {
        struct socket_options options =
            options_of(ports->sources[i].socket, NULL);

        inlet_configure(ports->sources[i].inlet, &options,
                        config->sources[i].topic);
    }
    for (size_t i = 0; i < ports->stream_count; i++) {
        struct socket_options options =
            options_of(ports->streams[i].socket, NULL);

        outlet_configure(ports->streams[i].outlet, &options);
    }
    ports_close(old);
    unshare(ports->sources, ports->source_count);
    unshare(ports->streams, ports->stream_count);
}

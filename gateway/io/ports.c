#include "io/ports.h"

#include "base/memory.h"

#include <stdlib.h>
#include <string.h>

static void close_ports(struct port *ports, size_t count,
                        const struct wire *wire)
{
    for (size_t i = 0; i < count; i++)
        port_close(&ports[i], wire);
    free(ports);
}

void ports_close(struct ports *ports)
{
    if (ports == NULL)
        return;
    close_ports(ports->sources, ports->source_count, &ports->wire);
    close_ports(ports->streams, ports->stream_count, &ports->wire);
    free(ports);
}

static struct ports *make_ports(const struct wire *wire,
                                const struct config *config)
{
    struct ports *ports = memory_new(sizeof *ports);

    ports->wire = *wire;
    ports->source_count = config->source_count;
    ports->stream_count = config_output_count(config);
    ports->sources = memory_new(ports->source_count * sizeof(struct port));
    ports->streams = memory_new(ports->stream_count * sizeof(struct port));
    for (size_t i = 0; i < ports->source_count; i++)
        port_init(&ports->sources[i], "source", config->sources[i].name,
                  &config->sources[i].socket);
    for (size_t i = 0; i < ports->stream_count; i++)
        port_init(&ports->streams[i], "stream", config_output(config, i)->name,
                  &config_output(config, i)->socket);
    return ports;
}

/* ---- sharing ---- */

/*
 * An open socket that fits: the one of that name, or any that nobody has
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

        if (port->shared || !port_fits(port->socket, socket))
            continue;
        if (strcmp(port->name, name) == 0)
            return port;
        if (found == NULL)
            found = port;
    }
    return found;
}

static void share(struct port *ports, size_t count, struct port *olds,
                  size_t old_count)
{
    for (size_t i = 0; i < count; i++) {
        struct port *old =
            find_port(olds, old_count, ports[i].name, ports[i].socket);

        if (old != NULL)
            port_share(&ports[i], old);
    }
}

static void unshare(struct port *ports, size_t count)
{
    for (size_t i = 0; i < count; i++)
        ports[i].shared = false;
}

/* Sockets that nobody shares give up addresses that new ones are to have. */
static void make_room(const struct port *ports, size_t count, struct port *olds,
                      size_t old_count)
{
    for (size_t i = 0; i < count; i++) {
        const struct config_socket *wanted = ports[i].socket;

        if (ports[i].shared || !wanted->bind)
            continue;
        for (size_t j = 0; j < old_count; j++) {
            const struct config_socket *socket = olds[j].socket;

            if (!olds[j].shared && !olds[j].unbound && socket->bind &&
                strcmp(socket->endpoint, wanted->endpoint) == 0)
                port_unbind(&olds[j]);
        }
    }
}

static void rebind(struct port *ports, size_t count)
{
    for (size_t i = 0; i < count; i++)
        port_rebind(&ports[i]);
}

/* What is left of a set that was not to be. */
static void restore(struct ports *old)
{
    unshare(old->sources, old->source_count);
    unshare(old->streams, old->stream_count);
    rebind(old->sources, old->source_count);
    rebind(old->streams, old->stream_count);
}

static void share_all(struct ports *ports, struct ports *old)
{
    share(ports->streams, ports->stream_count, old->streams, old->stream_count);
    share(ports->sources, ports->source_count, old->sources, old->source_count);
    make_room(ports->streams, ports->stream_count, old->streams,
              old->stream_count);
    make_room(ports->sources, ports->source_count, old->sources,
              old->source_count);
}

/* ---- opening ---- */

/* Streams first: what a source sends at once finds them open. */
static bool open_rest(struct ports *ports, const struct config *config,
                      struct error *error)
{
    for (size_t i = 0; i < ports->stream_count; i++)
        if (!ports->streams[i].shared &&
            !port_open(&ports->streams[i], &ports->wire, NULL, error))
            return false;
    for (size_t i = 0; i < ports->source_count; i++)
        if (!ports->sources[i].shared &&
            !port_open(&ports->sources[i], &ports->wire,
                       config->sources[i].topic, error))
            return false;
    return true;
}

struct ports *ports_open(const struct wire *wire, const struct config *config,
                         struct ports *old, struct error *error)
{
    struct ports *ports = make_ports(wire, config);

    if (old != NULL)
        share_all(ports, old);
    if (open_rest(ports, config, error))
        return ports;
    ports_close(ports);
    if (old != NULL)
        restore(old);
    return NULL;
}

void ports_commit(struct ports *ports, const struct config *config,
                  struct ports *old)
{
    for (size_t i = 0; i < ports->source_count; i++)
        port_configure(&ports->sources[i], &ports->wire,
                       config->sources[i].topic);
    for (size_t i = 0; i < ports->stream_count; i++)
        port_configure(&ports->streams[i], &ports->wire, NULL);
    ports_close(old);
    unshare(ports->sources, ports->source_count);
    unshare(ports->streams, ports->stream_count);
}

/* ---- telling ---- */

static void tell_kept(const struct port *ports, size_t count,
                      struct buffer *out)
{
    for (size_t i = 0; i < count; i++)
        if (ports[i].shared && port_hwm(&ports[i]) > ports[i].socket->hwm)
            buffer_print(out,
                         "%s \"%s\": hwm stays %d, a lower one takes a "
                         "restart\n",
                         ports[i].kind, ports[i].name, port_hwm(&ports[i]));
}

void ports_tell_kept(const struct ports *ports, struct buffer *out)
{
    tell_kept(ports->sources, ports->source_count, out);
    tell_kept(ports->streams, ports->stream_count, out);
}

static void warn_of_strangers(const struct port *ports, size_t count,
                              const char *what)
{
    for (size_t i = 0; i < count; i++) {
        const struct config_socket *socket = ports[i].socket;

        if (!ports[i].shared && socket->bind && socket->security == NULL &&
            !config_socket_is_local(socket))
            log_line(LOG_WARN,
                     "%s \"%s\": %s is open to other machines without curve: "
                     "whoever reaches it can %s",
                     ports[i].kind, ports[i].name, port_endpoint(&ports[i]),
                     what);
    }
}

void ports_warn_of_strangers(const struct ports *ports)
{
    warn_of_strangers(ports->sources, ports->source_count, "send events");
    warn_of_strangers(ports->streams, ports->stream_count, "read it");
}

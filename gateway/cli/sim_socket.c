#include "cli/sim_socket.h"

#include "io/socket.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <zmq.h>

static void *new_socket(void *context, const struct sim_options *options,
                        struct error *error)
{
    void *socket =
        zmq_socket(context, options->subscribers > 0 ? ZMQ_XPUB : ZMQ_PUB);
    int verbose = 1; /* two subscribers to the same are two */

    if (socket == NULL) {
        error_set(error, "cannot make a socket: %s", zmq_strerror(errno));
        return NULL;
    }
    if (options->subscribers > 0)
        zmq_setsockopt(socket, ZMQ_XPUB_VERBOSE, &verbose, sizeof verbose);
    socket_set_hwm(socket, (int)options->hwm);
    return socket;
}

bool sim_socket_open(struct sim_socket *socket,
                     const struct sim_options *options, struct error *error)
{
    struct socket_options address = {
        .owner = "sim",
        .endpoint = options->bind != NULL ? options->bind : options->connect,
        .bind = options->bind != NULL,
    };

    *socket = (struct sim_socket){.context = socket_context_new(error)};
    if (socket->context == NULL)
        return false;
    socket->socket = new_socket(socket->context, options, error);
    if (socket->socket == NULL ||
        !socket_attach(socket->socket, &address, error))
        return false;
    socket->endpoint = socket_endpoint(socket->socket);
    return true;
}

void sim_socket_close(struct sim_socket *socket, int linger_ms)
{
    if (socket->socket != NULL)
        zmq_setsockopt(socket->socket, ZMQ_LINGER, &linger_ms,
                       sizeof linger_ms);
    socket_close(socket->socket);
    socket_context_free(socket->context);
    free(socket->endpoint);
    *socket = (struct sim_socket){0};
}

/* How many subscriptions have come and gone since the last look. */
static uint64_t take_subscriptions(void *socket, uint64_t count)
{
    char word[256]; /* 1 or 0, then the prefix, which does not matter */

    while (zmq_recv(socket, word, sizeof word, ZMQ_DONTWAIT) > 0) {
        if (word[0] == 1)
            count++;
        else if (count > 0)
            count--;
    }
    return count;
}

bool sim_socket_wait(struct sim_socket *socket, uint64_t count, int stop)
{
    zmq_pollitem_t items[] = {{.socket = socket->socket, .events = ZMQ_POLLIN},
                              {.fd = stop, .events = ZMQ_POLLIN}};
    uint64_t seen = 0;

    while (seen < count) {
        if (zmq_poll(items, 2, -1) < 0 && errno != EINTR)
            return false;
        if (items[1].revents != 0)
            return false;
        seen = take_subscriptions(socket->socket, seen);
    }
    return true;
}

void sim_socket_send(struct sim_socket *socket, const struct sim_frame *frames,
                     size_t count)
{
    for (size_t i = 0; i < count; i++)
        zmq_send(socket->socket, frames[i].data, frames[i].size,
                 i + 1 < count ? ZMQ_SNDMORE : 0);
}

#include "io/publisher.h"

#include "io/endpoint.h"

#include <errno.h>
#include <stdlib.h>
#include <zmq.h>

static void *new_socket(void *context, const struct socket_options *options,
                        bool hears, struct error *error)
{
    void *socket = zmq_socket(context, hears ? ZMQ_XPUB : ZMQ_PUB);
    int verbose = 1; /* two subscribers to the same are two */

    if (socket == NULL) {
        error_set(error, "cannot make a socket: %s", zmq_strerror(errno));
        return NULL;
    }
    if (hears)
        zmq_setsockopt(socket, ZMQ_XPUB_VERBOSE, &verbose, sizeof verbose);
    socket_raise_hwm(socket, options->hwm);
    return socket;
}

bool publisher_open(struct publisher *publisher,
                    const struct socket_options *options, bool hears,
                    struct error *error)
{
    *publisher = (struct publisher){.context = socket_context_new(error)};
    if (publisher->context == NULL)
        return false;
    publisher->socket = new_socket(publisher->context, options, hears, error);
    if (publisher->socket == NULL ||
        !socket_secure(publisher->socket, options, error) ||
        !socket_attach(publisher->socket, options, error))
        return false;
    publisher->endpoint = socket_endpoint(publisher->socket);
    if (options->bind)
        publisher->file = endpoint_file(publisher->endpoint);
    return true;
}

void publisher_close(struct publisher *publisher, int linger_ms)
{
    if (publisher->socket != NULL)
        zmq_setsockopt(publisher->socket, ZMQ_LINGER, &linger_ms,
                       sizeof linger_ms);
    socket_close(publisher->socket);
    socket_context_free(publisher->context);
    if (publisher->file != 0)
        endpoint_remove(publisher->endpoint, publisher->file);
    free(publisher->endpoint);
    *publisher = (struct publisher){0};
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

bool publisher_wait(struct publisher *publisher, uint64_t count, int stop)
{
    zmq_pollitem_t items[] = {
        {.socket = publisher->socket, .events = ZMQ_POLLIN},
        {.fd = stop, .events = ZMQ_POLLIN}};
    uint64_t seen = 0;

    while (seen < count) {
        if (zmq_poll(items, 2, -1) < 0 && errno != EINTR)
            return false;
        if (items[1].revents != 0)
            return false;
        seen = take_subscriptions(publisher->socket, seen);
    }
    return true;
}

void publisher_send(struct publisher *publisher,
                    const struct publisher_frame *frames, size_t count)
{
    for (size_t i = 0; i < count; i++)
        zmq_send(publisher->socket, frames[i].data, frames[i].size,
                 i + 1 < count ? ZMQ_SNDMORE : 0);
}

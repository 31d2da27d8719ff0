#include "io/outlet.h"

#include "base/memory.h"
#include "io/endpoint.h"
#include "relay/sequence.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <zmq.h>

enum {
    COPY_MAX = 4096, /* payloads up to this size are copied */
    FILL_MIN = 4     /* and those that fill less than a quarter of a block:
                        a queue of them would hold four times its bytes */
};

struct outlet {
    void *socket;
    struct monitor *monitor;
    struct pool *blocks, *frames;
    struct load *load;
    struct buffer envelope; /* room for the next frame that is forwarded */
    char *endpoint;
    uint64_t file; /* of a bound ipc path */
    int hwm;
};

static bool open_socket(struct outlet *outlet, void *context,
                        const struct socket_options *options,
                        struct error *error)
{
    outlet->socket = socket_new(context, SOCKET_PUB, options, error);
    if (outlet->socket == NULL)
        return false;
    outlet->monitor = monitor_new(context, outlet->socket, error);
    if (outlet->monitor == NULL) {
        error_prefix(error, "%s", options->owner);
        return false;
    }
    return socket_attach(outlet->socket, options, error);
}

struct outlet *outlet_open(const struct wire *wire,
                           const struct socket_options *options,
                           struct error *error)
{
    struct outlet *outlet = memory_new(sizeof *outlet);

    outlet->blocks = wire->blocks;
    outlet->frames = wire->frames;
    outlet->load = load_new();
    outlet->hwm = options->hwm;
    if (!open_socket(outlet, wire->context, options, error)) {
        outlet_close(outlet);
        return NULL;
    }
    outlet->endpoint = socket_endpoint(outlet->socket);
    if (options->bind)
        outlet->file = endpoint_file(options->endpoint);
    return outlet;
}

void outlet_close(struct outlet *outlet)
{
    if (outlet == NULL)
        return;
    monitor_free(outlet->monitor);
    if (outlet->endpoint != NULL)
        endpoint_remove(outlet->endpoint, outlet->file);
    socket_close(outlet->socket);
    load_leave(outlet->load);
    buffer_free(&outlet->envelope);
    free(outlet->endpoint);
    free(outlet);
}

void outlet_configure(struct outlet *outlet,
                      const struct socket_options *options)
{
    if (outlet->hwm >= options->hwm)
        return;
    outlet->hwm = options->hwm;
    socket_raise_hwm(outlet->socket, options->hwm);
}

int outlet_hwm(const struct outlet *outlet)
{
    return outlet->hwm;
}

void outlet_reconnect(struct outlet *outlet)
{
    socket_reconnect(outlet->socket, outlet->endpoint);
}

void outlet_unbind(struct outlet *outlet)
{
    socket_release(outlet->socket, outlet->endpoint);
}

bool outlet_rebind(struct outlet *outlet, const struct socket_options *options,
                   struct error *error)
{
    if (!socket_attach(outlet->socket, options, error))
        return false;
    outlet->file = endpoint_file(options->endpoint);
    return true;
}

size_t outlet_load(const struct outlet *outlet)
{
    return load_bytes(outlet->load);
}

struct monitor *outlet_monitor(struct outlet *outlet)
{
    return outlet->monitor;
}

const char *outlet_endpoint(const struct outlet *outlet)
{
    return outlet->endpoint;
}

void outlet_service(struct outlet *outlet)
{
    socket_service(outlet->socket);
}

static bool send_bytes(struct outlet *outlet, const void *data, size_t size,
                       int more)
{
    int sent;

    do
        sent = zmq_send(outlet->socket, data, size, ZMQ_DONTWAIT | more);
    while (sent < 0 && errno == EINTR);
    return sent >= 0;
}

/* Takes the message, sent or not. */
static bool send_message(struct outlet *outlet, zmq_msg_t *message)
{
    int sent;

    do
        sent = zmq_msg_send(message, outlet->socket, ZMQ_DONTWAIT);
    while (sent < 0 && errno == EINTR);
    if (sent < 0)
        zmq_msg_close(message);
    return sent >= 0;
}

static bool send_head(struct outlet *outlet, const struct sink_head *head)
{
    uint8_t sequence[8];

    seq_write(head->sequence, sequence);
    return send_bytes(outlet, head->topic, head->topic_size, ZMQ_SNDMORE) &&
           send_bytes(outlet, sequence, sizeof sequence, ZMQ_SNDMORE);
}

static void return_block(void *data, void *block)
{
    (void)data;
    pool_return(block);
}

static bool is_worth_copying(const struct buffer *payload, size_t size)
{
    return size <= COPY_MAX || size < payload->capacity / FILL_MIN;
}

static bool sink_send(void *context, const struct sink_head *head,
                      struct buffer *payload, size_t start)
{
    struct outlet *outlet = context;
    size_t size = payload->size - start;
    struct pool_block *block;
    uint8_t *data = payload->data + start;
    zmq_msg_t message;

    if (!send_head(outlet, head))
        return false;
    if (is_worth_copying(payload, size))
        return send_bytes(outlet, data, size, 0);
    block = pool_lend(outlet->blocks, payload, outlet->load, payload->capacity);
    if (zmq_msg_init_data(&message, data, size, return_block, block) != 0) {
        pool_return(block);
        return false;
    }
    return send_message(outlet, &message);
}

static void return_frame(void *data, void *block)
{
    (void)data;
    zmq_msg_close(pool_content(block));
    pool_return(block);
}

/* A frame of ours around the one that came: libzmq says when it lets go. */
static bool wrap_frame(struct outlet *outlet, zmq_msg_t *origin,
                       zmq_msg_t *message)
{
    zmq_msg_t *inner = (void *)buffer_reserve(&outlet->envelope, sizeof *inner);
    size_t size = zmq_msg_size(origin);
    struct pool_block *block;

    zmq_msg_init(inner);
    if (zmq_msg_copy(inner, origin) != 0) {
        zmq_msg_close(inner);
        return false;
    }
    block = pool_lend(outlet->frames, &outlet->envelope, outlet->load, size);
    if (zmq_msg_init_data(message, zmq_msg_data(inner), size, return_frame,
                          block) == 0)
        return true;
    return_frame(NULL, block);
    return false;
}

static bool copy_frame(zmq_msg_t *origin, zmq_msg_t *message)
{
    zmq_msg_init(message);
    if (zmq_msg_copy(message, origin) == 0)
        return true;
    zmq_msg_close(message);
    return false;
}

static bool sink_forward(void *context, const struct sink_head *head,
                         const struct message *message)
{
    struct outlet *outlet = context;
    zmq_msg_t frame;
    bool taken;

    if (!send_head(outlet, head))
        return false;
    if (message->payload_size <= COPY_MAX)
        taken = copy_frame(message->origin, &frame);
    else
        taken = wrap_frame(outlet, message->origin, &frame);
    return taken && send_message(outlet, &frame);
}

struct sink outlet_sink(struct outlet *outlet)
{
    return (struct sink){
        .context = outlet, .send = sink_send, .forward = sink_forward};
}

#include "io/inlet.h"

#include "base/memory.h"
#include "io/endpoint.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <zmq.h>

enum { FRAMES = 3 }; /* topic, sequence, payload */

struct inlet {
    void *socket;
    struct monitor *monitor; /* NULL: not watched */
    char *endpoint;
    uint64_t file; /* of a bound ipc path */
    char *topic;
    int hwm;
    int descriptor;
    zmq_msg_t frames[INLET_FRAMES_MAX]; /* of the message in hand */
    size_t kept;                        /* that are held at the most */
    size_t held;                        /* that are held now */
};

static void subscribe(struct inlet *inlet, const char *topic)
{
    zmq_setsockopt(inlet->socket, ZMQ_SUBSCRIBE, topic, strlen(topic));
}

static bool open_socket(struct inlet *inlet, void *context,
                        const struct socket_options *options, bool watch,
                        struct error *error)
{
    inlet->socket = socket_new(context, SOCKET_SUB, options, error);
    if (inlet->socket == NULL)
        return false;
    subscribe(inlet, inlet->topic);
    if (watch) {
        inlet->monitor = monitor_new(context, inlet->socket, error);
        if (inlet->monitor == NULL) {
            error_prefix(error, "%s", options->owner);
            return false;
        }
    }
    return socket_attach(inlet->socket, options, error);
}

struct inlet *inlet_open(void *context, const struct socket_options *options,
                         const char *topic, bool watch, struct error *error)
{
    struct inlet *inlet = memory_new(sizeof *inlet);

    inlet->kept = FRAMES;
    for (int i = 0; i < INLET_FRAMES_MAX; i++)
        zmq_msg_init(&inlet->frames[i]);
    inlet->topic = memory_text(topic, strlen(topic));
    inlet->hwm = options->hwm;
    if (!open_socket(inlet, context, options, watch, error)) {
        inlet_close(inlet);
        return NULL;
    }
    inlet->endpoint = socket_endpoint(inlet->socket);
    if (options->bind)
        inlet->file = endpoint_file(options->endpoint);
    inlet->descriptor = socket_descriptor(inlet->socket);
    return inlet;
}

void inlet_close(struct inlet *inlet)
{
    if (inlet == NULL)
        return;
    inlet_release(inlet);
    monitor_free(inlet->monitor);
    if (inlet->endpoint != NULL)
        endpoint_remove(inlet->endpoint, inlet->file);
    socket_close(inlet->socket);
    free(inlet->endpoint);
    free(inlet->topic);
    free(inlet);
}

/* The new prefix is added before the old one goes: nothing falls between. */
static void change_topic(struct inlet *inlet, const char *topic)
{
    subscribe(inlet, topic);
    zmq_setsockopt(inlet->socket, ZMQ_UNSUBSCRIBE, inlet->topic,
                   strlen(inlet->topic));
    free(inlet->topic);
    inlet->topic = memory_text(topic, strlen(topic));
}

void inlet_configure(struct inlet *inlet, const struct socket_options *options,
                     const char *topic)
{
    if (inlet->hwm < options->hwm) {
        inlet->hwm = options->hwm;
        socket_raise_hwm(inlet->socket, options->hwm);
    }
    if (strcmp(inlet->topic, topic) != 0)
        change_topic(inlet, topic);
}

int inlet_hwm(const struct inlet *inlet)
{
    return inlet->hwm;
}

void inlet_reconnect(struct inlet *inlet)
{
    socket_reconnect(inlet->socket, inlet->endpoint);
}

void inlet_unbind(struct inlet *inlet)
{
    socket_release(inlet->socket, inlet->endpoint);
}

bool inlet_rebind(struct inlet *inlet, const struct socket_options *options,
                  struct error *error)
{
    if (!socket_attach(inlet->socket, options, error))
        return false;
    inlet->file = endpoint_file(options->endpoint);
    return true;
}

const char *inlet_endpoint(const struct inlet *inlet)
{
    return inlet->endpoint;
}

struct monitor *inlet_monitor(struct inlet *inlet)
{
    return inlet->monitor;
}

int inlet_descriptor(const struct inlet *inlet)
{
    return inlet->descriptor;
}

static bool receive_frame(struct inlet *inlet, zmq_msg_t *frame)
{
    int size;

    do
        size = zmq_msg_recv(frame, inlet->socket, ZMQ_DONTWAIT);
    while (size < 0 && errno == EINTR);
    return size >= 0;
}

/* Frames past those that are kept: libzmq has all of a message or nothing of
 * it, so taking them is no more than letting go of memory. */
static size_t discard_frames(struct inlet *inlet)
{
    size_t count = 0;
    zmq_msg_t frame;
    bool more = true;

    zmq_msg_init(&frame);
    while (more && receive_frame(inlet, &frame)) {
        count++;
        more = zmq_msg_more(&frame) != 0;
    }
    zmq_msg_close(&frame);
    return count;
}

/* How many frames the message has; 0: there is none. */
static size_t receive_frames(struct inlet *inlet)
{
    size_t count = 0;

    while (count < inlet->kept) {
        if (!receive_frame(inlet, &inlet->frames[count]))
            return count;
        if (!zmq_msg_more(&inlet->frames[count++]))
            return count;
    }
    return count + discard_frames(inlet);
}

bool inlet_receive(struct inlet *inlet, struct message *message)
{
    zmq_msg_t *sequence = &inlet->frames[1];
    zmq_msg_t *payload = &inlet->frames[2];
    size_t count = receive_frames(inlet);

    inlet->held = count < inlet->kept ? count : inlet->kept;
    *message = (struct message){.frames = count};
    if (count > 1) {
        message->sequence = zmq_msg_data(sequence);
        message->sequence_size = zmq_msg_size(sequence);
    }
    if (count > 2) {
        message->payload = zmq_msg_data(payload);
        message->payload_size = zmq_msg_size(payload);
        message->origin = payload;
    }
    return count > 0;
}

const uint8_t *inlet_topic(struct inlet *inlet, size_t *size)
{
    *size = zmq_msg_size(&inlet->frames[0]);
    return zmq_msg_data(&inlet->frames[0]);
}

void inlet_keep_frames(struct inlet *inlet)
{
    inlet->kept = INLET_FRAMES_MAX;
}

size_t inlet_frame_count(const struct inlet *inlet)
{
    return inlet->held;
}

const uint8_t *inlet_frame(struct inlet *inlet, size_t index, size_t *size)
{
    *size = zmq_msg_size(&inlet->frames[index]);
    return zmq_msg_data(&inlet->frames[index]);
}

void inlet_release(struct inlet *inlet)
{
    for (size_t i = 0; i < inlet->kept; i++) {
        zmq_msg_close(&inlet->frames[i]);
        zmq_msg_init(&inlet->frames[i]);
    }
}

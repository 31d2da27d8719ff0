#include "io/monitor.h"

#include "base/memory.h"
#include "io/socket.h"

#include <errno.h>
#include <inttypes.h>
#include <poll.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>
#include <zmq.h>

enum {
    ENDPOINT_MAX = 256,
    STUCK_LOOKS = 5, /* a busy peer has no room now and then, too */
    EVENTS = ZMQ_EVENT_CONNECTED | ZMQ_EVENT_ACCEPTED |
             ZMQ_EVENT_HANDSHAKE_SUCCEEDED | ZMQ_EVENT_DISCONNECTED |
             ZMQ_EVENT_HANDSHAKE_FAILED_NO_DETAIL |
             ZMQ_EVENT_HANDSHAKE_FAILED_PROTOCOL |
             ZMQ_EVENT_HANDSHAKE_FAILED_AUTH
};

struct connection {
    uint32_t descriptor;
    bool live;         /* its handshake is done */
    unsigned looks;    /* in a row at which it had no room */
    uint64_t stuck_ms; /* when the first of them was */
    uint64_t cookie;   /* of the kernel's socket then */
};

struct monitor {
    void *watched;
    void *pair;
    struct connection *connections; /* in the order they came about */
    size_t count, capacity;
    char endpoint[ENDPOINT_MAX]; /* of the last event */
    uint64_t refused[MONITOR_REFUSALS];
    enum monitor_refusal refusal; /* the last one */
    uint32_t reason;              /* of it, in libzmq's numbers */
};

struct monitor *monitor_new(void *context, void *socket, struct error *error)
{
    struct monitor *monitor = memory_new(sizeof *monitor);
    const int unbounded = 0; /* or a full queue would stop libzmq's thread */
    char address[64];

    monitor->watched = socket;
    snprintf(address, sizeof address, "inproc://monitor-%" PRIxPTR,
             (uintptr_t)socket);
    monitor->pair = zmq_socket(context, ZMQ_PAIR);
    if (monitor->pair == NULL ||
        zmq_setsockopt(monitor->pair, ZMQ_RCVHWM, &unbounded,
                       sizeof unbounded) != 0 ||
        zmq_socket_monitor(socket, address, EVENTS) != 0 ||
        zmq_connect(monitor->pair, address) != 0) {
        error_set(error, "cannot watch its connections: %s",
                  zmq_strerror(errno));
        monitor_free(monitor);
        return NULL;
    }
    return monitor;
}

void monitor_free(struct monitor *monitor)
{
    if (monitor == NULL)
        return;
    zmq_socket_monitor(monitor->watched, NULL, 0);
    socket_close(monitor->pair);
    free(monitor->connections);
    free(monitor);
}

int monitor_descriptor(const struct monitor *monitor)
{
    return socket_descriptor(monitor->pair);
}

size_t monitor_live(const struct monitor *monitor)
{
    size_t live = 0;

    for (size_t i = 0; i < monitor->count; i++)
        live += monitor->connections[i].live;
    return live;
}

static void add_connection(struct monitor *monitor, uint32_t descriptor)
{
    if (monitor->count == monitor->capacity) {
        monitor->capacity = monitor->capacity == 0 ? 4 : 2 * monitor->capacity;
        monitor->connections =
            memory_resize(monitor->connections,
                          monitor->capacity * sizeof *monitor->connections);
    }
    monitor->connections[monitor->count++] =
        (struct connection){.descriptor = descriptor};
}

/*
 * libzmq does not say whose handshake is done.  The youngest that waits is the
 * best guess: a publisher's takes a moment, a stranger's never ends.
 */
static enum monitor_change finish_handshake(struct monitor *monitor)
{
    for (size_t i = monitor->count; i-- > 0;) {
        if (!monitor->connections[i].live) {
            monitor->connections[i].live = true;
            return MONITOR_CONNECTED;
        }
    }
    return MONITOR_NOTHING;
}

static enum monitor_change drop_connection(struct monitor *monitor,
                                           uint32_t descriptor)
{
    for (size_t i = 0; i < monitor->count; i++) {
        struct connection *at = &monitor->connections[i];
        bool live = at->live;

        if (at->descriptor != descriptor)
            continue;
        memmove(at, at + 1, (--monitor->count - i) * sizeof *at);
        return live ? MONITOR_LOST : MONITOR_NOTHING;
    }
    return MONITOR_NOTHING;
}

static enum monitor_change refuse(struct monitor *monitor,
                                  enum monitor_refusal refusal, uint32_t reason)
{
    monitor->refused[refusal]++;
    monitor->refusal = refusal;
    monitor->reason = reason;
    return MONITOR_REFUSED;
}

uint64_t monitor_refused(const struct monitor *monitor,
                         enum monitor_refusal refusal)
{
    return monitor->refused[refusal];
}

enum monitor_refusal monitor_refusal(const struct monitor *monitor)
{
    return monitor->refusal;
}

const char *monitor_reason(const struct monitor *monitor)
{
    if (monitor->refusal == MONITOR_BY_KEY)
        return "the key or password is not let in";
    switch (monitor->reason) {
    case ZMQ_PROTOCOL_ERROR_ZMTP_MECHANISM_MISMATCH:
        return "one end speaks CURVE or PLAIN, the other does not";
    case ZMQ_PROTOCOL_ERROR_ZMTP_CRYPTOGRAPHIC:
    case ZMQ_PROTOCOL_ERROR_ZMTP_KEY_EXCHANGE:
        return "the client knows another server key";
    default:
        return "the peer went away, speaks another mechanism or no ZMTP";
    }
}

static enum monitor_change apply(struct monitor *monitor, unsigned event,
                                 uint32_t value)
{
    switch (event) {
    case ZMQ_EVENT_CONNECTED:
    case ZMQ_EVENT_ACCEPTED:
        add_connection(monitor, value);
        return MONITOR_NOTHING;
    case ZMQ_EVENT_HANDSHAKE_SUCCEEDED:
        return finish_handshake(monitor);
    case ZMQ_EVENT_HANDSHAKE_FAILED_AUTH:
        return refuse(monitor, MONITOR_BY_KEY, value);
    case ZMQ_EVENT_HANDSHAKE_FAILED_PROTOCOL:
    case ZMQ_EVENT_HANDSHAKE_FAILED_NO_DETAIL:
        return refuse(monitor, MONITOR_BY_HANDSHAKE, value);
    case ZMQ_EVENT_DISCONNECTED:
        return drop_connection(monitor, value);
    default:
        return MONITOR_NOTHING;
    }
}

/* One frame, cut to `room`; its size, or -1 when there is none. */
static int receive_frame(struct monitor *monitor, void *into, size_t room)
{
    int size;

    do
        size = zmq_recv(monitor->pair, into, room, ZMQ_DONTWAIT);
    while (size < 0 && errno == EINTR);
    return size;
}

enum monitor_change monitor_read(struct monitor *monitor, const char **endpoint)
{
    uint8_t head[6]; /* u16 event, u32 value, in the machine's order */
    uint16_t event;
    uint32_t value;
    int size;

    *endpoint = monitor->endpoint;
    while (receive_frame(monitor, head, sizeof head) == (int)sizeof head) {
        enum monitor_change change;

        size = receive_frame(monitor, monitor->endpoint, ENDPOINT_MAX - 1);
        if (size < 0)
            break;
        monitor->endpoint[size < ENDPOINT_MAX ? size : ENDPOINT_MAX - 1] = '\0';
        memcpy(&event, head, sizeof event);
        memcpy(&value, head + sizeof event, sizeof value);
        change = apply(monitor, event, value);
        if (change != MONITOR_NOTHING)
            return change;
    }
    return MONITOR_NOTHING;
}

/* ---- peers that do not read ---- */

/* What tells the kernel's sockets apart: descriptors are used again. */
static uint64_t cookie_of(int descriptor)
{
    uint64_t cookie = 0;
    socklen_t size = sizeof cookie;

    if (getsockopt(descriptor, SOL_SOCKET, SO_COOKIE, &cookie, &size) != 0)
        return 0;
    return cookie;
}

static bool has_room(int descriptor)
{
    struct pollfd item = {.fd = descriptor, .events = POLLOUT};

    return poll(&item, 1, 0) != 0; /* an error is libzmq's to see */
}

/* libzmq's thread may close the descriptor at any time: what is broken is a
 * copy of it, after a look whether it is the one that was stuck. */
static bool cut(const struct connection *connection)
{
    int copy = dup((int)connection->descriptor);
    bool done = copy >= 0 && cookie_of(copy) == connection->cookie &&
                shutdown(copy, SHUT_RDWR) == 0;

    if (copy >= 0)
        close(copy);
    return done;
}

size_t monitor_cut_stuck(struct monitor *monitor, uint64_t now_ms,
                         uint64_t patience_ms)
{
    size_t count = 0;

    for (size_t i = 0; i < monitor->count; i++) {
        struct connection *at = &monitor->connections[i];
        int descriptor = (int)at->descriptor;

        if (has_room(descriptor)) {
            at->looks = 0;
        } else if (at->looks++ == 0) {
            at->stuck_ms = now_ms;
            at->cookie = cookie_of(descriptor);
        } else if (now_ms - at->stuck_ms >= patience_ms &&
                   at->looks >= STUCK_LOOKS) {
            at->looks = 0;
            count += cut(at);
        }
    }
    return count;
}

void monitor_forgive(struct monitor *monitor)
{
    for (size_t i = 0; i < monitor->count; i++)
        monitor->connections[i].looks = 0;
}

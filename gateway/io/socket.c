#include "io/socket.h"

#include "base/memory.h"
#include "io/endpoint.h"

#include <ctype.h>
#include <errno.h>
#include <poll.h>
#include <string.h>
#include <zmq.h>

enum {
    IO_THREADS = 2,
    SOCKETS_MAX = 32768, /* streams, sources, and two to watch each */
    RECONNECT_FIRST_MS = 100,
    RECONNECT_MAX_MS = 1000,
    CONNECT_TIMEOUT_MS = 5000,
    HANDSHAKE_MS = 15000,  /* who says nothing for so long is shown out */
    KEEPALIVE_IDLE_S = 30, /* a peer that vanished is noticed in a minute */
    KEEPALIVE_INTERVAL_S = 10,
    KEEPALIVE_PROBES = 3,
    BIND_TRIES = 10,
    BIND_AGAIN_MS = 10,
    RELEASE_TRIES = 100,
    ENDPOINT_MAX = 1024
};

/* Bit masks of I/O threads. */
static const uint64_t affinity_of[] = {[SOCKET_SUB] = 1, [SOCKET_PUB] = 2};

static const int type_of[] = {[SOCKET_SUB] = ZMQ_SUB, [SOCKET_PUB] = ZMQ_PUB};

/* What libzmq's words for an address leave open. */
static const char *text_of(int number)
{
    switch (number) {
    case EINVAL:
        return "that is no address; expected tcp://HOST:PORT or ipc://PATH";
    case EPROTONOSUPPORT:
        return "unknown kind of address; expected tcp:// or ipc://";
    case ENODEV:
        return "this machine has no such address or interface";
    default:
        return zmq_strerror(number);
    }
}

/* The cause in the middle of a sentence. */
static void set_cause(struct error *error, int number)
{
    const char *text = text_of(number);

    error_set(error, "%c%s", tolower((unsigned char)text[0]), text + 1);
}

void *socket_context_new(struct error *error)
{
    void *context = zmq_ctx_new();

    if (context == NULL) {
        set_cause(error, errno);
        error_prefix(error, "cannot start libzmq");
        return NULL;
    }
    zmq_ctx_set(context, ZMQ_IO_THREADS, IO_THREADS);
    zmq_ctx_set(context, ZMQ_MAX_SOCKETS, SOCKETS_MAX);
    return context;
}

void socket_context_free(void *context)
{
    if (context == NULL)
        return;
    while (zmq_ctx_term(context) != 0 && errno == EINTR)
        continue;
}

static void set_number(void *socket, int option, int value)
{
    zmq_setsockopt(socket, option, &value, sizeof value);
}

static void set_liveness(void *socket)
{
    set_number(socket, ZMQ_RECONNECT_IVL, RECONNECT_FIRST_MS);
    set_number(socket, ZMQ_RECONNECT_IVL_MAX, RECONNECT_MAX_MS);
    set_number(socket, ZMQ_CONNECT_TIMEOUT, CONNECT_TIMEOUT_MS);
    set_number(socket, ZMQ_HANDSHAKE_IVL, HANDSHAKE_MS);
    set_number(socket, ZMQ_TCP_KEEPALIVE, 1);
    set_number(socket, ZMQ_TCP_KEEPALIVE_IDLE, KEEPALIVE_IDLE_S);
    set_number(socket, ZMQ_TCP_KEEPALIVE_INTVL, KEEPALIVE_INTERVAL_S);
    set_number(socket, ZMQ_TCP_KEEPALIVE_CNT, KEEPALIVE_PROBES);
}

bool socket_has_curve(void)
{
    return zmq_has("curve") != 0;
}

static bool set_text(void *socket, int option, const char *text)
{
    return zmq_setsockopt(socket, option, text, strlen(text)) == 0;
}

static bool set_curve(void *socket, const struct security *security)
{
    char public_key[Z85_KEY + 1];
    bool done = set_text(socket, ZMQ_CURVE_SECRETKEY, security->secret_key);

    if (security->server) {
        set_number(socket, ZMQ_CURVE_SERVER, 1);
        return done;
    }
    return done && zmq_curve_public(public_key, security->secret_key) == 0 &&
           set_text(socket, ZMQ_CURVE_PUBLICKEY, public_key) &&
           set_text(socket, ZMQ_CURVE_SERVERKEY, security->server_key);
}

static bool set_plain(void *socket, const struct security *security)
{
    if (security->server) {
        set_number(socket, ZMQ_PLAIN_SERVER, 1);
        return true;
    }
    return set_text(socket, ZMQ_PLAIN_USERNAME, security->username) &&
           set_text(socket, ZMQ_PLAIN_PASSWORD, security->password);
}

bool socket_secure(void *socket, const struct socket_options *options,
                   struct error *error)
{
    const struct security *security = options->security;
    bool done = true;

    if (security == NULL || security->kind == SECURITY_NONE)
        return true;
    if (security->kind == SECURITY_CURVE && !socket_has_curve()) {
        error_set(error, "%s: this libzmq is built without CURVE",
                  options->owner);
        return false;
    }
    if (security->kind == SECURITY_CURVE)
        done = set_curve(socket, security);
    else
        done = set_plain(socket, security);
    if (done && security->server && options->domain != NULL)
        done = set_text(socket, ZMQ_ZAP_DOMAIN, options->domain);
    if (!done)
        error_set(error, "%s: libzmq takes no such key or password",
                  options->owner);
    return done;
}

void *socket_new(void *context, enum socket_kind kind,
                 const struct socket_options *options, struct error *error)
{
    void *socket = zmq_socket(context, type_of[kind]);
    int64_t frame_max = SOCKET_FRAME_MAX;

    if (socket == NULL) {
        set_cause(error, errno);
        error_prefix(error, "%s: cannot make a socket", options->owner);
        return NULL;
    }
    zmq_setsockopt(socket, ZMQ_AFFINITY, &affinity_of[kind],
                   sizeof affinity_of[kind]);
    zmq_setsockopt(socket, ZMQ_MAXMSGSIZE, &frame_max, sizeof frame_max);
    set_number(socket, ZMQ_LINGER, kind == SOCKET_PUB ? SOCKET_LINGER_MS : 0);
    set_liveness(socket);
    socket_raise_hwm(socket, options->hwm);
    if (socket_secure(socket, options, error))
        return socket;
    zmq_close(socket);
    return NULL;
}

void socket_close(void *socket)
{
    if (socket != NULL)
        zmq_close(socket);
}

/*
 * libzmq gives an address up a moment after its socket was closed: one that a
 * reload took away and the next brings back may still be busy.
 */
static bool bind_patiently(void *socket, const char *endpoint)
{
    int tries = 0;

    while (zmq_bind(socket, endpoint) != 0) {
        if (errno != EADDRINUSE || ++tries == BIND_TRIES)
            return false;
        poll(NULL, 0, BIND_AGAIN_MS);
    }
    return true;
}

bool socket_attach(void *socket, const struct socket_options *options,
                   struct error *error)
{
    const char *endpoint = options->endpoint;
    bool done;

    set_number(socket, ZMQ_IPV6, endpoint_is_ipv6(endpoint));
    if (options->bind)
        done = endpoint_is_free(endpoint, error) &&
               bind_patiently(socket, endpoint);
    else
        done = zmq_connect(socket, endpoint) == 0;
    if (done)
        return true;
    if (!error_is_set(error))
        set_cause(error, errno);
    error_prefix(error, "%s: cannot %s %s", options->owner,
                 options->bind ? "bind" : "connect to", endpoint);
    return false;
}

/* libzmq's own thread does it; and it removes an ipc path as the last thing,
 * whoever has bound it by then. */
void socket_release(void *socket, const char *endpoint)
{
    int tries = 0;

    if (zmq_unbind(socket, endpoint) != 0)
        return;
    while (endpoint_file(endpoint) != 0 && ++tries < RELEASE_TRIES)
        poll(NULL, 0, BIND_AGAIN_MS);
}

void socket_reconnect(void *socket, const char *endpoint)
{
    zmq_disconnect(socket, endpoint);
    zmq_connect(socket, endpoint);
}

char *socket_endpoint(void *socket)
{
    char endpoint[ENDPOINT_MAX] = "";
    size_t size = sizeof endpoint;

    zmq_getsockopt(socket, ZMQ_LAST_ENDPOINT, endpoint, &size);
    return memory_text(endpoint, strlen(endpoint));
}

int socket_descriptor(void *socket)
{
    int descriptor = -1;
    size_t size = sizeof descriptor;

    zmq_getsockopt(socket, ZMQ_FD, &descriptor, &size);
    return descriptor;
}

void socket_raise_hwm(void *socket, int hwm)
{
    set_number(socket, ZMQ_SNDHWM, hwm);
    set_number(socket, ZMQ_RCVHWM, hwm);
}

void socket_service(void *socket)
{
    int events;
    size_t size = sizeof events;

    zmq_getsockopt(socket, ZMQ_EVENTS, &events, &size);
}

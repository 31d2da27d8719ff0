#include "io/zap.h"

#include "base/log.h"
#include "base/memory.h"
#include "base/secret.h"
#include "io/socket.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zmq.h>

/* The frames of a request, in this order; libzmq's own, so never more. */
enum {
    FRAME_VERSION = 0,
    FRAME_REQUEST,
    FRAME_DOMAIN,
    FRAME_ADDRESS,
    FRAME_IDENTITY,
    FRAME_MECHANISM,
    FRAME_CREDENTIALS, /* CURVE: the key; PLAIN: name, then password */
    FRAMES = FRAME_CREDENTIALS + 2
};

struct frame {
    size_t size;
    uint8_t bytes[512]; /* longer ones are cut: nothing that we take is */
};

struct request {
    struct frame frames[FRAMES];
    size_t count;
};

struct door {
    uint64_t number;
    char owner[160];
    const struct security *security;
};

struct zap {
    void *socket;
    uint64_t last; /* number given out */
    struct door *doors;
    size_t count, capacity;
    struct log_gate gate;
};

struct zap *zap_new(void *context, struct error *error)
{
    struct zap *zap = memory_new(sizeof *zap);

    snprintf(zap->gate.about, sizeof zap->gate.about, "strangers");
    zap->socket = zmq_socket(context, ZMQ_REP);
    if (zap->socket != NULL &&
        zmq_bind(zap->socket, "inproc://zeromq.zap.01") == 0)
        return zap;
    error_set(error, "cannot serve authentication: %s", zmq_strerror(errno));
    zap_free(zap);
    return NULL;
}

void zap_free(struct zap *zap)
{
    if (zap == NULL)
        return;
    socket_close(zap->socket);
    log_gate_end(&zap->gate);
    free(zap->doors);
    free(zap);
}

int zap_descriptor(const struct zap *zap)
{
    return socket_descriptor(zap->socket);
}

/* ---- doors ---- */

static struct door *find_door(const struct zap *zap, uint64_t number)
{
    for (size_t i = 0; i < zap->count; i++)
        if (zap->doors[i].number == number)
            return &zap->doors[i];
    return NULL;
}

uint64_t zap_open_door(struct zap *zap, const char *owner,
                       const struct security *security)
{
    if (zap->count == zap->capacity) {
        zap->capacity = zap->capacity == 0 ? 4 : 2 * zap->capacity;
        zap->doors =
            memory_resize(zap->doors, zap->capacity * sizeof *zap->doors);
    }
    zap->doors[zap->count++] = (struct door){.number = ++zap->last};
    zap_set_door(zap, zap->last, owner, security);
    return zap->last;
}

void zap_set_door(struct zap *zap, uint64_t number, const char *owner,
                  const struct security *security)
{
    struct door *door = find_door(zap, number);

    if (door == NULL)
        return;
    door->security = security;
    snprintf(door->owner, sizeof door->owner, "%s", owner);
}

void zap_close_door(struct zap *zap, uint64_t number)
{
    struct door *door = find_door(zap, number);

    if (door != NULL)
        *door = zap->doors[--zap->count];
}

void zap_domain(uint64_t number, char domain[ZAP_DOMAIN])
{
    snprintf(domain, ZAP_DOMAIN, "%" PRIu64, number);
}

/* ---- requests ---- */

static bool receive_frame(struct zap *zap, struct frame *frame, bool *more)
{
    size_t room = sizeof frame->bytes;
    int value;
    size_t value_size = sizeof value;
    int size;

    do
        size = zmq_recv(zap->socket, frame->bytes, room, ZMQ_DONTWAIT);
    while (size < 0 && errno == EINTR);
    if (size < 0)
        return false;
    frame->size = (size_t)size < room ? (size_t)size : room;
    zmq_getsockopt(zap->socket, ZMQ_RCVMORE, &value, &value_size);
    *more = value != 0;
    return true;
}

/* All frames of one request; those past the known ones are let go. */
static bool receive_request(struct zap *zap, struct request *request)
{
    struct frame spare;
    bool more = true;

    request->count = 0;
    while (more) {
        bool known = request->count < FRAMES;

        if (!receive_frame(
                zap, known ? &request->frames[request->count] : &spare, &more))
            return false;
        request->count += known;
    }
    return true;
}

static bool frame_is(const struct frame *frame, const char *text)
{
    return frame->size == strlen(text) &&
           memcmp(frame->bytes, text, frame->size) == 0;
}

static struct door *asked_door(const struct zap *zap,
                               const struct request *request)
{
    char domain[ZAP_DOMAIN];

    for (size_t i = 0; i < zap->count; i++) {
        zap_domain(zap->doors[i].number, domain);
        if (frame_is(&request->frames[FRAME_DOMAIN], domain))
            return &zap->doors[i];
    }
    return NULL;
}

static bool curve_is_let_in(const struct security *security,
                            const struct request *request)
{
    const struct frame *key = &request->frames[FRAME_CREDENTIALS];

    return request->count == FRAME_CREDENTIALS + 1 && key->size == Z85_BYTES &&
           security_is_listed(security, key->bytes);
}

static bool plain_is_let_in(const struct security *security,
                            const struct request *request)
{
    const struct frame *name = &request->frames[FRAME_CREDENTIALS];
    const struct frame *password = &request->frames[FRAME_CREDENTIALS + 1];
    bool named, trusted;

    if (request->count != FRAME_CREDENTIALS + 2)
        return false;
    /* Both, whatever the first says: how long it takes tells nothing. */
    named = secret_equals(security->username, strlen(security->username),
                          name->bytes, name->size);
    trusted = secret_equals(security->password, strlen(security->password),
                            password->bytes, password->size);
    return named && trusted;
}

static bool is_let_in(const struct door *door, const struct request *request)
{
    const struct frame *mechanism = &request->frames[FRAME_MECHANISM];

    if (request->count <= FRAME_CREDENTIALS)
        return false;
    if (door->security->kind == SECURITY_CURVE)
        return frame_is(mechanism, "CURVE") &&
               curve_is_let_in(door->security, request);
    return frame_is(mechanism, "PLAIN") &&
           plain_is_let_in(door->security, request);
}

/* A public key may be shown: that is how it gets on the list. */
static void tell_refusal(struct zap *zap, const struct door *door,
                         const struct request *request)
{
    const struct frame *address = &request->frames[FRAME_ADDRESS];
    const struct frame *key = &request->frames[FRAME_CREDENTIALS];
    char text[Z85_KEY + 1] = "";
    int width = (int)address->size;

    if (frame_is(&request->frames[FRAME_MECHANISM], "CURVE") &&
        key->size == Z85_BYTES &&
        zmq_z85_encode(text, key->bytes, Z85_BYTES) != NULL)
        log_gated(&zap->gate, LOG_WARN,
                  "%s: refused %.*s, whose key is not allowed: %s", door->owner,
                  width, (const char *)address->bytes, text);
    else
        log_gated(&zap->gate, LOG_WARN, "%s: refused %.*s: wrong password",
                  door->owner, width, (const char *)address->bytes);
}

static void send_text(struct zap *zap, const char *text, int more)
{
    zmq_send(zap->socket, text, strlen(text), ZMQ_DONTWAIT | more);
}

static void answer(struct zap *zap, const struct request *request, bool let_in)
{
    const struct frame *id = &request->frames[FRAME_REQUEST];

    send_text(zap, "1.0", ZMQ_SNDMORE);
    zmq_send(zap->socket, id->bytes, request->count > 1 ? id->size : 0,
             ZMQ_DONTWAIT | ZMQ_SNDMORE);
    send_text(zap, let_in ? "200" : "400", ZMQ_SNDMORE);
    send_text(zap, let_in ? "OK" : "not allowed", ZMQ_SNDMORE);
    send_text(zap, "", ZMQ_SNDMORE);
    send_text(zap, "", 0);
}

void zap_serve(struct zap *zap)
{
    struct request request;

    log_gate_tick(&zap->gate);
    while (receive_request(zap, &request)) {
        const struct door *door = asked_door(zap, &request);
        bool let_in = door != NULL && is_let_in(door, &request);

        if (door != NULL && !let_in)
            tell_refusal(zap, door, &request);
        answer(zap, &request, let_in);
    }
    secret_wipe(&request, sizeof request); /* passwords */
}

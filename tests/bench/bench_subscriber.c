/*
 * bench_subscriber - counts what arrives on N sockets
 *
 *   bench_subscriber LEDGER QUEUE SOCKETS STEP TIMES
 *
 * Binds SOCKETS loopback ports and prints their endpoints.  On each socket the
 * numbers must grow by STEP (a round robin of N passes every Nth on).  TIMES 1:
 * takes every event's time from send to here, which costs a decoding with
 * msgpack-c; 0: only counts.
 *
 * When the publisher has sent all and all has arrived, or nothing more comes,
 * prints one line of JSON: events and messages received, events that were sent,
 * seconds from first to last, gaps, and percentiles in ns.
 */
#include "check.h"
#include "histogram.h"
#include "ledger.h"

#include <endian.h>
#include <inttypes.h>
#include <msgpack.h>
#include <string.h>
#include <zmq.h>

enum {
    SOCKETS_MAX = 64,
    POLL_MS = 20,
    QUIET_POLLS = 50, /* all was sent and so many polls found nothing */
    BURST = 64,       /* messages of one socket before the next */
};

struct counters {
    uint64_t events, messages, gaps;
    uint64_t first_ns, last_ns;
};

struct subscriber {
    struct ledger *ledger;
    zmq_pollitem_t items[SOCKETS_MAX];
    uint64_t last[SOCKETS_MAX]; /* number of the last message */
    int sockets;
    uint64_t step;
    int quiet; /* polls in a row that found nothing */
    bool timed;
    struct counters counters;
    struct histogram latency;
    msgpack_unpacked unpacked;
};

/* [timestamp, [event, …], rank]: the timestamp is cf, the count one of three
 * forms.  Decoding no more keeps the subscriber out of the way. */
static uint32_t count_events(const uint8_t *payload, size_t size)
{
    uint16_t count;

    check(size > 12 && payload[0] == 0x93 && payload[1] == 0xcf, "a payload");
    if (payload[10] >> 4 == 9)
        return payload[10] & 15;
    check(payload[10] == 0xdc, "an array of events");
    memcpy(&count, payload + 11, sizeof count);
    return be16toh(count);
}

static uint64_t id_of(const msgpack_object_map *event)
{
    for (uint32_t i = 0; i < event->size; i++) {
        const msgpack_object_str *key = &event->ptr[i].key.via.str;

        if (key->size == 8 && memcmp(key->ptr, "event_id", 8) == 0)
            return event->ptr[i].val.via.u64;
    }
    check(false, "an event_id");
    return 0;
}

static void time_events(struct subscriber *subscriber, const uint8_t *payload,
                        size_t size, uint64_t now)
{
    struct ledger *ledger = subscriber->ledger;
    uint64_t first = atomic_load(&ledger->first_id);
    uint64_t batch = atomic_load(&ledger->events);
    const msgpack_object_array *events;

    check(msgpack_unpack_next(&subscriber->unpacked, (const char *)payload,
                              size, NULL) == MSGPACK_UNPACK_SUCCESS,
          "msgpack");
    events = &subscriber->unpacked.data.via.array.ptr[1].via.array;
    for (uint32_t i = 0; i < events->size; i++) {
        uint64_t message = (id_of(&events->ptr[i].via.map) - first) / batch;
        uint64_t sent =
            atomic_load(&ledger->sent_ns[message % LEDGER_MESSAGES]);

        histogram_add(&subscriber->latency, now - sent);
    }
}

static bool is_of_run(const struct subscriber *subscriber,
                      const uint8_t *payload)
{
    uint64_t run = atomic_load(&subscriber->ledger->run_ms);
    uint64_t made;

    memcpy(&made, payload + 2, sizeof made);
    return run != 0 && be64toh(made) >= run;
}

static void count_message(struct counters *counters, uint32_t events,
                          uint64_t now)
{
    if (counters->messages == 0)
        counters->first_ns = now;
    counters->last_ns = now;
    counters->messages++;
    counters->events += events;
}

static void take_message(struct subscriber *subscriber, int socket,
                         uint64_t number, const uint8_t *payload, size_t size)
{
    uint64_t now = ledger_now();
    uint32_t events = count_events(payload, size);
    bool of_run = is_of_run(subscriber, payload);

    if (of_run)
        count_message(&subscriber->counters, events, now);
    if (of_run && subscriber->timed)
        time_events(subscriber, payload, size, now);
    if (of_run && number != subscriber->last[socket] + subscriber->step)
        subscriber->counters.gaps++;
    subscriber->last[socket] = number;
    atomic_fetch_add(&subscriber->ledger->received, events);
}

/* One message; false: none is waiting. */
static bool receive(struct subscriber *subscriber, int index)
{
    void *socket = subscriber->items[index].socket;
    zmq_msg_t frame;
    uint64_t number;

    zmq_msg_init(&frame);
    if (zmq_msg_recv(&frame, socket, ZMQ_DONTWAIT) < 0)
        return false;
    check(zmq_msg_recv(&frame, socket, 0) == sizeof number, "a number");
    memcpy(&number, zmq_msg_data(&frame), sizeof number);
    check(zmq_msg_recv(&frame, socket, 0) >= 0, "a payload");
    take_message(subscriber, index, be64toh(number), zmq_msg_data(&frame),
                 zmq_msg_size(&frame));
    zmq_msg_close(&frame);
    return true;
}

static void note_joined(struct subscriber *subscriber)
{
    for (int i = 0; i < subscriber->sockets; i++)
        if (subscriber->last[i] == 0)
            return;
    atomic_store(&subscriber->ledger->joined, 1);
}

static void receive_waiting(struct subscriber *subscriber)
{
    int ready = zmq_poll(subscriber->items, subscriber->sockets, POLL_MS);

    check(ready >= 0, "poll");
    subscriber->quiet = ready == 0 ? subscriber->quiet + 1 : 0;
    for (int i = 0; i < subscriber->sockets; i++)
        for (int burst = 0; burst < BURST && subscriber->items[i].revents != 0;
             burst++)
            if (!receive(subscriber, i))
                break;
    if (!atomic_load(&subscriber->ledger->joined))
        note_joined(subscriber);
}

static bool is_done(const struct subscriber *subscriber)
{
    if (!atomic_load(&subscriber->ledger->done))
        return false;
    return subscriber->counters.events ==
               atomic_load(&subscriber->ledger->sent) ||
           subscriber->quiet >= QUIET_POLLS;
}

static void open_socket(struct subscriber *subscriber, void *context, int queue)
{
    void *socket = zmq_socket(context, ZMQ_SUB);
    char endpoint[256];
    size_t size = sizeof endpoint;

    check(zmq_setsockopt(socket, ZMQ_SUBSCRIBE, "", 0) == 0, "ZMQ_SUBSCRIBE");
    check(zmq_setsockopt(socket, ZMQ_RCVHWM, &queue, sizeof queue) == 0,
          "QUEUE");
    check(zmq_bind(socket, "tcp://127.0.0.1:*") == 0, "bind");
    check(zmq_getsockopt(socket, ZMQ_LAST_ENDPOINT, endpoint, &size) == 0,
          "bind");
    puts(endpoint);
    subscriber->items[subscriber->sockets++] =
        (zmq_pollitem_t){.socket = socket, .events = ZMQ_POLLIN};
}

static void tell(const struct subscriber *subscriber)
{
    const struct counters *counters = &subscriber->counters;

    printf("{\"events\": %" PRIu64 ", \"sent\": %" PRIu64
           ", \"messages\": %" PRIu64 ", \"gaps\": %" PRIu64
           ", \"seconds\": %.6f, \"p50\": %" PRIu64 ", \"p99\": %" PRIu64 "}\n",
           counters->events, atomic_load(&subscriber->ledger->sent),
           counters->messages, counters->gaps,
           (double)(counters->last_ns - counters->first_ns) / 1e9,
           histogram_percentile(&subscriber->latency, 0.50),
           histogram_percentile(&subscriber->latency, 0.99));
}

int main(int count, char **arguments)
{
    static struct subscriber subscriber;
    void *context = zmq_ctx_new();
    long sockets;

    check(count == 6, "five arguments");
    subscriber.ledger = ledger_open(arguments[1]);
    sockets = strtol(arguments[3], NULL, 10);
    check(sockets >= 1 && sockets <= SOCKETS_MAX, "SOCKETS");
    subscriber.step = strtoul(arguments[4], NULL, 10);
    subscriber.timed = strtoul(arguments[5], NULL, 10) != 0;
    msgpack_unpacked_init(&subscriber.unpacked);
    for (long i = 0; i < sockets; i++)
        open_socket(&subscriber, context, (int)strtol(arguments[2], NULL, 10));
    fflush(stdout);
    while (!is_done(&subscriber))
        receive_waiting(&subscriber);
    tell(&subscriber);
    return 0;
}

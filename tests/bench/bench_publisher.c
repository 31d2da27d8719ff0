/*
 * bench_publisher - the generated stream on a PUB socket
 *
 *   bench_publisher LEDGER QUEUE ENDPOINT EVENTS RATE SECONDS
 *
 * EVENTS a message, RATE events a second.  RATE 0 is as fast as the slowest
 * part takes it: two fifths of QUEUE messages at the most between here and the
 * subscriber (libzmq gives room back in halves of a queue), and ZMQ_XPUB_NODROP
 * besides.  With a rate it is the dropping PUB of a real master.  ENDPOINT
 * is bound, or connected when it starts with ">".
 *
 * Prints the endpoint, then "ready" once all is joined, warm and quiet; a line
 * on standard input starts the run.
 */
#include "check.h"
#include "ledger.h"
#include "traffic.h"

#include <endian.h>
#include <string.h>
#include <sys/prctl.h>
#include <time.h>
#include <zmq.h>

/* Patience is counted in naps, not by the clock: a machine that stands still
 * for a second must not look like a loss. */
enum {
    WARM_EVENTS = 1 << 16, /* without a rate, or so many messages */
    WARM_MESSAGES = 4000,
    NAP_NS = 100000,        /* between two looks at the ledger */
    QUIET_NAPS = 2000,      /* without an arrival: nothing is under way */
    STUCK_NAPS = 20000,     /* without an arrival: something is lost */
    RUN_AFTER_NS = 3000000, /* so that no older message has its millisecond */
};

static const double warm_seconds = 0.5; /* with a rate */

struct publisher {
    void *socket;
    struct ledger *ledger;
    struct traffic *traffic;
    unsigned events; /* in a message */
    uint64_t window; /* events in flight at the most, without a rate */
    double rate;     /* events a second; 0: as fast as they are taken */
    uint64_t sequence;
    uint64_t sent; /* events since `base` */
    uint64_t base; /* what the ledger said had arrived at that time */
};

static void wait_until(uint64_t moment_ns)
{
    struct timespec moment = {.tv_sec = (time_t)(moment_ns / 1000000000),
                              .tv_nsec = (long)(moment_ns % 1000000000)};

    clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &moment, NULL);
}

static void take_a_nap(void)
{
    wait_until(ledger_now() + NAP_NS);
}

static uint64_t wall_ms(void)
{
    struct timespec now;

    clock_gettime(CLOCK_REALTIME, &now);
    return (uint64_t)now.tv_sec * 1000 + (uint64_t)now.tv_nsec / 1000000;
}

static void send_message(struct publisher *publisher)
{
    struct traffic_payload payload =
        traffic_next(publisher->traffic, wall_ms());
    uint64_t sequence = htobe64(++publisher->sequence);

    check(zmq_send(publisher->socket, "", 0, ZMQ_SNDMORE) >= 0, "send");
    check(zmq_send(publisher->socket, &sequence, sizeof sequence,
                   ZMQ_SNDMORE) >= 0,
          "send");
    check(zmq_send(publisher->socket, payload.data, payload.size, 0) >= 0,
          "send");
    publisher->sent += publisher->events;
}

static uint64_t arrived(const struct publisher *publisher)
{
    return atomic_load(&publisher->ledger->received);
}

static uint64_t in_flight(const struct publisher *publisher)
{
    return publisher->sent + publisher->base - arrived(publisher);
}

/* Until at most `events` are in flight; false: nothing arrives any more. */
static bool wait_for_flight(const struct publisher *publisher, uint64_t events,
                            int patience)
{
    uint64_t before = in_flight(publisher);

    for (int naps = 0; before > events && naps < patience; naps++) {
        uint64_t now;

        take_a_nap();
        now = in_flight(publisher);
        if (now != before)
            naps = 0;
        before = now;
    }
    return before <= events;
}

/* What is sent from here on counts from 0. */
static void start_over(struct publisher *publisher)
{
    publisher->base = arrived(publisher);
    publisher->sent = 0;
}

/* Refill at the half, as a full queue of libzmq would. */
static bool wait_for_room(const struct publisher *publisher)
{
    return in_flight(publisher) < publisher->window ||
           wait_for_flight(publisher, publisher->window / 2, STUCK_NAPS);
}

static void send_freely(struct publisher *publisher, uint64_t messages,
                        double seconds)
{
    struct ledger *ledger = publisher->ledger;
    uint64_t end = ledger_now() + (uint64_t)(seconds * 1e9);

    for (uint64_t i = 0; i < messages && wait_for_room(publisher); i++) {
        uint64_t now = ledger_now();

        if (now >= end)
            break;
        atomic_store(&ledger->sent_ns[i % LEDGER_MESSAGES], now);
        send_message(publisher);
    }
}

static void send_paced(struct publisher *publisher, double seconds)
{
    struct ledger *ledger = publisher->ledger;
    double per_second = publisher->rate / publisher->events;
    uint64_t messages = (uint64_t)(seconds * per_second);
    uint64_t start = ledger_now();

    for (uint64_t i = 0; i < messages; i++) {
        uint64_t due = start + (uint64_t)((double)i / per_second * 1e9);

        if (due > ledger_now())
            wait_until(due);
        atomic_store(&ledger->sent_ns[i % LEDGER_MESSAGES], ledger_now());
        send_message(publisher);
    }
}

static void join(struct publisher *publisher)
{
    while (!atomic_load(&publisher->ledger->joined)) {
        send_message(publisher);
        wait_until(ledger_now() + 5 * NAP_NS);
    }
    wait_until(ledger_now() + QUIET_NAPS * NAP_NS);
    start_over(publisher);
}

static void warm_up(struct publisher *publisher)
{
    uint64_t messages = WARM_EVENTS / publisher->events;

    if (publisher->rate != 0)
        send_paced(publisher, warm_seconds);
    else
        send_freely(publisher,
                    messages < WARM_MESSAGES ? messages : WARM_MESSAGES, 60);
    wait_for_flight(publisher, 0, QUIET_NAPS);
    start_over(publisher);
}

static void run(struct publisher *publisher, double seconds)
{
    struct ledger *ledger = publisher->ledger;

    atomic_store(&ledger->first_id,
                 TRAFFIC_FIRST_ID + publisher->sequence * publisher->events);
    wait_until(ledger_now() + RUN_AFTER_NS);
    atomic_store(&ledger->run_ms, wall_ms());
    if (publisher->rate != 0)
        send_paced(publisher, seconds);
    else
        send_freely(publisher, UINT64_MAX, seconds);
    atomic_store(&ledger->sent, publisher->sent);
    atomic_store(&ledger->done, 1);
}

static void open_socket(struct publisher *publisher, const char *endpoint,
                        int queue)
{
    void *socket = zmq_socket(zmq_ctx_new(), ZMQ_PUB);
    int nodrop = publisher->rate == 0;
    char bound[256];
    size_t size = sizeof bound;

    check(zmq_setsockopt(socket, ZMQ_XPUB_NODROP, &nodrop, sizeof nodrop) == 0,
          "ZMQ_XPUB_NODROP");
    check(zmq_setsockopt(socket, ZMQ_SNDHWM, &queue, sizeof queue) == 0,
          "QUEUE");
    if (endpoint[0] == '>')
        check(zmq_connect(socket, endpoint + 1) == 0, endpoint);
    else
        check(zmq_bind(socket, endpoint) == 0, endpoint);
    check(zmq_getsockopt(socket, ZMQ_LAST_ENDPOINT, bound, &size) == 0,
          endpoint);
    publisher->socket = socket;
    puts(bound);
    fflush(stdout);
}

int main(int count, char **arguments)
{
    struct publisher publisher = {0};
    int queue;

    check(count == 7, "six arguments");
    prctl(PR_SET_TIMERSLACK, 1);
    publisher.ledger = ledger_open(arguments[1]);
    publisher.events = (unsigned)strtoul(arguments[4], NULL, 10);
    check(publisher.events >= 1 && publisher.events <= TRAFFIC_EVENTS_MAX,
          "EVENTS");
    atomic_store(&publisher.ledger->events, publisher.events);
    queue = (int)strtol(arguments[2], NULL, 10);
    publisher.window = (uint64_t)queue * 2 / 5 * publisher.events;
    publisher.rate = strtod(arguments[5], NULL);
    publisher.traffic = traffic_new(publisher.events);
    open_socket(&publisher, arguments[3], queue);
    join(&publisher);
    warm_up(&publisher);
    puts("ready");
    fflush(stdout);
    if (getchar() == EOF)
        return 1;
    run(&publisher, strtod(arguments[6], NULL));
    getchar(); /* keep the socket open until all of it is out */
    return 0;
}

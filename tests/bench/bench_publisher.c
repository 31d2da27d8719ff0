/*
 * bench_publisher - the generated stream on a PUB socket
 *
 *   bench_publisher LEDGER ENDPOINT EVENTS RATE SECONDS
 *
 * EVENTS a message, RATE events a second.  RATE 0 is as fast as the slowest
 * part takes it: at most IN_FLIGHT messages between here and the subscriber,
 * and ZMQ_XPUB_NODROP besides.  With a rate it is the dropping PUB of a real
 * master. ENDPOINT is bound, or connected when it starts with ">".
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

enum {
    IN_FLIGHT = 400, /* messages: libzmq gives room back in halves of 1000 */
    WARM_EVENTS = 1 << 16,
    WARM_MESSAGES = 4000,
    WAIT_NS = 100000, /* between two looks at the ledger */
    QUIET_NS =
        50000000, /* nothing arrived for so long: nothing is on its way */
    STUCK_NS = 2000000000 /* nothing arrived for so long: something is lost */
};

struct publisher {
    void *socket;
    struct ledger *ledger;
    struct traffic *traffic;
    unsigned events; /* in a message */
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
    wait_until(ledger_now() + WAIT_NS);
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

/* Until nothing arrives any more; what is sent from here on counts from 0. */
static void settle(struct publisher *publisher)
{
    uint64_t seen = arrived(publisher);
    uint64_t since = ledger_now();

    while (ledger_now() - since < QUIET_NS) {
        take_a_nap();
        if (arrived(publisher) == seen)
            continue;
        seen = arrived(publisher);
        since = ledger_now();
    }
    publisher->base = seen;
    publisher->sent = 0;
}

static bool wait_for_room(struct publisher *publisher)
{
    uint64_t seen = arrived(publisher);
    uint64_t since = ledger_now();
    uint64_t window = (uint64_t)IN_FLIGHT * publisher->events;

    if (publisher->sent + publisher->base - seen < window)
        return true;
    /* Refill at the half, as a full queue of libzmq would. */
    while (publisher->sent + publisher->base - seen > window / 2) {
        take_a_nap();
        if (arrived(publisher) != seen)
            since = ledger_now();
        else if (ledger_now() - since > STUCK_NS)
            return false;
        seen = arrived(publisher);
    }
    return true;
}

static void join(struct publisher *publisher)
{
    while (!atomic_load(&publisher->ledger->joined)) {
        send_message(publisher);
        wait_until(ledger_now() + 5 * WAIT_NS);
    }
    settle(publisher);
}

static void warm_up(struct publisher *publisher)
{
    unsigned messages = WARM_EVENTS / publisher->events;

    atomic_store(&publisher->ledger->phase, LEDGER_WARM);
    for (unsigned i = 0; i < messages && i < WARM_MESSAGES; i++)
        if (wait_for_room(publisher))
            send_message(publisher);
    settle(publisher);
}

static void run(struct publisher *publisher, double rate, double seconds)
{
    struct ledger *ledger = publisher->ledger;
    double gap = rate == 0 ? 0 : 1e9 * publisher->events / rate;
    uint64_t start = ledger_now();

    for (uint64_t i = 0;; i++) {
        uint64_t due = start + (uint64_t)((double)i * gap);

        if (rate == 0 && !wait_for_room(publisher))
            break;
        if (rate != 0 && due > ledger_now())
            wait_until(due);
        if ((double)((rate == 0 ? ledger_now() : due) - start) >= seconds * 1e9)
            break;
        atomic_store(&ledger->sent_ns[i % LEDGER_MESSAGES], ledger_now());
        send_message(publisher);
    }
}

static void publisher_open(struct publisher *publisher, void *context,
                           const char *endpoint, bool drop)
{
    int nodrop = !drop;
    char bound[256];
    size_t size = sizeof bound;

    publisher->socket = zmq_socket(context, ZMQ_PUB);
    check(zmq_setsockopt(publisher->socket, ZMQ_XPUB_NODROP, &nodrop,
                         sizeof nodrop) == 0,
          "ZMQ_XPUB_NODROP");
    if (endpoint[0] == '>')
        check(zmq_connect(publisher->socket, endpoint + 1) == 0, endpoint);
    else
        check(zmq_bind(publisher->socket, endpoint) == 0, endpoint);
    check(zmq_getsockopt(publisher->socket, ZMQ_LAST_ENDPOINT, bound, &size) ==
              0,
          endpoint);
    puts(bound);
    fflush(stdout);
}

int main(int count, char **arguments)
{
    struct publisher publisher = {0};
    double rate, seconds;

    check(count == 6, "five arguments");
    prctl(PR_SET_TIMERSLACK, 1);
    publisher.ledger = ledger_open(arguments[1]);
    publisher.events = (unsigned)strtoul(arguments[3], NULL, 10);
    check(publisher.events >= 1 && publisher.events <= TRAFFIC_EVENTS_MAX,
          "EVENTS");
    atomic_store(&publisher.ledger->events, publisher.events);
    rate = strtod(arguments[4], NULL);
    seconds = strtod(arguments[5], NULL);
    publisher.traffic = traffic_new(publisher.events);
    publisher_open(&publisher, zmq_ctx_new(), arguments[2], rate != 0);
    join(&publisher);
    warm_up(&publisher);
    puts("ready");
    fflush(stdout);
    if (getchar() == EOF)
        return 1;
    atomic_store(&publisher.ledger->first_id,
                 TRAFFIC_FIRST_ID + publisher.sequence * publisher.events);
    atomic_store(&publisher.ledger->phase, LEDGER_RUN);
    run(&publisher, rate, seconds);
    atomic_store(&publisher.ledger->sent, publisher.sent);
    atomic_store(&publisher.ledger->phase, LEDGER_SENT);
    getchar(); /* keep the socket open until all of it is out */
    return 0;
}

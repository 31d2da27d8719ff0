#include "io/loop.h"

#include "base/memory.h"
#include "io/clock.h"
#include "io/signals.h"

#include <poll.h>
#include <stdlib.h>

enum {
    TURN_MESSAGES = 16, /* of one source before the next has its turn */
    SERVE_MS = 5,       /* under load, between two looks at all the rest */
    TICK_SOON_MS = 20,  /* messages may have set timers: ask again soon */
    RELIEF_MS = 5,      /* between two looks at what waits for subscribers */
    SERVICE_MS = 1000
};

/* Places in the poll set; the connections and queues of sources follow. */
enum { POLL_SIGNALS = 0, POLL_ADMIN, POLL_ZAP, POLL_SOURCES };

struct loop {
    struct gateway *gateway;
    uint64_t generation; /* that `polls` was made for */
    struct pollfd *polls;
    size_t sources;
    size_t next; /* source whose turn it is */
    struct relay_now now;
    uint64_t served_ms;
    uint64_t ticked_ms;
    uint64_t tick_due_ms;
    uint64_t serviced_ms;
    uint64_t relieved_ms;
    bool overloaded; /* more waits for subscribers than may */
    bool received;   /* since the last tick */
    bool stopping;
};

/* ---- the poll set ---- */

static struct pollfd *monitor_poll(struct loop *loop, size_t source)
{
    return &loop->polls[POLL_SOURCES + source];
}

static struct pollfd *inlet_poll(struct loop *loop, size_t source)
{
    return &loop->polls[POLL_SOURCES + loop->sources + source];
}

static struct pollfd wait_for(int descriptor)
{
    return (struct pollfd){.fd = descriptor, .events = POLLIN};
}

static void make_polls(struct loop *loop)
{
    const struct gateway *gateway = loop->gateway;
    const struct ports *ports = gateway->ports;

    loop->sources = ports->source_count;
    loop->next = 0;
    loop->polls = memory_resize(
        loop->polls, (POLL_SOURCES + 2 * loop->sources) * sizeof *loop->polls);
    loop->polls[POLL_SIGNALS] = wait_for(signals_descriptor());
    loop->polls[POLL_ADMIN] = wait_for(
        gateway->admin == NULL ? -1 : admin_descriptor(gateway->admin));
    loop->polls[POLL_ZAP] = wait_for(zap_descriptor(gateway->wire.zap));
    gateway_let_in(loop->gateway); /* or its descriptor stays silent */
    for (size_t i = 0; i < loop->sources; i++) {
        struct inlet *inlet = ports->sources[i].inlet;

        *monitor_poll(loop, i) =
            wait_for(monitor_descriptor(inlet_monitor(inlet)));
        *inlet_poll(loop, i) = wait_for(inlet_descriptor(inlet));
        gateway_watch(loop->gateway, i); /* or its descriptor stays silent */
    }
    loop->generation = gateway->generation;
}

/*
 * The queues' descriptors are edge-triggered, so they may only be slept on
 * after every queue said that it is empty.  That is why this is poll and not
 * zmq_poll, which would ask each socket again before and after.
 */
static void poll_all(struct loop *loop, int timeout_ms)
{
    size_t count = POLL_SOURCES + 2 * loop->sources;

    if (poll(loop->polls, count, timeout_ms) <= 0)
        for (size_t i = 0; i < count; i++)
            loop->polls[i].revents = 0;
}

/* ---- messages ---- */

/* False: the source has no more. */
static bool take_turn(struct loop *loop, size_t source)
{
    struct relay *relay = loop->gateway->relay;
    struct inlet *inlet = loop->gateway->ports->sources[source].inlet;
    struct message message;

    for (int i = 0; i < TURN_MESSAGES; i++) {
        if (!inlet_receive(inlet, &message))
            return false;
        loop->now = clock_now();
        loop->received = true;
        relay_receive(relay, source, &message, loop->now);
        inlet_release(inlet);
    }
    return true;
}

/* Take messages until no source has more, or it is time to look at the rest.
 * True: no source has more. */
static bool take_messages(struct loop *loop)
{
    size_t empty = 0; /* sources in a row that had no more */

    while (empty < loop->sources) {
        empty = take_turn(loop, loop->next) ? 0 : empty + 1;
        loop->next = (loop->next + 1) % loop->sources;
        if (loop->now.steady_ms - loop->served_ms >= SERVE_MS)
            return empty >= loop->sources;
    }
    return true;
}

/* ---- all the rest ---- */

static void serve_signals(struct loop *loop)
{
    struct signals_asked asked = signals_take();
    struct reload reload = {0};

    if (asked.stop)
        loop->stopping = true;
    else if (asked.reload)
        gateway_reload(loop->gateway, &reload);
    reload_free(&reload);
}

static void serve_polls(struct loop *loop)
{
    struct gateway *gateway = loop->gateway;

    for (size_t i = 0; i < loop->sources; i++)
        if (monitor_poll(loop, i)->revents != 0)
            gateway_watch(gateway, i);
    if (loop->polls[POLL_ZAP].revents != 0)
        gateway_let_in(gateway);
    if (loop->polls[POLL_SIGNALS].revents != 0)
        serve_signals(loop);
    if (gateway->admin != NULL && (loop->polls[POLL_ADMIN].revents != 0 ||
                                   admin_timeout(gateway->admin) == 0))
        admin_run(gateway->admin);
    if (loop->generation != gateway->generation) {
        make_polls(loop);
        loop->tick_due_ms = 0; /* new filters have times of their own */
    }
}

static void serve_timers(struct loop *loop)
{
    uint64_t now_ms = loop->now.steady_ms;

    if (now_ms >= loop->tick_due_ms) {
        loop->ticked_ms = now_ms;
        loop->tick_due_ms =
            now_ms + relay_tick(loop->gateway->relay, loop->now);
        loop->received = false;
    }
    if (now_ms - loop->relieved_ms >= RELIEF_MS) {
        loop->relieved_ms = now_ms;
        loop->overloaded = gateway_relieve(loop->gateway, now_ms);
    }
    if (now_ms - loop->serviced_ms >= SERVICE_MS) {
        loop->serviced_ms = now_ms;
        gateway_service(loop->gateway);
    }
}

/* How long nothing has to be done if nothing happens. */
static int time_to_wake(struct loop *loop)
{
    uint64_t now_ms = loop->now.steady_ms;
    int sleep_ms;
    int admin_ms = -1;

    if (loop->received && loop->tick_due_ms > loop->ticked_ms + TICK_SOON_MS)
        loop->tick_due_ms = loop->ticked_ms + TICK_SOON_MS;
    if (loop->tick_due_ms <= now_ms)
        return 0;
    sleep_ms = (int)(loop->tick_due_ms - now_ms);
    if (loop->gateway->admin != NULL)
        admin_ms = admin_timeout(loop->gateway->admin);
    return admin_ms >= 0 && admin_ms < sleep_ms ? admin_ms : sleep_ms;
}

static int time_to_sleep(struct loop *loop)
{
    int sleep_ms = time_to_wake(loop);

    return loop->overloaded && sleep_ms > RELIEF_MS ? RELIEF_MS : sleep_ms;
}

void loop_run(struct gateway *gateway)
{
    struct loop loop = {.gateway = gateway, .now = clock_now()};

    make_polls(&loop);
    while (!loop.stopping) {
        bool idle = take_messages(&loop);

        if (idle)
            relay_idle(gateway->relay, loop.now);
        poll_all(&loop, idle ? time_to_sleep(&loop) : 0);
        loop.now = clock_now();
        loop.served_ms = loop.now.steady_ms;
        serve_polls(&loop);
        serve_timers(&loop);
    }
    free(loop.polls);
}

/*
 * engine_bench - the core without sockets
 *
 *   engine_bench CONFIG MESSAGES EVENTS
 *
 * Runs the relay of a configuration with one source over MESSAGES messages of
 * EVENTS events, after as many to warm up as make all traces and templates.
 * Messages are there as fast as they are taken (nothing is ever idle), the
 * clock they tell moves a millisecond every 1280 events, and what the streams
 * send is counted and thrown away.
 *
 * Prints one line of JSON: ns an event inside the relay, messages and bytes
 * that came out, bytes by which the Lua heap grew.  Under callgrind with
 * --toggle-collect=relay_receive that function is all that counts.
 */
#include "check.h"
#include "traffic.h"

#include "base/config.h"
#include "relay/pipeline.h"
#include "relay/relay.h"
#include "relay/sequence.h"

#include <inttypes.h>
#include <time.h>

enum {
    WARM_EVENTS = 1 << 16,
    EVENTS_A_MS = 1280,
    NOON_MS = 43200000 /* any time will do */
};

struct bench {
    struct relay *relay;
    struct traffic *traffic;
    unsigned events; /* in a message */
    uint64_t sequence;
    uint64_t relay_ns;
    uint64_t heap_growth;
    uint64_t sent_messages;
    uint64_t sent_bytes;
};

static bool count_send(void *context, const struct sink_head *head,
                       struct buffer *payload, size_t start)
{
    struct bench *bench = context;

    (void)head;
    bench->sent_messages++;
    bench->sent_bytes += payload->size - start;
    return true;
}

static bool count_forward(void *context, const struct sink_head *head,
                          const struct message *message)
{
    struct bench *bench = context;

    (void)head;
    bench->sent_messages++;
    bench->sent_bytes += message->payload_size;
    return true;
}

static uint64_t now_ns(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

static void receive(struct bench *bench, const struct message *message,
                    struct relay_now now)
{
    const struct script *script = relay_pipeline(bench->relay)->script;
    size_t heap = script_memory(script);
    uint64_t began = now_ns();

    relay_receive(bench->relay, 0, message, now);
    bench->relay_ns += now_ns() - began;
    if (script_memory(script) > heap)
        bench->heap_growth += script_memory(script) - heap;
}

static void receive_next(struct bench *bench)
{
    uint64_t ms = NOON_MS + bench->sequence * bench->events / EVENTS_A_MS;
    struct relay_now now = {.steady_ms = ms, .wall_ms = UINT64_C(1) << 40 | ms};
    struct traffic_payload payload = traffic_next(bench->traffic, now.wall_ms);
    uint8_t number[8];
    struct message message = {.frames = 3,
                              .sequence = number,
                              .sequence_size = sizeof number,
                              .payload = payload.data,
                              .payload_size = payload.size,
                              .origin = bench};

    seq_write(++bench->sequence, number);
    receive(bench, &message, now);
}

static struct relay *start_relay(const char *path)
{
    struct buffer mistakes = {0};
    struct relay *relay = relay_new();
    struct config *config = config_load(path, &mistakes);
    struct plan *plan;

    if (config == NULL) {
        fputs(buffer_text(&mistakes), stderr);
        exit(1);
    }
    plan = plan_new(config, NULL, 0, false, NULL, &mistakes);
    if (plan == NULL) {
        fputs(buffer_text(&mistakes), stderr);
        exit(1);
    }
    relay_adopt(relay, plan, (struct relay_now){.steady_ms = NOON_MS});
    return relay;
}

static void connect_sinks(struct bench *bench)
{
    struct sink sink = {
        .context = bench, .send = count_send, .forward = count_forward};

    for (size_t i = 0; i < relay_stream_count(bench->relay); i++)
        relay_set_sink(bench->relay, i, sink);
}

static void tell(const struct bench *bench, uint64_t events)
{
    printf("{\"ns\": %.1f, \"heap_growth\": %" PRIu64 ", \"events\": %" PRIu64
           ", \"messages_out\": %" PRIu64 ", \"bytes_out\": %" PRIu64 "}\n",
           (double)bench->relay_ns / (double)events, bench->heap_growth, events,
           bench->sent_messages, bench->sent_bytes);
}

int main(int count, char **arguments)
{
    struct bench bench = {0};
    uint64_t messages;

    check(count == 4, "three arguments");
    messages = strtoull(arguments[2], NULL, 10);
    bench.events = (unsigned)strtoul(arguments[3], NULL, 10);
    check(bench.events >= 1 && bench.events <= TRAFFIC_EVENTS_MAX, "EVENTS");
    check(messages >= 1, "MESSAGES");
    bench.relay = start_relay(arguments[1]);
    connect_sinks(&bench);
    bench.traffic = traffic_new(bench.events);
    for (unsigned i = 0; i < WARM_EVENTS / bench.events; i++)
        receive_next(&bench);
    bench.relay_ns = bench.heap_growth = 0;
    bench.sent_messages = bench.sent_bytes = 0;
    for (uint64_t i = 0; i < messages; i++)
        receive_next(&bench);
    relay_stop(bench.relay, (struct relay_now){.steady_ms = NOON_MS});
    tell(&bench, messages * bench.events);
    return 0;
}

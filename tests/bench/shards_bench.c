/*
 * shards_bench - blocks.lua, or any filter that keeps a state, in the core
 * alone
 *
 *   shards_bench CONFIG STORED REMOVED BLOCKS PARTS
 *
 * STORED and REMOVED are files with a payload each, whose events have an
 * event_id of 32 bits and keys with "tp_rank:0" and 64 digits of a digest
 * behind "group:0@".  BLOCKS blocks of PARTS parts are stored, stored again,
 * and removed; ids and digits are patched in place.
 *
 * Prints a line of JSON for each of the three: CPU ns an event inside the
 * relay, those of the slowest message, events that came out, resident kilobytes
 * afterwards.  Under callgrind with --toggle-collect=relay_receive that
 * function is all that counts.
 */
#include "check.h"

#include "base/config.h"
#include "relay/pipeline.h"
#include "relay/relay.h"
#include "relay/sequence.h"

#include <inttypes.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { EVENTS = 64, DIGITS = 64 };

/* A payload, and where its events have what is patched. */
struct payload {
    uint8_t *data;
    size_t size;
    uint8_t *ids[EVENTS];
    uint8_t *ranks[EVENTS];
    uint8_t *digests[EVENTS];
};

struct bench {
    struct relay *relay;
    uint64_t sequence;
    uint64_t events; /* 2^20 and those made so far */
    uint64_t blocks;
    unsigned parts;
    uint64_t ns, slowest_ns;
    uint64_t sent;
};

static bool count_send(void *context, const struct sink_head *head,
                       struct buffer *payload, size_t start)
{
    struct bench *bench = context;

    (void)head;
    bench->sent += payload->size - start;
    return true;
}

static bool count_forward(void *context, const struct sink_head *head,
                          const struct message *message)
{
    struct bench *bench = context;

    (void)head;
    bench->sent += message->payload_size;
    return true;
}

static uint64_t cpu_ns(void)
{
    struct timespec now;

    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

static unsigned long resident_kb(void)
{
    unsigned long pages = 0;
    FILE *file = fopen("/proc/self/statm", "r");

    check(file != NULL && fscanf(file, "%*u %lu", &pages) == 1, "statm");
    fclose(file);
    return pages * (unsigned long)sysconf(_SC_PAGESIZE) / 1024;
}

/* What follows a text. */
static uint8_t *behind(const struct payload *payload, uint8_t *at,
                       const char *text)
{
    size_t left = payload->size - (size_t)(at - payload->data);

    at = memmem(at, left, text, strlen(text));
    check(at != NULL, text);
    return at + strlen(text);
}

static struct payload read_payload(const char *path)
{
    struct payload payload = {.data = malloc(1 << 20)};
    FILE *file = fopen(path, "rb");
    uint8_t *at = payload.data;

    check(file != NULL && payload.data != NULL, path);
    payload.size = fread(payload.data, 1, 1 << 20, file);
    fclose(file);
    for (unsigned i = 0; i < EVENTS; i++) {
        payload.ids[i] = at = behind(&payload, at, "event_id\xce");
        payload.ranks[i] = at = behind(&payload, at, "tp_rank:");
        payload.digests[i] = at = behind(&payload, at, "group:0@");
    }
    return payload;
}

static void write_id(uint8_t *at, uint64_t id)
{
    for (int i = 0; i < 4; i++)
        at[i] = (uint8_t)(id >> (24 - 8 * i));
}

/* Digits that lie all over the table. */
static void write_digest(uint8_t *at, uint64_t block)
{
    char digits[DIGITS + 1];
    uint64_t mixed = block * UINT64_C(0x9e3779b97f4a7c15);

    snprintf(digits, sizeof digits,
             "%016" PRIx64 "%016" PRIx64 "%016" PRIx64 "%016" PRIx64, mixed,
             ~mixed, mixed ^ block, block);
    memcpy(at, digits, DIGITS);
}

static void receive(struct bench *bench, const struct payload *payload)
{
    uint8_t number[8];
    uint64_t ms = 43200000 + bench->sequence / 20;
    struct message message = {.frames = 3,
                              .sequence = number,
                              .sequence_size = sizeof number,
                              .payload = payload->data,
                              .payload_size = payload->size,
                              .origin = bench};
    uint64_t took = cpu_ns();

    seq_write(++bench->sequence, number);
    relay_receive(
        bench->relay, 0, &message,
        (struct relay_now){.steady_ms = ms, .wall_ms = UINT64_C(1) << 40 | ms});
    took = cpu_ns() - took;
    bench->ns += took;
    if (took > bench->slowest_ns)
        bench->slowest_ns = took;
}

/* All blocks, as many at once as a message has events, rank by rank. */
static void run(struct bench *bench, const struct payload *payload,
                const char *name)
{
    uint64_t before = bench->events;

    bench->ns = bench->slowest_ns = bench->sent = 0;
    for (uint64_t first = 0; first < bench->blocks; first += EVENTS) {
        for (unsigned i = 0; i < EVENTS; i++)
            write_digest(payload->digests[i], first + i);
        for (unsigned part = 0; part < bench->parts; part++) {
            for (unsigned i = 0; i < EVENTS; i++) {
                write_id(payload->ids[i], bench->events++);
                *payload->ranks[i] = (uint8_t)('0' + part);
            }
            receive(bench, payload);
        }
    }
    printf("{\"phase\": \"%s\", \"ns\": %.1f, \"slowest_message_us\": %.1f, "
           "\"events\": %" PRIu64 ", \"bytes_out\": %" PRIu64
           ", \"resident_kb\": %lu}\n",
           name, (double)bench->ns / (double)(bench->events - before),
           (double)bench->slowest_ns / 1000, bench->events - before,
           bench->sent, resident_kb());
}

static struct relay *start_relay(const char *path)
{
    struct buffer mistakes = {0};
    struct relay *relay = relay_new();
    struct config *config = config_load(path, &mistakes);
    struct plan *plan = NULL;

    if (config != NULL)
        plan = plan_new(config, NULL, 0, false, NULL, &mistakes);
    if (plan == NULL) {
        fputs(buffer_text(&mistakes), stderr);
        exit(1);
    }
    relay_adopt(relay, plan, (struct relay_now){.steady_ms = 43200000});
    return relay;
}

int main(int count, char **arguments)
{
    struct bench bench = {0};
    struct payload stored, removed;

    check(count == 6, "five arguments");
    stored = read_payload(arguments[2]);
    removed = read_payload(arguments[3]);
    bench.blocks = strtoull(arguments[4], NULL, 10);
    bench.parts = (unsigned)strtoul(arguments[5], NULL, 10);
    bench.events = 1 << 20;
    check(bench.parts >= 1 && bench.parts <= 9, "PARTS");
    bench.relay = start_relay(arguments[1]);
    relay_set_sink(bench.relay, 0,
                   (struct sink){.context = &bench,
                                 .send = count_send,
                                 .forward = count_forward});
    printf("{\"phase\": \"start\", \"resident_kb\": %lu}\n", resident_kb());
    run(&bench, &stored, "stored");
    run(&bench, &stored, "stored again");
    run(&bench, &removed, "removed");
    relay_stop(bench.relay, (struct relay_now){.steady_ms = 43200000});
    return 0;
}

/*
 * traffic - the stream that everything in the benchmark works on
 *
 * Batches as Mooncake's publisher writes them today: maps of 20 and 17 fields,
 * legacy fields on, vLLM's 109-byte object keys, 16 tenants in equal shares,
 * stored to removed 60:40.  About 408 bytes an event.  Made once, the same in
 * every process, with msgpack-c; a message then costs a few patched words:
 *
 *   [timestamp, [{event_id, timestamp, …}, …], dp_rank]
 *    ^patched      ^patched  ^patched
 */
#ifndef BENCH_TRAFFIC_H
#define BENCH_TRAFFIC_H

#include <stddef.h>
#include <stdint.h>

enum {
    TRAFFIC_TENANTS = 16,
    TRAFFIC_EVENTS_MAX = 64, /* in a message, as the publisher */
    TRAFFIC_FIRST_ID =
        1 << 20 /* event_id of the first event: its width stays */
};

struct traffic;

struct traffic_payload {
    const uint8_t *data;
    size_t size;
};

/* Messages of `events` events each. */
struct traffic *traffic_new(unsigned events);
void traffic_free(struct traffic *traffic);

/* The payload of the next message, which says that it was made at that
 * time.  Borrowed until the next call.  event_ids count on without a hole. */
struct traffic_payload traffic_next(struct traffic *traffic,
                                    uint64_t timestamp_ms);

#endif

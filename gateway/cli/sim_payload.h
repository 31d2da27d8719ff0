/*
 * sim_payload - events as the publisher packs them
 *
 *   [timestamp_ms, [{event_id, timestamp, event_type, …}, …], dp_rank]
 *
 * msgpack-c writes every integer in its shortest form and every text as str,
 * as the publisher's own packer does; the order of the fields is its order too.
 */
#ifndef CLI_SIM_PAYLOAD_H
#define CLI_SIM_PAYLOAD_H

#include "cli/sim_options.h"
#include "cli/sim_world.h"

#include <msgpack.h>
#include <stddef.h>
#include <stdint.h>

struct sim_payload {
    const struct sim_options *options; /* borrowed */
    msgpack_sbuffer bytes;
    msgpack_packer packer;
    uint64_t timestamp;
};

void sim_payload_init(struct sim_payload *payload,
                      const struct sim_options *options);
void sim_payload_deinit(struct sim_payload *payload);

/* Start over with a message of `count` events. */
void sim_payload_begin(struct sim_payload *payload, uint64_t timestamp,
                       size_t count);

void sim_payload_event(struct sim_payload *payload,
                       const struct sim_event *event, uint64_t event_id);

/* In an event's place, what no publisher would send. */
void sim_payload_no_event(struct sim_payload *payload);

void sim_payload_end(struct sim_payload *payload);

#endif

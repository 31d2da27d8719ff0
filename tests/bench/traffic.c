#include "traffic.h"

#include <msgpack.h>

#include <endian.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    POOL_EVENTS = 16384,      /* distinct events: more than a core's cache */
    ID_AT = 13,               /* in an event: map16, "event_id", ce */
    TIME_AT = 28,             /* and behind it "timestamp", cf */
    BATCH_TIME_AT = 2,        /* in a payload: array of 3, cf */
    PLACEHOLDER_ID = 1 << 30, /* so wide that msgpack-c writes ce */
};

static const uint64_t placeholder_time = UINT64_C(1) << 40; /* written as cf */

struct payload {
    msgpack_sbuffer bytes;
    size_t event_at[TRAFFIC_EVENTS_MAX];
};

struct traffic {
    struct payload *pool;
    size_t pool_size;
    size_t next;
    unsigned events;
    uint32_t next_id;
    uint64_t random;
};

/* splitmix64: small, and the same everywhere. */
static uint64_t roll(struct traffic *traffic)
{
    uint64_t value = traffic->random += UINT64_C(0x9e3779b97f4a7c15);

    value = (value ^ value >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    value = (value ^ value >> 27) * UINT64_C(0x94d049bb133111eb);
    return value ^ value >> 31;
}

static void put_text(msgpack_packer *to, const char *text)
{
    size_t size = strlen(text);

    msgpack_pack_str(to, size);
    msgpack_pack_str_body(to, text, size);
}

static void put_text_field(msgpack_packer *to, const char *name,
                           const char *text)
{
    put_text(to, name);
    put_text(to, text);
}

static void put_number_field(msgpack_packer *to, const char *name,
                             uint64_t value)
{
    put_text(to, name);
    msgpack_pack_uint64(to, value);
}

static void put_nil_field(msgpack_packer *to, const char *name)
{
    put_text(to, name);
    msgpack_pack_nil(to);
}

static void put_empty_field(msgpack_packer *to, const char *name)
{
    put_text(to, name);
    msgpack_pack_array(to, 0);
}

static void put_key_field(struct traffic *traffic, msgpack_packer *to)
{
    char key[128];

    snprintf(key, sizeof key,
             "Qwen/Qwen3-32B@tp_rank:%u@pcp0@dcp0@pp_rank:0@%016jx%016jx%016jx"
             "%016jx",
             (unsigned)(roll(traffic) % 8), (uintmax_t)roll(traffic),
             (uintmax_t)roll(traffic), (uintmax_t)roll(traffic),
             (uintmax_t)roll(traffic));
    put_text_field(to, "object_key", key);
}

/* Fields in the order of the publisher. */
static void put_event(struct traffic *traffic, msgpack_packer *to)
{
    bool stored = roll(traffic) % 10 < 6;
    char tenant[16];

    snprintf(tenant, sizeof tenant, "tenant-%02u",
             (unsigned)(roll(traffic) % TRAFFIC_TENANTS));
    msgpack_pack_map(to, stored ? 20 : 17);
    put_number_field(to, "event_id", PLACEHOLDER_ID);
    put_number_field(to, "timestamp", placeholder_time);
    put_text_field(to, "event_type", stored ? "stored" : "removed");
    put_text_field(to, "type", stored ? "BlockStored" : "BlockRemoved");
    put_text_field(to, "model_name", "Qwen/Qwen3-32B");
    put_number_field(to, "block_size", 128);
    put_nil_field(to, "additional_salt");
    put_nil_field(to, "lora_name");
    put_text_field(to, "tenant_id", tenant);
    put_text_field(to, "backend_id", "mooncake-pool-1");
    put_text_field(to, "medium", "cpu");
    put_number_field(to, "dp_rank", 0);
    put_nil_field(to, "group_id");
    put_key_field(traffic, to);
    put_empty_field(to, "seq_hashes");
    put_empty_field(to, "block_hashes");
    put_nil_field(to, "base_block_idx");
    if (stored) {
        put_nil_field(to, "parent_hash");
        put_nil_field(to, "token_ids");
        put_nil_field(to, "parent_block_hash");
    }
}

static void make_payload(struct traffic *traffic, struct payload *payload)
{
    msgpack_packer to;

    msgpack_sbuffer_init(&payload->bytes);
    msgpack_packer_init(&to, &payload->bytes, msgpack_sbuffer_write);
    msgpack_pack_array(&to, 3);
    msgpack_pack_uint64(&to, placeholder_time);
    msgpack_pack_array(&to, traffic->events);
    for (unsigned i = 0; i < traffic->events; i++) {
        payload->event_at[i] = payload->bytes.size;
        put_event(traffic, &to);
    }
    msgpack_pack_uint64(&to, 0);
}

struct traffic *traffic_new(unsigned events)
{
    struct traffic *traffic = calloc(1, sizeof *traffic);

    if (traffic == NULL)
        abort();
    traffic->events = events;
    traffic->next_id = TRAFFIC_FIRST_ID;
    traffic->pool_size = POOL_EVENTS / events;
    traffic->pool = calloc(traffic->pool_size, sizeof *traffic->pool);
    if (traffic->pool == NULL)
        abort();
    for (size_t i = 0; i < traffic->pool_size; i++)
        make_payload(traffic, &traffic->pool[i]);
    return traffic;
}

void traffic_free(struct traffic *traffic)
{
    for (size_t i = 0; i < traffic->pool_size; i++)
        msgpack_sbuffer_destroy(&traffic->pool[i].bytes);
    free(traffic->pool);
    free(traffic);
}

struct traffic_payload traffic_next(struct traffic *traffic,
                                    uint64_t timestamp_ms)
{
    struct payload *payload = &traffic->pool[traffic->next];
    uint8_t *data = (uint8_t *)payload->bytes.data;
    uint64_t time = htobe64(timestamp_ms);

    traffic->next = (traffic->next + 1) % traffic->pool_size;
    memcpy(data + BATCH_TIME_AT, &time, sizeof time);
    for (unsigned i = 0; i < traffic->events; i++) {
        uint8_t *event = data + payload->event_at[i];
        uint32_t id = htobe32(traffic->next_id++);

        memcpy(event + ID_AT, &id, sizeof id);
        memcpy(event + TIME_AT, &time, sizeof time);
    }
    return (struct traffic_payload){data, payload->bytes.size};
}

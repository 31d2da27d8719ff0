#include "cli/sim_payload.h"

#include "cli/sim_key.h"

#include <stdbool.h>
#include <string.h>

/* How many fields a kind has without and with the legacy aliases. */
static const size_t field_counts[SIM_KINDS][2] = {
    [SIM_STORED] = {17, 20},
    [SIM_REMOVED] = {15, 17},
    [SIM_CLEARED] = {11, 12},
};

static const char *const kind_names[SIM_KINDS] = {
    [SIM_STORED] = "stored",
    [SIM_REMOVED] = "removed",
    [SIM_CLEARED] = "cleared",
};

static const char *const legacy_names[SIM_KINDS] = {
    [SIM_STORED] = "BlockStored",
    [SIM_REMOVED] = "BlockRemoved",
    [SIM_CLEARED] = "AllBlocksCleared",
};

void sim_payload_init(struct sim_payload *payload,
                      const struct sim_options *options)
{
    payload->options = options;
    payload->timestamp = 0;
    msgpack_sbuffer_init(&payload->bytes);
    msgpack_packer_init(&payload->packer, &payload->bytes,
                        msgpack_sbuffer_write);
}

void sim_payload_deinit(struct sim_payload *payload)
{
    msgpack_sbuffer_destroy(&payload->bytes);
}

static void pack_text(msgpack_packer *packer, const char *text)
{
    msgpack_pack_str_with_body(packer, text, strlen(text));
}

static void pack_nil_field(msgpack_packer *packer, const char *name)
{
    pack_text(packer, name);
    msgpack_pack_nil(packer);
}

static void pack_text_field(msgpack_packer *packer, const char *name,
                            const char *text)
{
    pack_text(packer, name);
    if (*text == '\0')
        msgpack_pack_nil(packer);
    else
        pack_text(packer, text);
}

static void pack_number_field(msgpack_packer *packer, const char *name,
                              uint64_t value)
{
    pack_text(packer, name);
    msgpack_pack_uint64(packer, value);
}

/* The publisher reads no keys, so it knows no hashes. */
static void pack_hashes_field(msgpack_packer *packer, const char *name)
{
    pack_text(packer, name);
    msgpack_pack_array(packer, 0);
}

static const char *medium_name(const struct sim_event *event)
{
    if (event->kind == SIM_CLEARED)
        return "";
    return event->medium == SIM_CPU ? "cpu" : "disk";
}

static void pack_envelope(struct sim_payload *payload,
                          const struct sim_event *event, uint64_t event_id)
{
    const struct sim_options *options = payload->options;
    msgpack_packer *packer = &payload->packer;

    pack_number_field(packer, "event_id", event_id);
    pack_number_field(packer, "timestamp", payload->timestamp);
    pack_text_field(packer, "event_type", kind_names[event->kind]);
    if (!options->no_legacy)
        pack_text_field(packer, "type", legacy_names[event->kind]);
    pack_text_field(packer, "model_name", options->model);
    if (options->block_size == 0)
        pack_nil_field(packer, "block_size");
    else
        pack_number_field(packer, "block_size", options->block_size);
    pack_text_field(packer, "additional_salt", options->salt);
    pack_text_field(packer, "lora_name", options->lora);
    pack_text_field(packer, "tenant_id", options->tenants.items[event->tenant]);
    pack_text_field(packer, "backend_id", options->backend);
    pack_text_field(packer, "medium", medium_name(event));
    pack_number_field(packer, "dp_rank", options->dp_rank);
}

static void pack_object(struct sim_payload *payload,
                        const struct sim_event *event)
{
    bool legacy = !payload->options->no_legacy;
    msgpack_packer *packer = &payload->packer;
    struct sim_key key;

    sim_key_make(&key, payload->options, event->tenant, event->object);
    pack_text_field(packer, "group_id", key.group);
    pack_text_field(packer, "object_key", key.object);
    pack_hashes_field(packer, "seq_hashes");
    if (legacy)
        pack_hashes_field(packer, "block_hashes");
    pack_nil_field(packer, "base_block_idx");
    if (event->kind != SIM_STORED)
        return;
    pack_nil_field(packer, "parent_hash");
    pack_nil_field(packer, "token_ids");
    if (legacy)
        pack_nil_field(packer, "parent_block_hash");
}

void sim_payload_begin(struct sim_payload *payload, uint64_t timestamp,
                       size_t count)
{
    payload->timestamp = timestamp;
    msgpack_sbuffer_clear(&payload->bytes);
    msgpack_pack_array(&payload->packer, 3);
    msgpack_pack_uint64(&payload->packer, timestamp);
    msgpack_pack_array(&payload->packer, count);
}

void sim_payload_event(struct sim_payload *payload,
                       const struct sim_event *event, uint64_t event_id)
{
    bool legacy = !payload->options->no_legacy;

    msgpack_pack_map(&payload->packer, field_counts[event->kind][legacy]);
    pack_envelope(payload, event, event_id);
    if (event->kind != SIM_CLEARED)
        pack_object(payload, event);
}

void sim_payload_no_event(struct sim_payload *payload)
{
    pack_text(&payload->packer, "no event");
}

void sim_payload_end(struct sim_payload *payload)
{
    msgpack_pack_uint64(&payload->packer, payload->options->dp_rank);
}

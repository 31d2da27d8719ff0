/*
 * codec_bench - what decoding and writing an event cost
 *
 * Fills batches with events as a Mooncake Store master sends them (vLLM keys of
 * 109 bytes, 16 tenants, stored to removed as 60 to 40, 64 events a message)
 * and runs one step over them:
 *
 *   codec_bench decode|general|copy|stamp|edit|none ROUNDS
 *
 * Counting instructions by callgrind for two ROUNDS and dividing the difference
 * by the events between gives a figure that repeats; see the README.
 */
#include "codec/batch.h"
#include "codec/builder.h"
#include "codec/cursor.h"
#include "codec/pack.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum {
    MESSAGES = 32, /* different ones, used in turns */
    TENANTS = 16,
};

/* ---- the generator ---- */

struct generator {
    uint64_t random;
    uint64_t next_id;
    uint64_t timestamp;
};

static uint64_t draw(struct generator *generator)
{
    generator->random ^= generator->random << 13;
    generator->random ^= generator->random >> 7;
    generator->random ^= generator->random << 17;
    return generator->random;
}

static void put_text(struct buffer *out, const char *text)
{
    size_t size = strlen(text);
    uint8_t head[PACK_SCALAR];
    uint8_t *end = pack_str_header(head, (uint32_t)size);

    buffer_put(out, head, (size_t)(end - head));
    buffer_put(out, text, size);
}

static void put_u64(struct buffer *out, uint64_t value)
{
    uint8_t bytes[PACK_SCALAR];

    buffer_put(out, bytes, (size_t)(pack_u64(bytes, value) - bytes));
}

static void put_pair(struct buffer *out, const char *name, const char *text)
{
    put_text(out, name);
    put_text(out, text);
}

static void put_byte(struct buffer *out, const char *name, uint8_t byte)
{
    put_text(out, name);
    buffer_put(out, &byte, 1);
}

static void put_context(struct generator *generator, struct buffer *out)
{
    char tenant[16];

    snprintf(tenant, sizeof tenant, "tenant-%u",
             (unsigned)(draw(generator) % TENANTS));
    put_pair(out, "model_name", "Qwen/Qwen3-32B");
    put_byte(out, "block_size", 64);
    put_byte(out, "additional_salt", 0xc0);
    put_byte(out, "lora_name", 0xc0);
    put_pair(out, "tenant_id", tenant);
    put_pair(out, "backend_id", "mooncake-store-0");
    put_pair(out, "medium", draw(generator) % 4 == 0 ? "disk" : "cpu");
    put_byte(out, "dp_rank", 0);
    put_byte(out, "group_id", 0xc0);
}

static void put_key(struct generator *generator, struct buffer *out)
{
    char key[160];

    snprintf(key, sizeof key,
             "Qwen/Qwen3-32B@tp_rank:%u@pcp0@dcp0@pp_rank:0@"
             "%016" PRIx64 "%016" PRIx64 "%016" PRIx64 "%016" PRIx64,
             (unsigned)(draw(generator) % 8), draw(generator), draw(generator),
             draw(generator), draw(generator));
    put_pair(out, "object_key", key);
}

static void put_event(struct generator *generator, struct buffer *out)
{
    bool stored = draw(generator) % 10 < 6;
    uint8_t header[PACK_SCALAR];
    uint8_t *end = pack_map(header, stored ? 20 : 17);

    buffer_put(out, header, (size_t)(end - header));
    put_text(out, "event_id");
    put_u64(out, generator->next_id++);
    put_text(out, "timestamp");
    put_u64(out, generator->timestamp);
    put_pair(out, "event_type", stored ? "stored" : "removed");
    put_pair(out, "type", stored ? "BlockStored" : "BlockRemoved");
    put_context(generator, out);
    put_key(generator, out);
    put_byte(out, "seq_hashes", 0x90);
    put_byte(out, "block_hashes", 0x90);
    put_byte(out, "base_block_idx", 0xc0);
    if (!stored)
        return;
    put_byte(out, "parent_hash", 0xc0);
    put_byte(out, "token_ids", 0xc0);
    put_byte(out, "parent_block_hash", 0xc0);
}

static void put_message(struct generator *generator, struct buffer *out)
{
    uint8_t bytes[2 * PACK_SCALAR];
    uint8_t *end = pack_array(bytes, 3);

    generator->timestamp += 3;
    end = pack_array(pack_u64(end, generator->timestamp), BATCH_WINDOW);
    buffer_put(out, bytes, (size_t)(end - bytes));
    for (int i = 0; i < BATCH_WINDOW; i++)
        put_event(generator, out);
    put_u64(out, 0);
}

/* ---- the steps ---- */

struct bench {
    struct batch_reader *reader;
    struct batch *batch;
    struct builder builder;
    struct buffer messages[MESSAGES];
    uint64_t next_id;
    uint64_t sum; /* so that nothing is optimised away */
};

static bool receive(struct bench *bench, uint64_t round)
{
    const struct buffer *message = &bench->messages[round % MESSAGES];
    struct batch_header header;

    return batch_open(bench->reader, bench->batch, message->data, message->size,
                      &header) == BATCH_OK &&
           batch_next(bench->reader, bench->batch) == BATCH_WINDOW;
}

static void step_none(struct bench *bench)
{
    bench->sum++;
}

/* The same events once more, by the ordinary path. */
static void step_general(struct bench *bench)
{
    struct event event;

    for (uint32_t i = 0; i < BATCH_WINDOW; i++) {
        const struct event *slot = &bench->batch->slots[i];
        const uint8_t *end =
            cursor_check(slot->bytes, slot->bytes + slot->size);

        bench->sum +=
            event_index(&event, slot->bytes, (uint32_t)(end - slot->bytes));
    }
}

static void write_all(struct bench *bench, bool stamp)
{
    builder_clear(&bench->builder);
    for (uint32_t i = 0; i < BATCH_WINDOW; i++) {
        bench->next_id++;
        builder_append(&bench->builder, &bench->batch->slots[i],
                       stamp ? &bench->next_id : NULL);
    }
    bench->sum += bench->builder.out.size;
}

static void step_copy(struct bench *bench)
{
    write_all(bench, false);
}

static void step_stamp(struct bench *bench)
{
    write_all(bench, true);
}

/* seq_hashes gets one hash, as the key filters do, then all is stamped. */
static void step_edit(struct bench *bench)
{
    uint8_t value[1 + PACK_SCALAR];

    for (uint32_t i = 0; i < BATCH_WINDOW; i++) {
        uint8_t *end = pack_u64(pack_array(value, 1), UINT64_MAX - i);

        event_assign(bench->batch, &bench->batch->slots[i], FIELD_SEQ_HASHES,
                     NULL, 0, value, (size_t)(end - value));
    }
    write_all(bench, true);
}

static const struct step {
    const char *name;
    void (*run)(struct bench *bench);
} steps[] = {{"decode", step_none}, {"general", step_general},
             {"copy", step_copy},   {"stamp", step_stamp},
             {"edit", step_edit},   {"none", NULL}};

static const struct step *step_called(const char *name)
{
    for (size_t i = 0; i < sizeof steps / sizeof steps[0]; i++)
        if (strcmp(steps[i].name, name) == 0)
            return &steps[i];
    return NULL;
}

static void bench_init(struct bench *bench)
{
    struct generator generator = {UINT64_C(0x9e3779b97f4a7c15), 70000,
                                  UINT64_C(1700000000123)};

    *bench =
        (struct bench){.reader = batch_reader_new(), .batch = batch_new(1)};
    for (int i = 0; i < MESSAGES; i++)
        put_message(&generator, &bench->messages[i]);
}

static void bench_deinit(struct bench *bench)
{
    for (int i = 0; i < MESSAGES; i++)
        buffer_free(&bench->messages[i]);
    builder_free(&bench->builder);
    batch_free(bench->batch);
    batch_reader_free(bench->reader);
}

static double seconds(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

/* False: a message did not decode. */
static bool run(struct bench *bench, const struct step *step, uint64_t rounds)
{
    for (uint64_t i = 0; step->run != NULL && i < rounds; i++) {
        if (!receive(bench, i))
            return false;
        step->run(bench);
    }
    return true;
}

int main(int argc, char **argv)
{
    const struct step *step = argc == 3 ? step_called(argv[1]) : NULL;
    uint64_t rounds = argc == 3 ? strtoull(argv[2], NULL, 10) : 0;
    struct bench bench;
    double start;
    bool sound;

    if (step == NULL || rounds == 0) {
        fprintf(stderr,
                "usage: codec_bench decode|general|copy|stamp|edit|none "
                "ROUNDS\n");
        return 2;
    }
    bench_init(&bench);
    start = seconds();
    sound = run(&bench, step, rounds);
    printf("%s: %.1f ns/event (%" PRIu64 ")\n", step->name,
           (seconds() - start) * 1e9 / (double)(rounds * BATCH_WINDOW),
           bench.sum);
    bench_deinit(&bench);
    return sound ? 0 : 1;
}

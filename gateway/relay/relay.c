#include "relay/relay.h"

#include "base/memory.h"
#include "relay/relay_parts.h"
#include "relay/window.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    GUARD_MS = 500, /* how long an owed mark waits for the next message */
    TICK_MS = 1000, /* the longest time between two ticks */
};

struct relay *relay_new(void)
{
    struct relay *relay = memory_new(sizeof *relay);

    relay->continuity = continuity_new();
    return relay;
}

void relay_free(struct relay *relay)
{
    if (relay == NULL)
        return;
    for (size_t i = 0; i < relay_source_count(relay); i++)
        source_free(relay->sources[i]);
    for (size_t i = 0; i < relay_stream_count(relay); i++)
        stream_free(relay->streams[i]);
    free(relay->sources);
    free(relay->streams);
    plan_free(relay->plan);
    continuity_free(relay->continuity);
    free(relay);
}

size_t relay_source_count(const struct relay *relay)
{
    return relay->plan == NULL ? 0 : relay->plan->config->source_count;
}

size_t relay_stream_count(const struct relay *relay)
{
    return relay->plan == NULL ? 0 : config_output_count(relay->plan->config);
}

struct source *relay_source(const struct relay *relay, size_t index)
{
    return relay->sources[index];
}

struct stream *relay_stream(const struct relay *relay, size_t index)
{
    return relay->streams[index];
}

const struct pipeline *relay_pipeline(const struct relay *relay)
{
    return relay->plan == NULL ? NULL : relay->plan->pipeline;
}

void relay_set_sink(struct relay *relay, size_t stream, struct sink sink)
{
    relay->streams[stream]->sink = sink;
}

static void set_text(char **text, const char *value)
{
    free(*text);
    *text = memory_text(value, strlen(value));
}

void relay_set_source_endpoint(struct relay *relay, size_t source,
                               const char *endpoint)
{
    set_text(&relay->sources[source]->endpoint, endpoint);
}

void relay_set_stream_endpoint(struct relay *relay, size_t stream,
                               const char *endpoint)
{
    set_text(&relay->streams[stream]->endpoint, endpoint);
}

void relay_silence(struct relay *relay)
{
    for (size_t i = 0; i < relay_source_count(relay); i++)
        source_silence(relay->sources[i]);
    for (size_t i = 0; i < relay_stream_count(relay); i++)
        relay->streams[i]->gate.silent = true;
    pipeline_silence(relay->plan->pipeline);
}

void relay_forget_recent(struct relay *relay)
{
    for (size_t i = 0; i < relay_source_count(relay); i++)
        recent_forget(&relay->sources[i]->recent);
}

void relay_source_connected(struct relay *relay, size_t source, bool connected)
{
    relay->sources[source]->connected = connected;
}

/* Callers look at the clock at different moments; ages must not come out below
 * zero, or every timer would be due. */
static void set_now(struct relay *relay, struct relay_now now)
{
    uint64_t last_ms = relay->moment.now.steady_ms;

    relay->moment.now = now;
    if (now.steady_ms < last_ms)
        relay->moment.now.steady_ms = last_ms;
}

/* ---- messages ---- */

__attribute__((format(printf, 4, 5))) static void
lose_message(struct relay *relay, size_t index, enum loss_cause cause,
             const char *format, ...)
{
    struct source *source = relay->sources[index];
    char what[128];
    va_list args;

    va_start(args, format);
    vsnprintf(what, sizeof what, format, args);
    va_end(args);
    log_gated(&source->gates[cause], LOG_WARN,
              "source \"%s\": message lost: %s", source->name, what);
    relay_lose(relay, index, cause, 1);
}

/* Frames as they should be: true.  Otherwise the message is lost, its number,
 * if it had one, unknown. */
static bool check_frames(struct relay *relay, size_t index,
                         const struct message *message)
{
    if (message->frames != 3) {
        lose_message(relay, index, LOSS_FRAMES, "it has %zu frames, not 3",
                     message->frames);
        return false;
    }
    if (message->sequence_size != 8) {
        lose_message(relay, index, LOSS_SEQUENCE,
                     "its sequence frame has %zu bytes, not 8",
                     message->sequence_size);
        return false;
    }
    return true;
}

/* The last id that one of the first `count` slots has. */
static void note_id(struct source *source, const struct batch *batch,
                    uint32_t count)
{
    uint64_t id = 0;

    while (count > 0 && id == 0)
        id = event_id(&batch->slots[--count]);
    if (id != 0)
        source->last_id = id;
}

static void run_batch(struct relay *relay, size_t index,
                      const struct message *message,
                      const struct batch_header *header)
{
    struct source *source = relay->sources[index];
    struct pipeline *pipeline = relay->plan->pipeline;
    struct batch *batch = pipeline->batch;
    struct window window = {.pipeline = pipeline,
                            .streams = relay->streams,
                            .source = source,
                            .source_index = (uint32_t)index,
                            .reach = pipeline_reach(pipeline, index),
                            .message = message,
                            .header = header,
                            .count = header->count};
    uint32_t count;

    source->counters.events += header->count;
    moment_enter(&relay->moment, header);
    count = batch_next(source->reader, batch);
    if (pipeline->on_batch)
        batch_mark(batch, EVENT_OPENS);
    while (batch->head != EVENT_END) {
        window.last_id = source->last_id;
        window.received = count;
        window_run(&window);
        note_id(source, batch, count);
        window.position += count;
        count = batch_next(source->reader, batch);
    }
}

/* A message on which a filter failed is not kept: it would stand in the way of
 * every reload, also of one that mends something else. */
static void sample_batch(struct relay *relay, size_t index,
                         const struct message *message,
                         const struct batch_header *header)
{
    const struct pipeline *pipeline = relay->plan->pipeline;
    uint64_t errors = pipeline_errors(pipeline);

    run_batch(relay, index, message, header);
    if (header->count > 0 && pipeline_errors(pipeline) == errors)
        recent_keep(&relay->sources[index]->recent, message,
                    relay->moment.now.steady_ms);
}

void relay_receive(struct relay *relay, size_t source_index,
                   const struct message *message, struct relay_now now)
{
    struct source *source = relay->sources[source_index];
    struct batch_header header = {0};
    enum batch_fault fault;

    set_now(relay, now);
    source->counters.batches++;
    source->counters.bytes += message->payload_size;
    if (!check_frames(relay, source_index, message))
        return;
    fault = batch_open(source->reader, relay->plan->pipeline->batch,
                       message->payload, message->payload_size, &header);
    relay_judge(relay, source_index, seq_read(message->sequence), &header);
    if (fault == BATCH_OK && recent_is_due(&source->recent, now.steady_ms))
        sample_batch(relay, source_index, message, &header);
    else if (fault == BATCH_OK)
        run_batch(relay, source_index, message, &header);
    else
        lose_message(relay, source_index, LOSS_PAYLOAD,
                     "number %" PRIu64 ": %s", seq_read(message->sequence),
                     batch_fault_text(fault));
}

/* ---- time ---- */

void relay_idle(struct relay *relay, struct relay_now now)
{
    set_now(relay, now);
    moment_flush(&relay->moment);
}

/* Pay the mark that a gap's guard owes. */
static void close_guard(struct relay *relay, size_t index)
{
    if (seq_guard_close(&relay->sources[index]->record->tracker))
        relay_lose(relay, index, LOSS_GUARD, 1);
}

static uint64_t tick_source(struct relay *relay, size_t index)
{
    struct source *source = relay->sources[index];
    uint64_t waited = relay->moment.now.steady_ms - source->guard_since_ms;

    for (int cause = 0; cause < LOSS_CAUSES; cause++)
        log_gate_tick(&source->gates[cause]);
    if (!source->record->tracker.guard_due)
        return UINT64_MAX;
    if (waited < GUARD_MS)
        return GUARD_MS - waited;
    close_guard(relay, index);
    return UINT64_MAX;
}

/* Losses of sources and what filters emit come first: streams may tell of them
 * right away. */
uint64_t relay_tick(struct relay *relay, struct relay_now now)
{
    uint64_t left = TICK_MS;
    uint64_t filters;
    struct occasion occasion;

    set_now(relay, now);
    if (relay->plan == NULL)
        return left;
    pipeline_tick(relay->plan->pipeline, relay->moment.now.steady_ms);
    for (size_t i = 0; i < relay_source_count(relay); i++) {
        uint64_t source = tick_source(relay, i);

        left = source < left ? source : left;
    }
    occasion = relay_occasion(relay);
    filters = occasion_tick(&occasion);
    left = filters < left ? filters : left;
    moment_flush(&relay->moment);
    for (size_t i = 0; i < relay_stream_count(relay); i++) {
        uint64_t stream = stream_tick(relay->streams[i]);

        left = stream < left ? stream : left;
    }
    return left;
}

void relay_stop(struct relay *relay, struct relay_now now)
{
    relay_idle(relay, now);
    for (size_t i = 0; i < relay_source_count(relay); i++)
        close_guard(relay, i);
    for (size_t i = 0; i < relay_stream_count(relay); i++)
        stream_announce(relay->streams[i]);
}

#include "relay/report.h"

#include "base/json.h"
#include "base/metrics.h"
#include "relay/pipeline.h"
#include "relay/source.h"
#include "relay/stream.h"

#include <stddef.h>
#include <stdio.h>
#include <string.h>

/* A counter of a struct: its name in both reports and where it lies. */
struct counter {
    const char *name; /* in JSON; the metric is prefix + name + "_total" */
    const char *help;
    size_t offset;
};

#define SOURCE_COUNTER(field) offsetof(struct source, counters.field)
#define STREAM_COUNTER(field) offsetof(struct stream, counters.field)
#define FILTER_COUNTER(field) offsetof(struct filter_counters, field)

static const struct counter source_counters[] = {
    {"batches", "Messages received, malformed ones too.",
     SOURCE_COUNTER(batches)},
    {"events", "Events received in messages that could be read.",
     SOURCE_COUNTER(events)},
    {"bytes", "Payload bytes received.", SOURCE_COUNTER(bytes)},
    {"gaps", "Times that numbers were missing.", SOURCE_COUNTER(gaps)},
    {"missing_numbers", "Numbers missing in those gaps.",
     SOURCE_COUNTER(missing)},
    {"restarts", "Times that the publisher started over.",
     SOURCE_COUNTER(restarts)},
    {0},
};

/* These two make up the last number, and live as long as it does. */
static const struct counter record_counters[] = {
    {"published_batches", "Messages sent, announcements and heartbeats too.",
     offsetof(struct stream_record, published)},
    {"reserved_numbers", "Numbers left out for losses.",
     offsetof(struct stream_record, reserved)},
    {0},
};

static const struct counter stream_counters[] = {
    {"published_events", "Events sent.", STREAM_COUNTER(events)},
    {"published_bytes", "Payload bytes sent.", STREAM_COUNTER(bytes)},
    {"announcements", "Empty messages that show a gap nothing followed.",
     STREAM_COUNTER(announcements)},
    {"heartbeats", "Empty messages of an idle stream.",
     STREAM_COUNTER(heartbeats)},
    {0},
};

static const struct counter filter_counters[] = {
    {"kept", "Events kept, changed or not.", FILTER_COUNTER(kept)},
    {"dropped", "Events dropped.", FILTER_COUNTER(dropped)},
    {"rewritten", "Events kept or split with a change.",
     FILTER_COUNTER(rewritten)},
    {"split", "Events that became several.", FILTER_COUNTER(split)},
    {"errors", "Times that the filter failed.", FILTER_COUNTER(errors)},
    {"emitted", "Events that the filter made.", FILTER_COUNTER(emitted)},
    {0},
};

static uint64_t value_of(const void *owner, const struct counter *counter)
{
    uint64_t value;

    memcpy(&value, (const char *)owner + counter->offset, sizeof value);
    return value;
}

/* One word a malformed event's cause has in the reports. */
static const char *fault_name(int fault)
{
    static const char *const names[EVENT_FAULTS] = {
        [EVENT_NOT_A_MAP] = "not_a_map",
        [EVENT_KEY_NOT_TEXT] = "key_not_text",
        [EVENT_DUPLICATE_FIELD] = "duplicate_field",
        [EVENT_NO_TYPE] = "no_type",
        [EVENT_BAD_ID] = "bad_id",
    };

    return names[fault];
}

/* ---- chains: the global one first, then those of the streams ---- */

static size_t chain_count(const struct relay *relay)
{
    const struct pipeline *pipeline = relay_pipeline(relay);

    return pipeline == NULL ? 0 : 1 + pipeline->stream_count;
}

static const struct chain *chain_at(const struct relay *relay, size_t index)
{
    const struct pipeline *pipeline = relay_pipeline(relay);

    return index == 0 ? &pipeline->global : &pipeline->chains[index - 1];
}

/* ---- Prometheus ---- */

static void family(struct metrics *metrics, const char *prefix,
                   const struct counter *counter, char *name, size_t size)
{
    snprintf(name, size, "%s_%s_total", prefix, counter->name);
    metrics_family(metrics, name, "counter", counter->help);
}

static void source_metrics(const struct relay *relay, struct metrics *metrics)
{
    char name[96];

    for (const struct counter *at = source_counters; at->name != NULL; at++) {
        family(metrics, "kvgate_source", at, name, sizeof name);
        for (size_t i = 0; i < relay_source_count(relay); i++) {
            const struct source *source = relay_source(relay, i);

            metrics_u64(metrics, value_of(source, at), "source", source->name,
                        NULL);
        }
    }
    metrics_family(metrics, "kvgate_source_connected", "gauge",
                   "1 while the source has a connection.");
    for (size_t i = 0; i < relay_source_count(relay); i++) {
        const struct source *source = relay_source(relay, i);

        metrics_u64(metrics, source->connected, "source", source->name, NULL);
    }
}

static void source_loss_metrics(const struct relay *relay,
                                struct metrics *metrics)
{
    metrics_family(metrics, "kvgate_source_losses_total", "counter",
                   "Losses of a source by cause, each seen by all its reach.");
    for (size_t i = 0; i < relay_source_count(relay); i++) {
        const struct source *source = relay_source(relay, i);

        for (int cause = 0; cause <= LOSS_SPACE; cause++)
            metrics_u64(metrics, source->counters.losses[cause], "source",
                        source->name, "cause",
                        loss_cause_name((enum loss_cause)cause), NULL);
    }
    metrics_family(metrics, "kvgate_source_malformed_events_total", "counter",
                   "Events of readable messages that are none, by cause.");
    for (size_t i = 0; i < relay_source_count(relay); i++) {
        const struct source *source = relay_source(relay, i);

        for (int fault = EVENT_OK + 1; fault < EVENT_FAULTS; fault++)
            metrics_u64(metrics, source->counters.faults[fault], "source",
                        source->name, "cause", fault_name(fault), NULL);
    }
}

static void filter_metrics(const struct relay *relay, struct metrics *metrics)
{
    char name[96], position[24];

    for (const struct counter *at = filter_counters; at->name != NULL; at++) {
        family(metrics, "kvgate_filter", at, name, sizeof name);
        for (size_t i = 0; i < chain_count(relay); i++) {
            const struct chain *chain = chain_at(relay, i);

            for (size_t j = 0; j < chain->count; j++) {
                snprintf(position, sizeof position, "%zu", j + 1);
                metrics_u64(
                    metrics,
                    value_of(script_filter_counters(chain->steps[j].filter),
                             at),
                    "filter", chain->steps[j].script, "stream",
                    chain->stream == NULL ? "" : chain->stream, "position",
                    position, NULL);
            }
        }
    }
}

static void number_metrics(const struct relay *relay, struct metrics *metrics)
{
    char name[96];

    for (const struct counter *at = record_counters; at->name != NULL; at++) {
        family(metrics, "kvgate_stream", at, name, sizeof name);
        for (size_t i = 0; i < relay_stream_count(relay); i++) {
            const struct stream *stream = relay_stream(relay, i);

            metrics_u64(metrics, value_of(stream->record, at), "stream",
                        stream->name, NULL);
        }
    }
    metrics_family(metrics, "kvgate_stream_last_sequence", "gauge",
                   "Last number sent or left out: published_batches plus "
                   "reserved_numbers.");
    for (size_t i = 0; i < relay_stream_count(relay); i++) {
        const struct stream *stream = relay_stream(relay, i);

        metrics_u64(metrics, seq_last(&stream->record->stamper), "stream",
                    stream->name, NULL);
    }
}

static void stream_metrics(const struct relay *relay, struct metrics *metrics)
{
    char name[96];

    for (const struct counter *at = stream_counters; at->name != NULL; at++) {
        family(metrics, "kvgate_stream", at, name, sizeof name);
        for (size_t i = 0; i < relay_stream_count(relay); i++) {
            const struct stream *stream = relay_stream(relay, i);

            metrics_u64(metrics, value_of(stream, at), "stream", stream->name,
                        NULL);
        }
    }
}

static void stream_loss_metrics(const struct relay *relay,
                                struct metrics *metrics)
{
    metrics_family(metrics, "kvgate_stream_losses_total", "counter",
                   "Losses that a stream shows as gaps, by cause.");
    for (size_t i = 0; i < relay_stream_count(relay); i++) {
        const struct stream *stream = relay_stream(relay, i);

        for (int cause = 0; cause < LOSS_CAUSES; cause++)
            metrics_u64(metrics, stream->counters.losses[cause], "stream",
                        stream->name, "cause",
                        loss_cause_name((enum loss_cause)cause), NULL);
    }
}

static uint64_t memory_of(const struct relay *relay)
{
    const struct pipeline *pipeline = relay_pipeline(relay);

    return pipeline == NULL ? 0 : script_memory(pipeline->script);
}

void report_metrics(const struct relay *relay, struct buffer *out)
{
    struct metrics metrics = {.out = out};

    metrics_family(&metrics, "kvgate_build_info", "gauge",
                   "Always 1; the version is a label.");
    metrics_u64(&metrics, 1, "version", KVGATE_VERSION, NULL);
    source_metrics(relay, &metrics);
    source_loss_metrics(relay, &metrics);
    filter_metrics(relay, &metrics);
    number_metrics(relay, &metrics);
    stream_metrics(relay, &metrics);
    stream_loss_metrics(relay, &metrics);
    metrics_family(&metrics, "kvgate_script_memory_bytes", "gauge",
                   "Heap of the Lua state that runs the filters.");
    metrics_u64(&metrics, memory_of(relay), NULL);
    if (relay_pipeline(relay) != NULL)
        script_print_metrics(relay_pipeline(relay)->script, &metrics);
}

/* ---- JSON ---- */

static void json_counters(struct json *json, const void *owner,
                          const struct counter *counter)
{
    for (; counter->name != NULL; counter++) {
        json_key(json, counter->name);
        json_u64(json, value_of(owner, counter));
    }
}

static void json_losses(struct json *json, const uint64_t *losses, int causes)
{
    json_key(json, "losses");
    json_object(json);
    for (int cause = 0; cause < causes; cause++) {
        json_key(json, loss_cause_name((enum loss_cause)cause));
        json_u64(json, losses[cause]);
    }
    json_end(json);
}

static void json_faults(struct json *json, const uint64_t *faults)
{
    json_key(json, "malformed_events");
    json_object(json);
    for (int fault = EVENT_OK + 1; fault < EVENT_FAULTS; fault++) {
        json_key(json, fault_name(fault));
        json_u64(json, faults[fault]);
    }
    json_end(json);
}

static void json_source(struct json *json, const struct source *source)
{
    json_object(json);
    json_key(json, "name");
    json_text(json, source->name);
    json_key(json, "endpoint");
    json_text(json, source->endpoint);
    json_key(json, "connected");
    json_bool(json, source->connected);
    json_key(json, "last_sequence");
    json_u64(json, source->record->tracker.last);
    json_counters(json, source, source_counters);
    json_losses(json, source->counters.losses, LOSS_SPACE + 1);
    json_faults(json, source->counters.faults);
    json_end(json);
}

static void json_stream(struct json *json, const struct stream *stream)
{
    json_object(json);
    json_key(json, "name");
    json_text(json, stream->name);
    json_key(json, "endpoint");
    json_text(json, stream->endpoint);
    json_key(json, "topic");
    json_text(json, stream->topic);
    json_key(json, "last_sequence");
    json_u64(json, seq_last(&stream->record->stamper));
    json_counters(json, stream->record, record_counters);
    json_counters(json, stream, stream_counters);
    json_losses(json, stream->counters.losses, LOSS_CAUSES);
    json_end(json);
}

static void json_filter(struct json *json, const struct chain *chain,
                        size_t position)
{
    const struct step *step = &chain->steps[position];

    json_object(json);
    json_key(json, "script");
    json_text(json, step->script);
    json_key(json, "path");
    json_text(json, script_filter_path(step->filter));
    json_key(json, "stream");
    json_text(json, chain->stream);
    json_key(json, "position");
    json_u64(json, position + 1);
    json_counters(json, script_filter_counters(step->filter), filter_counters);
    json_end(json);
}

static void json_filters(struct json *json, const struct relay *relay)
{
    for (size_t i = 0; i < chain_count(relay); i++) {
        const struct chain *chain = chain_at(relay, i);

        for (size_t j = 0; j < chain->count; j++)
            json_filter(json, chain, j);
    }
}

void report_status(const struct relay *relay, struct buffer *out)
{
    struct json json = {.out = out};

    json_object(&json);
    json_key(&json, "version");
    json_text(&json, KVGATE_VERSION);
    json_key(&json, "sources");
    json_array(&json);
    for (size_t i = 0; i < relay_source_count(relay); i++)
        json_source(&json, relay_source(relay, i));
    json_end(&json);
    json_key(&json, "filters");
    json_array(&json);
    json_filters(&json, relay);
    json_end(&json);
    json_key(&json, "streams");
    json_array(&json);
    for (size_t i = 0; i < relay_stream_count(relay); i++)
        json_stream(&json, relay_stream(relay, i));
    json_end(&json);
    json_key(&json, "script_memory_bytes");
    json_u64(&json, memory_of(relay));
    json_end(&json);
    buffer_print(out, "\n");
}

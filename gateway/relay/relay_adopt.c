#include "base/memory.h"
#include "relay/relay_parts.h"
#include "relay/stream.h"

#include <stdlib.h>
#include <string.h>

/* Take the source of that name out of the old list; NULL: there is none. */
static struct source *take_source(struct relay *relay, const char *name)
{
    for (size_t i = 0; i < relay_source_count(relay); i++) {
        struct source *source = relay->sources[i];

        if (source != NULL && strcmp(source->name, name) == 0) {
            relay->sources[i] = NULL;
            return source;
        }
    }
    return NULL;
}

static struct stream *take_stream(struct relay *relay, const char *name)
{
    for (size_t i = 0; i < relay_stream_count(relay); i++) {
        struct stream *stream = relay->streams[i];

        if (stream != NULL && strcmp(stream->name, name) == 0) {
            relay->streams[i] = NULL;
            return stream;
        }
    }
    return NULL;
}

static struct source **adopt_sources(struct relay *relay,
                                     const struct config *config)
{
    struct source **sources =
        memory_new(config->source_count * sizeof(struct source *));

    for (size_t i = 0; i < config->source_count; i++) {
        const struct config_source *wanted = &config->sources[i];

        sources[i] = take_source(relay, wanted->name);
        if (sources[i] == NULL)
            sources[i] = source_new(wanted, relay->continuity);
        else
            source_configure(sources[i], wanted);
    }
    return sources;
}

static struct stream **adopt_streams(struct relay *relay,
                                     const struct config *config)
{
    struct stream **streams =
        memory_new(config_output_count(config) * sizeof(struct stream *));

    for (size_t i = 0; i < config_output_count(config); i++) {
        const struct config_stream *wanted = config_output(config, i);

        streams[i] = take_stream(relay, wanted->name);
        if (streams[i] == NULL)
            streams[i] = stream_new(wanted, relay->continuity, &relay->moment);
        else
            stream_configure(streams[i], wanted);
    }
    return streams;
}

/* A stream shows its gap before it goes.  Should its name come back, what it
 * missed meanwhile is a loss: no feed has this signature. */
static void retire_stream(struct stream *stream)
{
    stream_announce(stream);
    stream->record->feed = ~stream->record->feed;
    stream_free(stream);
}

/* What the new plan names no more. */
static void free_left_over(struct relay *relay)
{
    for (size_t i = 0; i < relay_source_count(relay); i++)
        if (relay->sources[i] != NULL)
            source_free(relay->sources[i]);
    for (size_t i = 0; i < relay_stream_count(relay); i++)
        if (relay->streams[i] != NULL)
            retire_stream(relay->streams[i]);
    free(relay->sources);
    free(relay->streams);
    plan_free(relay->plan);
}

/* A subscriber has state from the old feed: the change is a loss to it. */
static void mark_changed_feeds(struct relay *relay)
{
    for (size_t i = 0; i < relay_stream_count(relay); i++) {
        struct stream *stream = relay->streams[i];
        uint64_t feed = relay->plan->pipeline->feeds[i];

        if (stream->record->feed != 0 && stream->record->feed != feed)
            stream_lose(stream, LOSS_RELOAD, 1, STREAM_ALL_SOURCES);
        stream->record->feed = feed;
    }
}

void relay_adopt(struct relay *relay, struct plan *plan, struct relay_now now)
{
    struct source **sources;
    struct stream **streams;

    relay_idle(relay, now);
    sources = adopt_sources(relay, plan->config);
    streams = adopt_streams(relay, plan->config);
    free_left_over(relay);
    relay->plan = plan;
    relay->sources = sources;
    relay->streams = streams;
    mark_changed_feeds(relay);
    pipeline_start(plan->pipeline, relay->moment.now.steady_ms);
}

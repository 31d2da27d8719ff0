#include "base/config_parts.h"
#include "base/memory.h"

#include <stdlib.h>

enum { STREAM_HWM = 1000, STREAM_ANNOUNCE_MS = 1000 };

static void read_event_id(struct config_judge *judge,
                          const struct config_value *value, void *field)
{
    static const char *const words[] = {"keep", "restamp"};
    enum config_event_id *event_id = field;
    int word =
        config_read_word(judge, value, words, sizeof words / sizeof *words);

    if (word >= 0)
        *event_id = word == 0 ? CONFIG_EVENT_ID_KEEP : CONFIG_EVENT_ID_RESTAMP;
}

/* Sources may stand behind the streams in the file: only kept until then. */
static void read_feeds(struct config_judge *judge,
                       const struct config_value *value, void *field)
{
    const struct config_stream *stream = field;

    if (config_is_list(judge, value, "source names", CONFIG_SOURCES_MAX))
        judge->feeds[stream - judge->config->streams] = value;
}

#define AT(field) offsetof(struct config_stream, field)

enum { STREAM_BIND = 1, STREAM_CONNECT = 2 }; /* rows of the table */

static const struct config_key stream_keys[] = {
    {"name", config_read_name, AT(name), true},
    {"bind", config_read_bind, AT(socket), false},
    {"connect", config_read_connect, AT(socket), false},
    {"topic", config_read_topic, AT(topic), false},
    {"hwm", config_read_hwm, AT(socket.hwm), false},
    {"queue_bytes", config_read_queue, AT(socket.queue_bytes), false},
    {"curve", config_read_curve, AT(socket), false},
    {"plain", config_read_plain, AT(socket), false},
    {"sources", read_feeds, 0, false},
    {"accept", config_read_accept, 0, false},
    {"filters", config_read_filters, AT(filters), false},
    {"event_id", read_event_id, AT(event_id), false},
    {"announce_after", config_read_wait, AT(announce_after_ms), false},
    {"heartbeat", config_read_period, AT(heartbeat_ms), false},
};

static void read_stream(struct config_judge *judge,
                        const struct config_value *value,
                        struct config_stream *stream)
{
    uint32_t seen;

    *stream = (struct config_stream){
        .socket.hwm = STREAM_HWM,
        .socket.queue_bytes = CONFIG_QUEUE_BYTES,
        .socket.mark = value->mark,
        .topic = memory_text("", 0),
        .event_id = CONFIG_EVENT_ID_AUTO,
        .announce_after_ms = STREAM_ANNOUNCE_MS,
        .mark = value->mark,
        .name_mark = config_value_mark(value, "name"),
    };
    seen = config_read_map(judge, value, "a stream", stream_keys,
                           sizeof stream_keys / sizeof *stream_keys, stream);
    if (value->kind != CONFIG_MAP)
        return;
    config_check_socket(judge, value, "a stream", seen & 1U << STREAM_CONNECT,
                        seen & 1U << STREAM_BIND);
    config_check_security(judge, &stream->socket);
}

void config_read_streams(struct config_judge *judge,
                         const struct config_value *value, void *field)
{
    struct config *config = judge->config;

    (void)field;
    if (!config_is_filled_list(judge, value, "streams", CONFIG_STREAMS_MAX))
        return;
    config->streams = memory_new(value->size * sizeof *config->streams);
    config->stream_count = value->size;
    judge->feeds = memory_new(value->size * sizeof(void *));
    for (size_t i = 0; i < value->size; i++)
        read_stream(judge, &value->items[i], &config->streams[i]);
}

void config_stream_clear(struct config_stream *stream)
{
    free(stream->name);
    config_socket_clear(&stream->socket);
    free(stream->topic);
    free(stream->sources);
    config_accept_clear(stream);
    config_filters_clear(&stream->filters);
    *stream = (struct config_stream){0};
}

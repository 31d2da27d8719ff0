#include "base/config_parts.h"
#include "base/memory.h"

#include <string.h>

enum { LETTERS_HWM = 1000, LETTERS_ANNOUNCE_MS = 1000 };

const char config_dead_letters[] = "dead_letters";

/* ---- reading ---- */

#define AT(field) offsetof(struct config_stream, field)

enum { LETTERS_BIND = 0, LETTERS_CONNECT = 1 }; /* rows of the table */

static const struct config_key letters_keys[] = {
    {"bind", config_read_bind, AT(socket), false},
    {"connect", config_read_connect, AT(socket), false},
    {"topic", config_read_topic, AT(topic), false},
    {"hwm", config_read_hwm, AT(socket.hwm), false},
    {"queue_bytes", config_read_queue, AT(socket.queue_bytes), false},
    {"curve", config_read_curve, AT(socket), false},
    {"plain", config_read_plain, AT(socket), false},
};

void config_read_dead_letters(struct config_judge *judge,
                              const struct config_value *value, void *field)
{
    struct config *config = field;
    struct config_stream *letters = memory_new(sizeof *letters);
    uint32_t seen;

    *letters = (struct config_stream){
        .name = memory_text(config_dead_letters, strlen(config_dead_letters)),
        .socket.hwm = LETTERS_HWM,
        .socket.queue_bytes = CONFIG_QUEUE_BYTES,
        .socket.mark = value->mark,
        .topic = memory_text("", 0),
        .event_id = CONFIG_EVENT_ID_KEEP,
        .announce_after_ms = LETTERS_ANNOUNCE_MS,
        .mark = value->mark,
        .name_mark = value->mark,
    };
    config->dead_letters = letters;
    seen = config_read_map(judge, value, "dead_letters", letters_keys,
                           sizeof letters_keys / sizeof *letters_keys, letters);
    if (value->kind != CONFIG_MAP)
        return;
    config_check_socket(judge, value, "dead_letters",
                        seen & 1U << LETTERS_CONNECT,
                        seen & 1U << LETTERS_BIND);
    config_check_security(judge, &letters->socket);
}

/* ---- the whole ---- */

static const struct config_filter *
find_sender(const struct config_filters *filters)
{
    for (size_t i = 0; i < filters->count; i++)
        if (filters->items[i].on_error == CONFIG_ON_ERROR_DEAD_LETTER)
            return &filters->items[i];
    return NULL;
}

bool config_has_letters(const struct config *config)
{
    bool has = find_sender(&config->filters) != NULL;

    for (size_t i = 0; !has && i < config->stream_count; i++)
        has = find_sender(&config->streams[i].filters) != NULL;
    return has;
}

/* Once a list: what mends the first mends all. */
static void check_filters(struct config_judge *judge,
                          const struct config_filters *filters)
{
    const struct config_filter *sender = find_sender(filters);

    if (sender != NULL)
        config_mistake(&judge->mistakes, sender->on_error_mark,
                       "on_error: dead_letter, but there is no stream for "
                       "them, expected \"dead_letters\" at the top level, "
                       "with an address to bind or to connect to");
}

void config_check_letters(struct config_judge *judge)
{
    const struct config *config = judge->config;

    if (config->dead_letters == NULL)
        check_filters(judge, &config->filters);
    for (size_t i = 0; i < config->stream_count; i++) {
        const struct config_stream *stream = &config->streams[i];

        if (config->dead_letters == NULL)
            check_filters(judge, &stream->filters);
        if (stream->name != NULL &&
            strcmp(stream->name, config_dead_letters) == 0)
            config_mistake(&judge->mistakes, stream->name_mark,
                           "name: \"%s\" is the stream of the dead letters, "
                           "expected another name",
                           config_dead_letters);
    }
}

/* ---- all that is published ---- */

size_t config_output_count(const struct config *config)
{
    return config->stream_count + (config->dead_letters != NULL ? 1 : 0);
}

const struct config_stream *config_output(const struct config *config,
                                          size_t index)
{
    return index < config->stream_count ? &config->streams[index]
                                        : config->dead_letters;
}

#include "base/config_parts.h"
#include "base/memory.h"

#include <stdlib.h>

enum { SOURCE_HWM = 10000 };

static void read_format(struct config_judge *judge,
                        const struct config_value *value, void *field)
{
    static const char *const words[] = {"mooncake"};
    enum config_format *format = field;
    int word =
        config_read_word(judge, value, words, sizeof words / sizeof *words);

    if (word >= 0)
        *format = (enum config_format)word;
}

#define AT(field) offsetof(struct config_source, field)

enum { SOURCE_CONNECT = 1, SOURCE_BIND = 2 }; /* rows of the table */

static const struct config_key source_keys[] = {
    {"name", config_read_name, AT(name), true},
    {"connect", config_read_connect, AT(socket), false},
    {"bind", config_read_bind, AT(socket), false},
    {"format", read_format, AT(format), false},
    {"topic", config_read_topic, AT(topic), false},
    {"hwm", config_read_hwm, AT(socket.hwm), false},
    {"curve", config_read_curve, AT(socket), false},
    {"plain", config_read_plain, AT(socket), false},
    {"gap_guard", config_read_bool, AT(gap_guard), false},
};

static void read_source(struct config_judge *judge,
                        const struct config_value *value,
                        struct config_source *source)
{
    uint32_t seen;

    *source = (struct config_source){
        .socket.hwm = SOURCE_HWM,
        .socket.mark = value->mark,
        .format = CONFIG_FORMAT_MOONCAKE,
        .topic = memory_text("", 0),
        .gap_guard = true,
        .mark = value->mark,
        .name_mark = config_value_mark(value, "name"),
    };
    seen = config_read_map(judge, value, "a source", source_keys,
                           sizeof source_keys / sizeof *source_keys, source);
    if (value->kind != CONFIG_MAP)
        return;
    config_check_socket(judge, value, "a source", seen & 1U << SOURCE_CONNECT,
                        seen & 1U << SOURCE_BIND);
    config_check_security(judge, &source->socket);
}

void config_read_sources(struct config_judge *judge,
                         const struct config_value *value, void *field)
{
    struct config *config = judge->config;

    (void)field;
    if (!config_is_filled_list(judge, value, "sources", CONFIG_SOURCES_MAX))
        return;
    config->sources = memory_new(value->size * sizeof *config->sources);
    config->source_count = value->size;
    for (size_t i = 0; i < value->size; i++)
        read_source(judge, &value->items[i], &config->sources[i]);
}

void config_source_clear(struct config_source *source)
{
    free(source->name);
    config_socket_clear(&source->socket);
    free(source->topic);
    *source = (struct config_source){0};
}

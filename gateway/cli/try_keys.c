#include "cli/try_keys.h"

#include "cli/try_diff.h"

#include <string.h>

/* No event has a field of this name. */
static const char field[] = "kvgate try: key";

/* The value of an option; NULL: it is not given. */
static const struct config_value *
find_option(const struct config_filters *filters, const char *name)
{
    for (size_t i = 0; i < filters->count; i++) {
        const struct config_value *options = filters->items[i].options;

        for (size_t j = 0; j + 1 < options->size * 2; j += 2)
            if (options->kind == CONFIG_MAP &&
                strcmp(options->items[j].string, name) == 0)
                return &options->items[j + 1];
    }
    return NULL;
}

static const struct config_value *find_in(const struct config *config,
                                          const char *name)
{
    const struct config_value *found = find_option(&config->filters, name);

    for (size_t i = 0; found == NULL && i < config->stream_count; i++)
        found = find_option(&config->streams[i].filters, name);
    return found;
}

/* A string, or a list of them: what a convention's name may be. */
static void put_strings(struct buffer *out, const char *name,
                        const struct config_value *value)
{
    const struct config_value *items = value;
    size_t count = 1;

    if (value == NULL)
        return;
    if (value->kind == CONFIG_LIST) {
        items = value->items;
        count = value->size;
    }
    buffer_print(out, "%s: [", name);
    for (size_t i = 0; i < count; i++)
        if (items[i].kind == CONFIG_STRING)
            buffer_print(out, "'%s', ", items[i].string);
    buffer_print(out, "], ");
}

bool try_keys_open(struct try_core *keys, const struct config *config,
                   struct buffer *mistakes)
{
    const struct config_value *conventions = find_in(config, "convention");
    static const char *const streams[] = {"out"};
    struct buffer options = {0};
    bool opened;

    if (conventions == NULL)
        conventions = find_in(config, "conventions");
    buffer_print(&options, "{field: '%s', ", field);
    put_strings(&options, "conventions", conventions);
    put_strings(&options, "models", find_in(config, "models"));
    buffer_print(&options, "}");
    opened =
        try_core_open(keys,
                      &(struct try_subject){.path = "explain_key.lua",
                                            .options = buffer_text(&options),
                                            .streams = streams,
                                            .stream_count = 1},
                      mistakes);
    buffer_free(&options);
    return opened;
}

const uint8_t *try_keys_read(struct try_core *keys, const uint8_t *event,
                             size_t size)
{
    try_core_send(keys, 0, NULL, event, size);
    if (keys->outs[0].events == 0)
        return NULL;
    return try_field(keys->outs[0].bytes.data, field);
}

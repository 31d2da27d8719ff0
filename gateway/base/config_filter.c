#include "base/config_parts.h"
#include "base/memory.h"

#include <stdlib.h>

static void read_on_error(struct config_judge *judge,
                          const struct config_value *value, void *field)
{
    static const char *const words[] = {"lose", "drop", "pass", "dead_letter"};
    struct config_filter *filter = field;
    int word =
        config_read_word(judge, value, words, sizeof words / sizeof *words);

    if (word >= 0)
        filter->on_error = (enum config_on_error)word;
    filter->on_error_mark = value->mark;
}

static void read_options(struct config_judge *judge,
                         const struct config_value *value, void *field)
{
    struct config_value **options = field;

    if (value->kind != CONFIG_MAP && value->kind != CONFIG_NULL) {
        config_mistype(judge, value, "a map");
        return;
    }
    config_value_clear(*options);
    config_value_copy(*options, value);
}

static const struct config_key filter_keys[] = {
    {"script", config_read_path, offsetof(struct config_filter, script), true},
    {"options", read_options, offsetof(struct config_filter, options), false},
    {"on_error", read_on_error, 0, false},
};

static void read_filter(struct config_judge *judge,
                        const struct config_value *value,
                        struct config_filter *filter)
{
    size_t told = judge->mistakes.count + judge->mistakes.unlisted;

    *filter = (struct config_filter){
        .options = memory_new(sizeof *filter->options), .mark = value->mark};
    filter->options->mark = value->mark;
    if (value->kind == CONFIG_MAP) {
        config_read_map(judge, value, "a filter", filter_keys,
                        sizeof filter_keys / sizeof *filter_keys, filter);
    } else {
        judge->key = "a filter";
        config_mistype(judge, value, "a map, such as { script: x.lua }");
    }
    filter->broken = judge->mistakes.count + judge->mistakes.unlisted > told ||
                     config_value_is_broken(value);
}

void config_read_filters(struct config_judge *judge,
                         const struct config_value *value, void *field)
{
    struct config_filters *filters = field;

    if (value->kind == CONFIG_NULL && !value->broken)
        return; /* every filter commented out */
    if (!config_is_list(judge, value, "filters", CONFIG_FILTERS_MAX))
        return;
    filters->items = memory_new(value->size * sizeof *filters->items);
    filters->count = value->size;
    for (size_t i = 0; i < value->size; i++)
        read_filter(judge, &value->items[i], &filters->items[i]);
}

void config_filters_clear(struct config_filters *filters)
{
    for (size_t i = 0; i < filters->count; i++) {
        config_value_clear(filters->items[i].options);
        free(filters->items[i].options);
        free(filters->items[i].script);
    }
    free(filters->items);
    *filters = (struct config_filters){0};
}

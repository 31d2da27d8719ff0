#include "base/config_parts.h"
#include "base/memory.h"

#include <stdlib.h>
#include <string.h>

/* ---- names ---- */

static struct config_name *source_names(const struct config *config,
                                        size_t *count)
{
    struct config_name *names =
        memory_new(config->source_count * sizeof *names);

    *count = 0;
    for (size_t i = 0; i < config->source_count; i++) {
        const struct config_source *source = &config->sources[i];

        if (source->name != NULL)
            names[(*count)++] = (struct config_name){
                .text = source->name, .mark = source->name_mark, .index = i};
    }
    config_names_sort(names, *count);
    return names;
}

static struct config_name *stream_names(const struct config *config,
                                        size_t *count)
{
    struct config_name *names =
        memory_new(config->stream_count * sizeof *names);

    *count = 0;
    for (size_t i = 0; i < config->stream_count; i++) {
        const struct config_stream *stream = &config->streams[i];

        if (stream->name != NULL)
            names[(*count)++] = (struct config_name){
                .text = stream->name, .mark = stream->name_mark, .index = i};
    }
    config_names_sort(names, *count);
    return names;
}

static void tell_repeated(struct config_judge *judge, const char *what,
                          const struct config_name *names, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (names[i].first != NULL)
            config_mistake(
                &judge->mistakes, names[i].mark,
                "%s %s again, it is in line %u already, expected another name",
                what, config_show(names[i].text, strlen(names[i].text)).text,
                names[i].first->mark.line);
}

/* ---- which sources feed a stream ---- */

static void feed_by_all(const struct config *config,
                        struct config_stream *stream)
{
    stream->sources =
        memory_new(config->source_count * sizeof *stream->sources);
    stream->source_count = config->source_count;
    for (size_t i = 0; i < config->source_count; i++)
        stream->sources[i] = i;
}

/* While a source has no name that could be read, the unknown one may be it. */
static void tell_unknown_source(struct config_judge *judge,
                                const struct config_value *value,
                                const struct config_name *names, size_t count)
{
    const char **known;

    if (count < judge->config->source_count)
        return;
    known = memory_new(count * sizeof *known);
    for (size_t i = 0; i < count; i++)
        known[i] = names[i].text;
    config_mistake_unknown(&judge->mistakes, value, "source", known, count);
    free(known);
}

static bool is_fed_by(const struct config_stream *stream, size_t source)
{
    for (size_t i = 0; i < stream->source_count; i++)
        if (stream->sources[i] == source)
            return true;
    return false;
}

static void feed_by_one(struct config_judge *judge,
                        struct config_stream *stream,
                        const struct config_value *value,
                        const struct config_name *names, size_t count)
{
    const struct config_name *found;

    judge->key = "sources";
    if (!config_is_text(judge, value, SIZE_MAX))
        return;
    found = config_names_find(names, count, value->string);
    if (found == NULL)
        tell_unknown_source(judge, value, names, count);
    else if (is_fed_by(stream, found->index))
        config_mistake(&judge->mistakes, value->mark,
                       "source %s again, expected each once",
                       config_show(value->string, value->size).text);
    else
        stream->sources[stream->source_count++] = found->index;
}

static void feed(struct config_judge *judge, struct config_stream *stream,
                 const struct config_value *list,
                 const struct config_name *names, size_t count)
{
    if (list == NULL) {
        feed_by_all(judge->config, stream);
    } else {
        stream->sources = memory_new(list->size * sizeof *stream->sources);
        for (size_t i = 0; i < list->size; i++)
            feed_by_one(judge, stream, &list->items[i], names, count);
        if (list->size == 0)
            config_mistake(&judge->mistakes, list->mark,
                           "sources: nobody feeds this stream, expected names "
                           "of sources, or no such key for all of them");
    }
    if (stream->event_id == CONFIG_EVENT_ID_AUTO)
        stream->event_id = stream->source_count == 1 ? CONFIG_EVENT_ID_KEEP
                                                     : CONFIG_EVENT_ID_RESTAMP;
}

/* ---- the whole ---- */

static void check_sources(struct config_judge *judge)
{
    struct config *config = judge->config;
    size_t count;
    struct config_name *names = source_names(config, &count);

    tell_repeated(judge, "source", names, count);
    for (size_t i = 0; i < config->stream_count; i++)
        feed(judge, &config->streams[i], judge->feeds[i], names, count);
    free(names);
}

static void check_streams(struct config_judge *judge)
{
    size_t count;
    struct config_name *names = stream_names(judge->config, &count);

    tell_repeated(judge, "stream", names, count);
    free(names);
}

void config_check_whole(struct config_judge *judge)
{
    check_sources(judge);
    check_streams(judge);
    config_check_letters(judge);
    config_check_addresses(judge);
}

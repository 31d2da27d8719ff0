/*
 * config_fuzz - any text is a configuration or a list of mistakes
 *
 * Never both, never neither.  A configuration is whole: nothing that config.h
 * promises is missing.  A mistake is one line of printable UTF-8 with a place
 * that exists in the text.  One that is broken has what scripts are loaded by.
 */
#include "base/config.h"
#include "base/text.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

static void require(bool truth)
{
    if (!truth)
        abort();
}

/* ---- a configuration ---- */

static void check_value(const struct config_value *value)
{
    bool map = value->kind == CONFIG_MAP;
    bool container = map || value->kind == CONFIG_LIST;

    require(!value->broken && value->mark.line > 0 && value->mark.column > 0);
    if (value->kind == CONFIG_STRING)
        require(value->string[value->size] == '\0');
    for (size_t i = 0; container && i < value->size * (map ? 2 : 1); i++)
        check_value(&value->items[i]);
}

static void check_filters(const struct config_filters *filters)
{
    require(filters->count <= CONFIG_FILTERS_MAX);
    for (size_t i = 0; i < filters->count; i++) {
        const struct config_filter *filter = &filters->items[i];

        if (filter->broken)
            continue;
        require(filter->script != NULL && *filter->script != '\0');
        require(filter->options->kind == CONFIG_MAP ||
                filter->options->kind == CONFIG_NULL);
        check_value(filter->options);
    }
}

static void check_socket(const struct config_socket *socket)
{
    require(socket->endpoint != NULL && socket->hwm > 0);
}

static void check_stream(const struct config_stream *stream,
                         size_t source_count)
{
    require(stream->name != NULL && *stream->name != '\0');
    require(stream->topic != NULL && strlen(stream->topic) <= 255);
    require(stream->event_id != CONFIG_EVENT_ID_AUTO);
    require(stream->announce_after_ms >= 10);
    require(stream->source_count > 0);
    check_socket(&stream->socket);
    check_filters(&stream->filters);
    for (size_t i = 0; i < stream->source_count; i++)
        require(stream->sources[i] < source_count);
    for (size_t i = 0; i < stream->accept_count; i++) {
        require(stream->accept[i].values->kind == CONFIG_LIST);
        require(stream->accept[i].values->size > 0);
        check_value(stream->accept[i].values);
    }
}

static void check_letters(const struct config *config)
{
    const struct config_stream *letters = config->dead_letters;

    require(letters != NULL || !config_has_letters(config));
    require(config_output_count(config) ==
            config->stream_count + (letters != NULL));
    if (letters == NULL)
        return;
    require(config_output(config, config->stream_count) == letters);
    require(letters->topic != NULL && strlen(letters->topic) <= 255);
    check_socket(&letters->socket);
}

static void check_config(const struct config *config)
{
    static const char *const installed[] = {"/installed"};

    require(config->source_count > 0 && config->stream_count > 0);
    for (size_t i = 0; i < config->source_count; i++) {
        require(config->sources[i].name != NULL);
        require(config->sources[i].topic != NULL);
        check_socket(&config->sources[i].socket);
    }
    for (size_t i = 0; i < config->stream_count; i++)
        check_stream(&config->streams[i], config->source_count);
    check_letters(config);
    check_filters(&config->filters);
    config_paths_free(config_script_path(config, installed, 1));
}

/* What is left of one with mistakes. */
static void check_broken(const struct config *config)
{
    static const char *const installed[] = {"/installed"};

    require(config->source_count > 0 && config->stream_count > 0);
    for (size_t i = 0; i < config->source_count; i++)
        require(config->sources[i].name != NULL);
    for (size_t i = 0; i < config->stream_count; i++) {
        require(config->streams[i].name != NULL);
        check_filters(&config->streams[i].filters);
    }
    check_filters(&config->filters);
    config_paths_free(config_script_path(config, installed, 1));
}

/* ---- mistakes ---- */

static void check_printable(const uint8_t *bytes, size_t size)
{
    size_t length;

    for (size_t at = 0; at < size; at += length) {
        uint32_t rune = 0;

        length = text_rune(bytes + at, size - at, &rune);
        require(length > 0 && (rune == '\n' || !text_is_control(rune)));
    }
}

/* `line` is "f.yaml:LINE:COLUMN: text"; the last may count what is not told. */
static void check_line(const char *line, size_t size)
{
    unsigned long number, column;
    char *end;

    require(strncmp(line, "f.yaml:", 7) == 0);
    if (strncmp(line, "f.yaml: and ", 12) == 0)
        return;
    number = strtoul(line + 7, &end, 10);
    require(*end == ':');
    column = strtoul(end + 1, &end, 10);
    require(end[0] == ':' && end[1] == ' ' && end[2] != '\n');
    require(number >= 1 && number <= size + 1);
    require(column >= 1 && column <= size + 1);
}

static void check_mistakes(struct buffer *mistakes, size_t size)
{
    const char *line = buffer_text(mistakes);

    check_printable(mistakes->data, mistakes->size);
    require(mistakes->size > 0);
    while (*line != '\0') {
        const char *end = strchr(line, '\n');

        require(end != NULL);
        check_line(line, size);
        line = end + 1;
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct buffer mistakes = {0};
    struct config *config;

    setenv("SET", "tcp://host:5557", 1);
    config = config_read("f.yaml", (const char *)data, size, &mistakes);
    if (config != NULL && !config->broken) {
        require(mistakes.size == 0);
        check_config(config);
    } else {
        check_mistakes(&mistakes, size);
        if (config != NULL)
            check_broken(config);
    }
    config_free(config);
    buffer_free(&mistakes);
    return 0;
}

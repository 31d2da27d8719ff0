#include "base/config_endpoint.h"
#include "base/config_judge.h"
#include "base/memory.h"
#include "base/text.h"

#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    NAME_MAX_BYTES = 128,
    TOPIC_MAX_BYTES = 255,
    PATH_MAX_BYTES = 4096,
    PERIOD_LEAST_MS = 10,
    PERIOD_MOST_MS = 24 * 60 * 60 * 1000
};

static const double QUEUE_LEAST = 1 << 20;
static const double QUEUE_MOST = 64.0 * (1 << 30);

void config_take_text(char **field, const struct config_value *value)
{
    free(*field);
    *field = memory_text(value->string, value->size);
}

/* ---- texts ---- */

static bool is_printable(const struct config_value *value)
{
    const uint8_t *bytes = (const uint8_t *)value->string;
    size_t length;

    for (size_t at = 0; at < value->size; at += length) {
        uint32_t rune = 0;

        length = text_rune(bytes + at, value->size - at, &rune);
        if (length == 0 || text_is_control(rune))
            return false;
    }
    return true;
}

static bool is_filled(struct config_judge *judge,
                      const struct config_value *value)
{
    if (value->size > 0)
        return true;
    config_mistake(&judge->mistakes, value->mark,
                   "%s: empty, expected at least one character", judge->key);
    return false;
}

void config_read_name(struct config_judge *judge,
                      const struct config_value *value, void *field)
{
    if (!config_is_text(judge, value, NAME_MAX_BYTES) ||
        !is_filled(judge, value))
        return;
    if (is_printable(value))
        config_take_text(field, value);
    else
        config_mistake(&judge->mistakes, value->mark,
                       "%s: %s holds a control character, expected printable "
                       "UTF-8",
                       judge->key,
                       config_show(value->string, value->size).text);
}

void config_read_topic(struct config_judge *judge,
                       const struct config_value *value, void *field)
{
    if (config_is_text(judge, value, TOPIC_MAX_BYTES))
        config_take_text(field, value);
}

void config_read_path(struct config_judge *judge,
                      const struct config_value *value, void *field)
{
    if (config_is_text(judge, value, PATH_MAX_BYTES) && is_filled(judge, value))
        config_take_text(field, value);
}

/* ---- numbers ---- */

void config_read_bool(struct config_judge *judge,
                      const struct config_value *value, void *field)
{
    bool *flag = field;

    if (value->kind == CONFIG_BOOL)
        *flag = value->boolean;
    else
        config_mistype(judge, value, "true or false");
}

void config_read_hwm(struct config_judge *judge,
                     const struct config_value *value, void *field)
{
    int *hwm = field;

    if (value->kind == CONFIG_INTEGER && value->integer >= 1 &&
        value->integer <= INT_MAX)
        *hwm = (int)value->integer;
    else
        config_mistype(judge, value,
                       "a whole number of messages from 1 to 2147483647");
}

/* ---- sizes ---- */

double config_size(const struct config_value *value)
{
    static const struct {
        const char *name;
        double bytes;
    } units[] = {{"KiB", 1024}, {"MiB", 1024 * 1024}, {"GiB", 1 << 30}};
    const char *text = value->string;
    const char *unit;
    char *end;
    double number;

    if (value->kind == CONFIG_INTEGER)
        return (double)value->integer;
    if (value->kind != CONFIG_STRING)
        return -1;
    unit = text + strspn(text, "0123456789.");
    number = strtod(text, &end);
    for (size_t i = 0; i < sizeof units / sizeof *units; i++)
        if (end == unit && unit != text && strcmp(unit, units[i].name) == 0)
            return number * units[i].bytes;
    return -1;
}

void config_read_queue(struct config_judge *judge,
                       const struct config_value *value, void *field)
{
    double bytes = config_size(value);

    if (bytes >= QUEUE_LEAST && bytes <= QUEUE_MOST)
        *(uint64_t *)field = (uint64_t)llround(bytes);
    else
        config_mistype(judge, value,
                       "a size like 16MiB or 1GiB, from 1MiB to 64GiB");
}

/* ---- spans of time ---- */

/* "1.5s": the number, and the unit's milliseconds. */
static bool split_span(const char *text, double *number, double *unit_ms)
{
    static const struct {
        const char *name;
        double ms;
    } units[] = {{"ms", 1}, {"s", 1000}, {"m", 60000}, {"h", 3600000}};
    const char *unit = text + strspn(text, "0123456789.");
    char *end;

    *number = strtod(text, &end);
    if (end != unit || unit == text)
        return false;
    for (size_t i = 0; i < sizeof units / sizeof *units; i++) {
        if (strcmp(unit, units[i].name) != 0)
            continue;
        *unit_ms = units[i].ms;
        return true;
    }
    return false;
}

/* Milliseconds; negative when `value` is no span. */
static double span_ms(const struct config_value *value)
{
    double number = -1;
    double unit_ms = 1000;

    if (value->kind == CONFIG_INTEGER)
        number = (double)value->integer;
    else if (value->kind == CONFIG_NUMBER)
        number = value->number;
    else if (value->kind != CONFIG_STRING ||
             !split_span(value->string, &number, &unit_ms))
        return -1;
    return isnan(number) ? -1 : number * unit_ms;
}

static void read_span(struct config_judge *judge,
                      const struct config_value *value, const char *expected,
                      bool off, uint64_t *field)
{
    double ms = span_ms(value);

    if ((ms == 0 && off) || (ms >= PERIOD_LEAST_MS && ms <= PERIOD_MOST_MS))
        *field = (uint64_t)llround(ms);
    else
        config_mistype(judge, value, expected);
}

void config_read_wait(struct config_judge *judge,
                      const struct config_value *value, void *field)
{
    read_span(judge, value,
              "a time like 500ms, 1s or 2m, from 10ms to 24 hours", false,
              field);
}

void config_read_period(struct config_judge *judge,
                        const struct config_value *value, void *field)
{
    read_span(judge, value,
              "0 (off) or a time like 500ms, 1s or 2m, from 10ms to 24 hours",
              true, field);
}

/* ---- sockets ---- */

static void read_endpoint(struct config_judge *judge,
                          const struct config_value *value, bool bind,
                          struct config_socket *socket)
{
    struct config_endpoint endpoint;
    struct error error = {0};

    if (!config_is_text(judge, value, CONFIG_ENDPOINT_MAX))
        return;
    if (!config_endpoint_parse(value->string, bind, &endpoint, &error)) {
        config_mistake(&judge->mistakes, value->mark, "%s: %s: %s", judge->key,
                       config_show(value->string, value->size).text,
                       error.text);
        return;
    }
    config_take_text(&socket->endpoint, value);
    socket->bind = bind;
    socket->mark = value->mark;
}

void config_read_connect(struct config_judge *judge,
                         const struct config_value *value, void *field)
{
    read_endpoint(judge, value, false, field);
}

void config_read_bind(struct config_judge *judge,
                      const struct config_value *value, void *field)
{
    read_endpoint(judge, value, true, field);
}

void config_check_socket(struct config_judge *judge,
                         const struct config_value *map, const char *what,
                         bool connects, bool binds)
{
    if (connects != binds)
        return;
    config_mistake(&judge->mistakes, map->mark,
                   "%s with %s connect %s bind, expected one of the two", what,
                   binds ? "both" : "neither", binds ? "and" : "nor");
}

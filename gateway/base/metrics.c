#include "base/metrics.h"
#include "base/text.h"

#include <assert.h>
#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static void put_help(struct buffer *out, const char *help)
{
    for (; *help != '\0'; help++) {
        if (*help == '\\')
            buffer_put(out, "\\\\", 2);
        else if (*help == '\n')
            buffer_put(out, "\\n", 2);
        else
            buffer_put(out, help, 1);
    }
}

void metrics_family(struct metrics *metrics, const char *name, const char *type,
                    const char *help)
{
    metrics->family = name;
    buffer_print(metrics->out, "# HELP %s ", name);
    put_help(metrics->out, help);
    buffer_print(metrics->out, "\n# TYPE %s %s\n", name, type);
}

/* The format wants UTF-8: a stray byte becomes \xNN, its backslash escaped. */
static void put_label_value(struct buffer *out, const char *value)
{
    const uint8_t *at = (const uint8_t *)value;
    const uint8_t *end = at + strlen(value);

    while (at < end) {
        uint32_t rune = 0;
        size_t length = text_rune(at, (size_t)(end - at), &rune);

        if (length == 0)
            buffer_print(out, "\\\\x%02x", *at);
        else if (*at == '\n')
            buffer_put(out, "\\n", 2);
        else if (*at == '"' || *at == '\\')
            buffer_print(out, "\\%c", *at);
        else
            buffer_put(out, at, length);
        at += length > 0 ? length : 1;
    }
}

static void put_sample(struct metrics *metrics, const char *value,
                       const struct metrics_label *labels, size_t count)
{
    struct buffer *out = metrics->out;

    buffer_print(out, "%s", metrics->family);
    for (size_t i = 0; i < count; i++) {
        buffer_print(out, "%s%s=\"", i == 0 ? "{" : ",", labels[i].name);
        put_label_value(out, labels[i].value);
        buffer_put(out, "\"", 1);
    }
    buffer_print(out, "%s %s\n", count > 0 ? "}" : "", value);
}

/* Returns how many there are. */
static size_t take_labels(struct metrics_label *labels, va_list args)
{
    size_t count = 0;
    const char *name;

    while ((name = va_arg(args, const char *)) != NULL) {
        assert(count < METRICS_LABELS);
        labels[count].name = name;
        labels[count++].value = va_arg(args, const char *);
    }
    return count;
}

void metrics_u64_of(struct metrics *metrics, uint64_t value,
                    const struct metrics_label *labels, size_t count)
{
    char digits[32];

    snprintf(digits, sizeof digits, "%" PRIu64, value);
    put_sample(metrics, digits, labels, count);
}

void metrics_double_of(struct metrics *metrics, double value,
                       const struct metrics_label *labels, size_t count)
{
    char digits[32];

    if (isfinite(value))
        text_double(digits, value);
    else
        snprintf(digits, sizeof digits, "%s",
                 isnan(value) ? "NaN"
                 : value > 0  ? "+Inf"
                              : "-Inf");
    put_sample(metrics, digits, labels, count);
}

void metrics_u64(struct metrics *metrics, uint64_t value, ...)
{
    struct metrics_label labels[METRICS_LABELS];
    va_list args;

    va_start(args, value);
    metrics_u64_of(metrics, value, labels, take_labels(labels, args));
    va_end(args);
}

void metrics_double(struct metrics *metrics, double value, ...)
{
    struct metrics_label labels[METRICS_LABELS];
    va_list args;

    va_start(args, value);
    metrics_double_of(metrics, value, labels, take_labels(labels, args));
    va_end(args);
}

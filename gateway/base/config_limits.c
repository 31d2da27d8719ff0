#include "base/config_parts.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const double mebibyte = 1024.0 * 1024;

enum { MEMORY_LEAST_MIB = 8, MEMORY_MOST_MIB = 64 * 1024 };

struct config_limits config_limits_default(void)
{
    return (struct config_limits){
        .event_ms = 50, .load_ms = 5000, .stuck_ms = 5000, .memory = 256 << 20};
}

/* ---- sizes ---- */

/* "256MiB" as bytes; negative: it is none. */
static double size_of(const struct config_value *value)
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

static void read_memory(struct config_judge *judge,
                        const struct config_value *value, void *field)
{
    double bytes = size_of(value);

    if (bytes >= MEMORY_LEAST_MIB * mebibyte &&
        bytes <= MEMORY_MOST_MIB * mebibyte)
        *(uint64_t *)field = (uint64_t)llround(bytes);
    else
        config_mistype(judge, value,
                       "a size like 64MiB or 1GiB, from 8MiB to 64GiB");
}

/* ---- limits, jit ---- */

#define AT(field) offsetof(struct config_limits, field)

static const struct config_key limit_keys[] = {
    {"event", config_read_wait, AT(event_ms), false},
    {"load", config_read_wait, AT(load_ms), false},
    {"stuck", config_read_wait, AT(stuck_ms), false},
    {"memory", read_memory, AT(memory), false},
};

void config_read_limits(struct config_judge *judge,
                        const struct config_value *value, void *field)
{
    config_read_map(judge, value, "limits", limit_keys,
                    sizeof limit_keys / sizeof *limit_keys, field);
}

/* "on" and "off" are strings in YAML 1.2. */
void config_read_jit(struct config_judge *judge,
                     const struct config_value *value, void *field)
{
    static const char *const words[] = {"auto", "on", "off"};
    int word =
        config_read_word(judge, value, words, sizeof words / sizeof *words);

    if (word >= 0)
        *(enum config_jit *)field = (enum config_jit)word;
}

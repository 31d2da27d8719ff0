#include "base/config_parts.h"

#include <math.h>

static const double mebibyte = 1024.0 * 1024;

enum { MEMORY_LEAST_MIB = 8, MEMORY_MOST_MIB = 64 * 1024 };

struct config_limits config_limits_default(void)
{
    return (struct config_limits){
        .event_ms = 50, .load_ms = 5000, .stuck_ms = 5000, .memory = 256 << 20};
}

static void read_memory(struct config_judge *judge,
                        const struct config_value *value, void *field)
{
    double bytes = config_size(value);

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

/*
 * try_core - the gateway's heart with nothing around it
 *
 * Events go through it one at a time, each a message of its own, so that what
 * comes out is known to come of it.
 */
#ifndef CLI_TRY_CORE_H
#define CLI_TRY_CORE_H

#include "base/buffer.h"
#include "base/config.h"
#include "relay/relay.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* What one stream got of an event: a payload. */
struct try_out {
    struct buffer payload; /* empty: nothing */
    uint32_t events;
};

struct try_core {
    struct relay *relay;
    struct config *config;
    struct try_out *outs; /* one a stream */
    bool blames_filter;   /* for the last event's loss */
    uint64_t *numbers;    /* of each source's last message */
};

enum try_verdict {
    TRY_KEPT = 0,
    TRY_DROPPED,
    TRY_SPLIT,
    TRY_LOST,
    TRY_VERDICTS
};

extern const char *const try_verdict_names[TRY_VERDICTS];

/* `path` is a configuration, or a filter (*.lua) that gets `options`, YAML.
 * False with a line for each mistake; free it all the same. */
bool try_core_open(struct try_core *core, const char *path, const char *options,
                   struct buffer *mistakes);
void try_core_free(struct try_core *core);

/* Send one event (msgpack) of the source and see; `outs` are what it made. */
enum try_verdict try_core_send(struct try_core *core, size_t source,
                               const uint8_t *event, size_t size);

/* Why the last event was lost; of a filter with its file and line. */
const char *try_core_error(const struct try_core *core);

#endif

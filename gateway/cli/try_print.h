/*
 * try_print - the verdict on one event, as a line of JSON
 */
#ifndef CLI_TRY_PRINT_H
#define CLI_TRY_PRINT_H

#include "base/buffer.h"
#include "cli/try_core.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct try_print {
    struct buffer *out;
    uint64_t events;
    uint64_t verdicts[TRY_VERDICTS];
};

/* `event` (checked msgpack, a map) went into the core, with this verdict. */
void try_print_event(struct try_print *print, const struct try_core *core,
                     enum try_verdict verdict, const uint8_t *event);

void try_print_summary(struct try_print *print);

#endif

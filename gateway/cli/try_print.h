/*
 * try_print - what kvgate try says: a block of text an event, or a line of JSON
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
    const struct try_core *core;
    bool json;
    bool colour;
    unsigned only; /* bits of the verdicts to print, see below; 0: all */
    uint64_t events;
    uint64_t verdicts[TRY_VERDICTS];
};

/* A bit of `only`: 1 << verdict, or this, for events that any stream got
 * changed. */
enum { TRY_CHANGED = 1 << TRY_VERDICTS };

/* An event that went into the core. */
struct try_told {
    const char *source;   /* NULL: there is but one */
    const uint8_t *event; /* checked msgpack */
    enum try_verdict verdict;
    const uint8_t *key; /* msgpack map: what its object_key says; or NULL */
};

/* Something between two events. */
struct try_mark {
    const char *kind;   /* one word: gap, restart, malformed, tick */
    const char *source; /* NULL: of none */
    uint64_t missing;   /* of a gap */
    const char *reason; /* of a malformed message; else NULL */
};

void try_print_event(struct try_print *print, const struct try_told *told);
void try_print_mark(struct try_print *print, const struct try_mark *mark);
void try_print_summary(struct try_print *print);

/* ---- the two forms ---- */

void try_json_event(const struct try_print *print, const struct try_told *told);
void try_json_mark(const struct try_print *print, const struct try_mark *mark);
void try_json_summary(const struct try_print *print);

void try_text_event(const struct try_print *print, const struct try_told *told);
void try_text_mark(const struct try_print *print, const struct try_mark *mark);
void try_text_summary(const struct try_print *print);

/* ---- what both tell ---- */

/* The event at `index` among those that a stream got, or NULL. */
const uint8_t *try_out_event(const struct try_out *out, uint32_t index);

/* The filter whose failure lost the event on that stream; NULL: none. */
const struct try_step *try_blame(const struct try_core *core,
                                 const struct try_out *out);

/* Why the stream lost the event, where no filter is to blame. */
const char *try_cause(const struct try_core *core, const struct try_out *out);

/* Append the samples of metrics that the filters declared, one a line. */
void try_put_samples(const struct try_core *core, struct buffer *out);

#endif

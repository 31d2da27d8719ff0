/*
 * try_core - the gateway's heart with nothing around it
 *
 * Events go through it one at a time, each a message of its own, so that what
 * comes out, and what each filter counted, is known to come of it.
 */
#ifndef CLI_TRY_CORE_H
#define CLI_TRY_CORE_H

#include "base/buffer.h"
#include "base/config.h"
#include "codec/event.h"
#include "relay/loss.h"
#include "relay/relay.h"
#include "script/script.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* What one stream got of what was sent last. */
struct try_out {
    const char *stream;
    struct buffer bytes;   /* the events, one behind the other */
    uint32_t events;       /* how many they are */
    uint64_t lost;         /* numbers that it left out */
    enum loss_cause cause; /* of the last of these losses */
    uint64_t total_events, total_lost;
    uint64_t reserved, losses[LOSS_CAUSES]; /* before */
};

/* One filter in its place, and what it did with what was sent last. */
struct try_step {
    const char *script;
    const char *path;   /* of its file */
    const char *stream; /* whose chain it is in; NULL: the global one */
    enum config_on_error on_error;
    struct filter_counters did;
    struct filter_counters all; /* what it ever did */
    const char *failure; /* what its last error said: good until the next */
    char *first_failure; /* of all */
};

enum try_verdict {
    TRY_KEPT = 0,
    TRY_DROPPED,
    TRY_SPLIT,
    TRY_LOST,
    TRY_DEAD_LETTER, /* lost, and a letter tells of it */
    TRY_VERDICTS
};

extern const char *const try_verdict_names[TRY_VERDICTS];

bool try_is_lost(enum try_verdict verdict);

struct try_core {
    struct relay *relay;
    struct config *config;
    bool is_filter;    /* the subject is one filter, its streams are ours */
    uint64_t *numbers; /* of each source's last message */
    struct relay_now now;
    struct try_out *outs; /* one a stream */
    size_t out_count;
    struct try_out letters; /* about what was sent last, not one of outs */
    struct try_step *steps; /* in the order of their running */
    size_t step_count;
    struct buffer log;      /* lines of what was sent last */
    enum event_fault fault; /* why what was sent last is no event */
    bool failed;            /* an event was lost or a filter failed, ever */
};

/* Is it a filter's name, *.lua, and not a configuration's? */
bool try_core_is_filter(const char *path);

/* How a subject is to be opened. */
struct try_subject {
    const char *path;           /* a configuration, or a filter: *.lua */
    const char *options;        /* of the filter, YAML; NULL: none */
    const char *const *streams; /* that the filter may name */
    size_t stream_count;
};

/* False with a line for each mistake; free it all the same. */
bool try_core_open(struct try_core *core, const struct try_subject *subject,
                   struct buffer *mistakes);
void try_core_free(struct try_core *core);

/* What an event's message says besides it. NULL: as an old publisher may. */
struct try_moment {
    const uint8_t *timestamp, *rank; /* msgpack integers; rank may be nil */
};

/* Send one event (checked msgpack) of the source and see. */
enum try_verdict try_core_send(struct try_core *core, size_t source,
                               const struct try_moment *moment,
                               const uint8_t *event, size_t size);

/* Is `sent`, which a stream got, one that a filter emitted beside the event
 * sent last?  When one emitted any, what has another type or key is taken for
 * it: nothing else tells them apart. */
bool try_core_is_emitted(const struct try_core *core, const uint8_t *event,
                         const uint8_t *sent);

/* Let numbers of the source be missing; the guard behind them comes along. */
void try_core_gap(struct try_core *core, size_t source, uint64_t missing);

/* Let the publisher start over. */
void try_core_restart(struct try_core *core, size_t source);

/* A message that cannot be read, as it is; its number becomes the next. */
void try_core_spoilt(struct try_core *core, size_t source,
                     struct message message);

/* So much time has passed since the start, and it is `wall_ms` (Unix): timers
 * run. */
void try_core_tick(struct try_core *core, uint64_t passed_ms, uint64_t wall_ms);

#endif

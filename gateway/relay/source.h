/*
 * source - one upstream publisher: its tracker, its reader, what was counted
 */
#ifndef RELAY_SOURCE_H
#define RELAY_SOURCE_H

#include "base/config.h"
#include "base/log.h"
#include "codec/batch.h"
#include "relay/continuity.h"
#include "relay/loss.h"
#include "relay/recent.h"

struct source_counters {
    uint64_t batches; /* messages received, malformed ones too */
    uint64_t events;  /* in the batches that could be read */
    uint64_t bytes;   /* payload bytes */
    uint64_t gaps;
    uint64_t missing; /* numbers missing in those gaps */
    uint64_t restarts;
    uint64_t losses[LOSS_CAUSES];
    uint64_t faults[EVENT_FAULTS]; /* malformed events by enum event_fault */
};

struct source {
    char *name;
    char *endpoint;               /* as the socket layer resolved it */
    struct source_record *record; /* borrowed from continuity */
    struct batch_reader *reader;
    bool connected;
    uint64_t last_id;        /* of its last event that went through; 0: none */
    uint64_t guard_since_ms; /* when the owed mark came about */
    struct source_counters counters;
    struct recent recent;               /* what new behaviour is tried on */
    struct log_gate gates[LOSS_CAUSES]; /* one a cause: none hides another */
};

struct source *source_new(const struct config_source *config,
                          struct continuity *continuity);
void source_free(struct source *source);

/* Take over what a changed configuration says; numbers and counters stay. */
void source_configure(struct source *source,
                      const struct config_source *config);

/* Write none of its losses into the log from now on. */
void source_silence(struct source *source);

#endif

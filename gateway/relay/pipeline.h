/*
 * pipeline - one generation of behaviour: chains, routes, reach
 *
 * Built from a configuration, never changed, replaced as a whole.  Holds what a
 * reload rebuilds and nothing that must survive one.
 *
 *   reach[source]   streams that its events may get to, from the config alone
 *   global chain    runs over the whole window, before the route
 *   stream chains   run over copies: no stream sees another's edits
 */
#ifndef RELAY_PIPELINE_H
#define RELAY_PIPELINE_H

#include "base/buffer.h"
#include "base/config.h"
#include "codec/batch.h"
#include "relay/accept.h"
#include "relay/chain.h"
#include "script/script.h"

struct pipeline {
    struct script *script;
    struct batch *batch; /* the window, shared with the scripts */
    struct accept *accept;
    struct chain global;
    struct chain *chains; /* one a stream, may be empty */
    size_t stream_count;
    size_t source_count;
    uint32_t words;     /* of a set of streams */
    uint64_t *reach;    /* words per source */
    uint64_t *filtered; /* streams with a chain of their own */
    uint64_t *own;      /* words per stream: it alone */
    uint64_t *all;      /* every stream */
    bool on_batch;      /* some filter wants to know of messages, */
    bool on_loss;       /* of losses */
    bool letters;       /* behind the streams comes that of the letters */
    uint64_t *feeds;    /* per stream, signature of all that feeds it */
    uint64_t judged_ms; /* when filters were last judged by their errors */
};

/* NULL, with a line for each script that can't be loaded in `mistakes`; of a
 * config that is broken always.  A `trial` goes on to tell there what fails
 * (see chain_run).  Borrows `config`. */
struct pipeline *pipeline_new(const struct config *config,
                              const char *const *installed,
                              size_t installed_count, bool trial,
                              const struct keep *before,
                              struct buffer *mistakes);
void pipeline_free(struct pipeline *pipeline);

/* The streams a source may reach: `words` words. */
uint64_t *pipeline_reach(const struct pipeline *pipeline, size_t source);

/* How many times filters have failed. */
uint64_t pipeline_errors(const struct pipeline *pipeline);

/* It is in force from now on. */
void pipeline_start(struct pipeline *pipeline, uint64_t now_ms);

/* What is due from time to time in each chain: see chain_tick. */
void pipeline_tick(struct pipeline *pipeline, uint64_t now_ms);

/* Log no failure from now on. */
void pipeline_silence(struct pipeline *pipeline);

/* Append a line for each filter that keeps failing. */
void pipeline_tell_failing(const struct pipeline *pipeline, struct buffer *out);

#endif

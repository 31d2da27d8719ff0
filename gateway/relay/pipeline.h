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
#include "base/log.h"
#include "codec/batch.h"
#include "relay/accept.h"
#include "script/script.h"

/* One loaded filter in its place. */
struct step {
    struct script_filter *filter;
    const char *script; /* as the config calls it */
    enum config_on_error on_error;
    struct log_gate gate;
    uint64_t errors; /* when the window began */
    bool failing;    /* it keeps failing: see pipeline_tick */
};

struct chain {
    struct step *steps;
    size_t count;
    const char *stream; /* whose chain it is; NULL: the global one */
};

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
    uint64_t *feeds;    /* per stream, signature of all that feeds it */
    uint64_t judged_ms; /* when filters were last judged by their errors */
};

/* NULL, with a line for each script that can't be loaded in `mistakes`.
 * Borrows `config`. */
struct pipeline *pipeline_new(const struct config *config,
                              const char *const *installed,
                              size_t installed_count, struct buffer *mistakes);
void pipeline_free(struct pipeline *pipeline);

/* The streams a source may reach: `words` words. */
uint64_t *pipeline_reach(const struct pipeline *pipeline, size_t source);

/*
 * Run a chain over the batch, filter by filter.  An event on which a filter
 * fails becomes lost, dropped, or passes with its edits before that filter, as
 * the filter's on_error says; a gated log line names all of it.
 */
void chain_run(struct chain *chain, struct script *script, struct batch *batch,
               const char *source);

enum { PIPELINE_FAILING = 10, PIPELINE_WINDOW_MS = 10000 };

/*
 * Tell what the filters' log gates held back, once their window is over, and
 * judge: a filter keeps failing from its tenth error within a window on, until
 * a whole window has fewer.  It is named, never switched off.
 */
void pipeline_tick(struct pipeline *pipeline, uint64_t now_ms);

/* Append a line for each filter that keeps failing. */
void pipeline_tell_failing(const struct pipeline *pipeline, struct buffer *out);

#endif

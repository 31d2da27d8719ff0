/*
 * chain - filters one behind the other, and what comes of their failures
 */
#ifndef RELAY_CHAIN_H
#define RELAY_CHAIN_H

#include "base/buffer.h"
#include "base/config.h"
#include "base/log.h"
#include "codec/batch.h"
#include "script/script.h"

/* One loaded filter in its place. */
struct step {
    struct script_filter *filter;
    const char *script; /* as the config calls it */
    enum config_on_error on_error;
    struct log_gate gate;
    uint64_t errors; /* when the window began */
    bool failing;    /* it keeps failing: see chain_tick */
    char *failure;   /* what its last error said; NULL: none yet */
};

struct chain {
    struct step *steps;
    size_t count;
    const char *stream; /* whose chain it is; NULL: the global one */
};

/*
 * Load the filters that `filters` of `config` names, for a stream or for all.
 * Goes on behind a script that can't be loaded, with a line in `mistakes`: all
 * of them are told at once.  False: there were some.
 */
bool chain_load(struct chain *chain, struct script *script,
                const struct config *config,
                const struct config_filters *filters, const char *stream,
                struct buffer *mistakes);
void chain_free(struct chain *chain);

/*
 * Run a chain over the batch, filter by filter.  An event on which a filter
 * fails becomes lost, dropped, or passes with its edits before that filter, as
 * the filter's on_error says; a gated log line names all of it.
 */
void chain_run(struct chain *chain, struct script *script, struct batch *batch,
               const char *source);

/* Log no failure from now on: the caller tells it. */
void chain_silence(struct chain *chain);

enum { CHAIN_FAILING = 10, CHAIN_WINDOW_MS = 10000 };

/*
 * Tell what the filters' log gates held back, once their window is over, and
 * judge: a filter keeps failing from its tenth error within a window on, until
 * a whole window has fewer; with `over` the window ends.  It is named, never
 * switched off.
 */
void chain_tick(struct chain *chain, bool over);

/* Append a line for each filter that keeps failing. */
void chain_tell_failing(const struct chain *chain, struct buffer *out);

#endif

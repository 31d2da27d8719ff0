/*
 * chain - filters one behind the other, and what comes of their failures
 */
#ifndef RELAY_CHAIN_H
#define RELAY_CHAIN_H

#include "base/buffer.h"
#include "base/config.h"
#include "base/log.h"
#include "codec/batch.h"
#include "relay/stream.h"
#include "script/script.h"

/* One loaded filter in its place. */
struct step {
    struct script_filter *filter;
    const char *script; /* as the config calls it */
    enum config_on_error on_error;
    struct log_gate gate;
    uint64_t due_ms; /* when on_tick is called next, if it has one */
    uint64_t errors; /* when the window began */
    bool failing;    /* it keeps failing: see chain_tick */
    char *failure;   /* what its last error said, with its hook unless that is
                        on_event; NULL: none yet */
};

struct chain {
    struct step *steps;
    size_t count;
    const char *stream;  /* whose chain it is; NULL: the global one */
    struct buffer *told; /* a trial's: what fails goes here, not to the log */
};

/* Where the events of a batch are from, for who hears of a failure. */
struct origin {
    const char *source;     /* NULL: of none */
    bool numbered;          /* they came in a message: batch->sequence */
    uint32_t position;      /* in it, of the event in slot 0 */
    uint32_t count;         /* slots with events of the message, from 0 on */
    struct stream *letters; /* NULL: no filter has dead letters */
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

/* How many times its filters have failed. */
uint64_t chain_errors(const struct chain *chain);

/*
 * Run a chain over the batch, filter by filter.  An event on which a filter
 * fails becomes lost, dropped, or passes with its edits before that filter, as
 * the filter's on_error says, which may send a letter about it; a failure in
 * another hook loses nothing.  A gated log line names all of it.  In a trial
 * the first failure of each filter is told instead, and what is left when it is
 * over (script_is_over) is not run.
 */
void chain_run(struct chain *chain, struct script *script, struct batch *batch,
               const struct origin *origin);

/* Log no failure from now on: the caller tells it. */
void chain_silence(struct chain *chain);
/*
 * Call on_tick of the filter at `index`, for which the batch holds a mark, and
 * run the filters behind it over what it emitted.
 */
void chain_call_tick(struct chain *chain, size_t index, struct script *script,
                     struct batch *batch, const struct origin *origin);

/* The filters' clocks start now. */
void chain_start(struct chain *chain, uint64_t now_ms);

/* Has the time of its on_tick come?  Says so once; what was missed meanwhile is
 * not made up for. */
bool step_is_due(struct step *step, uint64_t now_ms);

/* Milliseconds until it is due; UINT64_MAX: never. */
uint64_t step_time_left(const struct step *step, uint64_t now_ms);

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

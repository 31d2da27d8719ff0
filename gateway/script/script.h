/*
 * script - the one door to Lua
 *
 * One LuaJIT state with its sandbox, the filters loaded into it, and the single
 * function that enters it.  Nobody above this folder sees a lua_State; every
 * way a call can end has a name here.
 *
 *   script_new ─ script_load ×n ─ script_run ×∞ ─ script_free
 *
 * A filter has a Lua driver loop of its own (lua/kvgate/driver.lua, loaded
 * afresh for each, or traces would specialise on the first), which runs over
 * the whole batch in one protected call.  It stores the slot it is at, so that
 * the caller knows which event raised, and resumes behind it.
 */
#ifndef SCRIPT_SCRIPT_H
#define SCRIPT_SCRIPT_H

#include "base/config.h"
#include "base/error.h"
#include "base/metrics.h"
#include "codec/event_abi.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Exit code of a process whose script did not come back (watchdog.h). */
enum { SCRIPT_EXIT_STUCK = 70 };

struct keep;
struct script;
struct script_filter;

/* What the scripts of one generation may know.  Copied. */
struct script_world {
    char *const *path; /* NULL-terminated directories: scripts, modules */
    const char *const *streams; /* names that a verdict may use; index = bit */
    size_t stream_count;
    const char *const *sources; /* names behind batch.source */
    size_t source_count;
    const char *const *causes; /* of losses, as on_loss says them */
    size_t cause_count;
    struct config_limits limits;
    bool trial;                /* its runs have no effect: see below */
    const struct keep *before; /* of the generation in force, which must stay
                                  until all is loaded; NULL: there is none */
};

/* A filter to load, and its place. */
struct script_wanted {
    const char *name; /* of the script */
    const struct config_value *options;
    const char *stream; /* whose chain it is in; NULL: the global one */
    uint32_t position;  /* in its chain, from 1 */
};

/* What a filter wants to be called for besides events. */
struct script_hooks {
    bool on_batch;
    bool on_loss;
    uint64_t every_ms; /* between two calls of on_tick; 0: it has none */
};

/*
 * A trial is a generation that is thrown away after it ran over some events
 * that are known.  It is interpreted, so that the one in force keeps profiler
 * and compiled code; and its runs end together, after this time or with the
 * first event that takes too long.
 */
enum { SCRIPT_TRIAL_MS = 1000 };

/* How a run over a batch ended. */
enum script_result {
    SCRIPT_DONE = 0,   /* every event has its verdict */
    SCRIPT_RAISED,     /* the filter raised an error */
    SCRIPT_NO_VERDICT, /* it returned something that is none */
    SCRIPT_BAD_STREAM, /* it named a stream that does not exist */
    SCRIPT_TOO_MANY,   /* it split into more events than a batch holds */
    SCRIPT_NO_MEMORY,  /* the VM or the arena had no more */
    SCRIPT_BUDGET,     /* an event took longer than it may */
    SCRIPT_OVER,       /* nothing more is run: the trial's time is over */
};

const char *script_result_text(enum script_result result);

/* A new state.  NULL and `error` when LuaJIT cannot start, or its build lacks
 * what the gateway needs, or the limits.  Before the first: the compiler is
 * tried (proof.h). */
struct script *script_new(const struct script_world *world,
                          struct error *error);
void script_free(struct script *script);

/*
 * Find, load and instantiate a filter: runs its chunk and calls the function
 * that it returns with its options.  NULL, and `error` with file:line and the
 * way there, in one line, when anything of that fails.  Owned by the script.
 */
struct script_filter *script_load(struct script *script,
                                  const struct script_wanted *wanted,
                                  struct error *error);

/* The file it was loaded from. */
const char *script_filter_path(const struct script_filter *filter);

/* A hash of the text of the file, of all modules it required, and its options.
 */
uint64_t script_filter_signature(const struct script_filter *filter);

const struct script_hooks *
script_filter_hooks(const struct script_filter *filter);

/* Tell what its log gate held back, once the gate's window is over. */
void script_filter_tick(struct script_filter *filter);

/* Live counters; `errors` is the caller's to count. */
struct filter_counters *script_filter_counters(struct script_filter *filter);

/*
 * Run the filter over the live events of `batch` from slot `from` on, and its
 * other hooks where there is a mark for them.  Verdicts are applied to the
 * batch: dropped events change state, names narrow `reach`, copies and emitted
 * events are linked behind their original.  Anything but SCRIPT_DONE concerns
 * slot batch->current, and what the filter made of it is taken back: the caller
 * decides its fate (its edits before this filter are batch->before) and calls
 * again with the slot behind it.
 */
enum script_result script_run(struct script_filter *filter, struct batch *batch,
                              uint32_t from);

/* What went wrong in the last run: file:line: message (in function < …). */
const char *script_error_text(const struct script *script);

/* A trial whose time is over. */
bool script_is_over(const struct script *script);

/* What the filters hold over a reload.  Borrowed. */
const struct keep *script_keep(const struct script *script);

/* Write the tables in it down, for the next generation to read. */
void script_save(struct script *script);

/* Append the metrics that the filters declared. */
void script_print_metrics(const struct script *script, struct metrics *out);

/* Bytes of the VM's heap. */
size_t script_memory(const struct script *script);

#endif

/*
 * watchdog - stops a script that does not come back
 *
 * A ticker thread pokes the thread that runs Lua with SIGPROF, only while a
 * script runs.  The handler, on that thread, looks which event is in hand; one
 * that is there for its whole budget is stopped: a hook raises an error at
 * every instruction until C takes it away, so that no pcall swallows it.
 * Compiled code looks at no hook.  It leaves for the interpreter because
 * LuaJIT's line profiler is attached, whose own handler is called behind ours.
 *
 * LuaJIT has one profiler a process: the state that runs events has it, and
 * gets it with its first run.  Scripts load with the compiler off instead, so
 * that a new state can load while an old one has the profiler.
 *
 * What no hook stops (a C function) ends the process with
 * SCRIPT_EXIT_STUCK (script.h).
 */
#ifndef SCRIPT_WATCHDOG_H
#define SCRIPT_WATCHDOG_H

#include "base/error.h"
#include "codec/event_abi.h"

#include <lua.h>
#include <stdbool.h>
#include <stdint.h>

struct watchdog;

/* `stuck_ms`: how long after its budget a script may go on, before the process
 * ends.  `compiled`: the compiler is on, and the profiler needed.  Lets SIGPROF
 * through to the calling thread, which is to be the one that runs scripts.
 * NULL and `error` when there is no thread for it. */
struct watchdog *watchdog_new(lua_State *L, uint64_t stuck_ms, bool compiled,
                              struct error *error);

/* Before the state is closed. */
void watchdog_free(struct watchdog *dog);

/*
 * From now on `filter` runs, over the events of `batch`, each of which may take
 * `budget_ms`; or it loads, without a batch and with the compiler off.  Where
 * another in this process has the profiler, the compiler goes off for good.
 */
void watchdog_begin(struct watchdog *dog, const char *filter,
                    const struct batch *batch, uint64_t budget_ms);

/* It came back.  True: because it was stopped. */
bool watchdog_end(struct watchdog *dog);

/* All runs from now on together may take `ms`: then whatever runs is stopped.
 */
void watchdog_limit(struct watchdog *dog, uint64_t ms);

/* That time is over. */
bool watchdog_is_late(const struct watchdog *dog);

/* Whether the compiler is on. */
bool watchdog_is_compiled(const struct watchdog *dog);

/* Where it was stopped: "path:12: ran for more than 50 ms". */
const char *watchdog_text(const struct watchdog *dog);

#endif

/*
 * proof - can this build of LuaJIT be stopped?
 *
 * LuaJIT does not promise that the watchdog reaches compiled code, so it is
 * tried: a compiled loop must end at the signal.  No clock takes part, so a
 * slow machine is never taken for such a build.
 */
#ifndef SCRIPT_PROOF_H
#define SCRIPT_PROOF_H

#include <stdbool.h>

/* Tried once a process, which takes less than a millisecond. */
bool proof_holds(void);

#endif

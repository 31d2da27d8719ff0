/*
 * proof - can this build of LuaJIT be stopped?
 *
 * LuaJIT does not promise that the watchdog reaches compiled code, so it is
 * tried: a compiled loop that would run for seconds must be stopped at once.
 */
#ifndef SCRIPT_PROOF_H
#define SCRIPT_PROOF_H

#include <stdbool.h>

/* Tried once a process, which takes some 15 ms. */
bool proof_holds(void);

#endif

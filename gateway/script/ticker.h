/*
 * ticker - pokes the thread that runs Lua
 *
 * One thread a process, there while anybody holds it.  While armed, it sends
 * SIGPROF to the armed thread every few milliseconds.
 */
#ifndef SCRIPT_TICKER_H
#define SCRIPT_TICKER_H

#include "base/error.h"

#include <stdbool.h>
#include <stdint.h>

/* Hold it; `handler` gets SIGPROF.  All holders give the same one. */
bool ticker_hold(void (*handler)(int), struct error *error);
void ticker_release(void);

/* Poke the calling thread every `period_ns`, between 1 and 50 ms. */
void ticker_arm(uint64_t period_ns);
void ticker_disarm(void);

/* Whether the calling thread is the one that was armed last. */
bool ticker_is_here(void);

#endif

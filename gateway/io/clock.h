/*
 * clock - the time that the relay is given
 */
#ifndef IO_CLOCK_H
#define IO_CLOCK_H

#include "relay/relay.h"

/* Some milliseconds coarse, so that it costs next to nothing; never goes back
 * (steady_ms). */
struct relay_now clock_now(void);

/* Steady time in microseconds, to measure with. */
uint64_t clock_exact_us(void);

#endif

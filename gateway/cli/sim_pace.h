/*
 * sim_pace - so many events a second, on the whole
 *
 * What is due follows from the start and the number of events made, so that
 * late wake-ups do not add up.  Who is late by more than a second (a suspended
 * machine) does not catch up.
 */
#ifndef CLI_SIM_PACE_H
#define CLI_SIM_PACE_H

#include <stdbool.h>
#include <stdint.h>

struct sim_pace {
    uint64_t rate;       /* events a second; 0: all are due at once */
    uint64_t started_ns; /* when the first event was due */
};

void sim_pace_start(struct sim_pace *pace, uint64_t rate);

/* Sleep until event number `made` (from 0) is due.  False when `descriptor`
 * became readable first. */
bool sim_pace_wait(struct sim_pace *pace, uint64_t made, int descriptor);

/* The same for what is due `offset_ns` after the first, whatever the rate. */
bool sim_pace_wait_until(struct sim_pace *pace, uint64_t offset_ns,
                         int descriptor);

#endif

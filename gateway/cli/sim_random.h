/*
 * sim_random - numbers that only look random
 *
 * splitmix64: any 64-bit seed is a good one, and a number can be had by its
 * place in the row, without making those before it.
 */
#ifndef CLI_SIM_RANDOM_H
#define CLI_SIM_RANDOM_H

#include <stdint.h>

/* The number at `place` of the row that `seed` begins. */
uint64_t sim_random_at(uint64_t seed, uint64_t place);

struct sim_random {
    uint64_t seed;
    uint64_t place;
};

/* The next of its row, below `bound` (from 1 to 2^32). */
uint64_t sim_random_below(struct sim_random *random, uint64_t bound);

#endif

#include "cli/sim_random.h"

uint64_t sim_random_at(uint64_t seed, uint64_t place)
{
    uint64_t mixed = seed + (place + 1) * 0x9e3779b97f4a7c15u;

    mixed = (mixed ^ mixed >> 30) * 0xbf58476d1ce4e5b9u;
    mixed = (mixed ^ mixed >> 27) * 0x94d049bb133111ebu;
    return mixed ^ mixed >> 31;
}

uint64_t sim_random_below(struct sim_random *random, uint64_t bound)
{
    uint64_t upper = sim_random_at(random->seed, random->place++) >> 32;

    return upper * bound >> 32;
}

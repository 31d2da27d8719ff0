#include "io/clock.h"

#include <time.h>

static uint64_t read_ms(clockid_t clock)
{
    struct timespec time = {0};

    clock_gettime(clock, &time);
    return (uint64_t)time.tv_sec * 1000 + (uint64_t)time.tv_nsec / 1000000;
}

uint64_t clock_exact_us(void)
{
    struct timespec time = {0};

    clock_gettime(CLOCK_MONOTONIC, &time);
    return (uint64_t)time.tv_sec * 1000000 + (uint64_t)time.tv_nsec / 1000;
}

struct relay_now clock_now(void)
{
    return (struct relay_now){.steady_ms = read_ms(CLOCK_MONOTONIC_COARSE),
                              .wall_ms = read_ms(CLOCK_REALTIME_COARSE)};
}

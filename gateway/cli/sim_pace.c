#include "cli/sim_pace.h"

#include <poll.h>
#include <time.h>

enum { NS_PER_S = 1000000000 };

static uint64_t clock_ns(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * NS_PER_S + (uint64_t)now.tv_nsec;
}

void sim_pace_start(struct sim_pace *pace, uint64_t rate)
{
    *pace = (struct sim_pace){.rate = rate, .started_ns = clock_ns()};
}

/* Nanoseconds until what is due `offset` after the start. */
static uint64_t time_left(struct sim_pace *pace, uint64_t offset)
{
    uint64_t now = clock_ns();

    if (pace->started_ns + offset + NS_PER_S < now)
        pace->started_ns = now - offset;
    return pace->started_ns + offset > now ? pace->started_ns + offset - now
                                           : 0;
}

/* Sleep; false when `descriptor` became readable first. */
static bool sleep_for(uint64_t left, int descriptor)
{
    struct pollfd item = {.fd = descriptor, .events = POLLIN};
    struct timespec wait = {.tv_sec = (time_t)(left / NS_PER_S),
                            .tv_nsec = (long)(left % NS_PER_S)};

    return ppoll(&item, 1, &wait, NULL) <= 0;
}

bool sim_pace_wait_until(struct sim_pace *pace, uint64_t offset_ns,
                         int descriptor)
{
    uint64_t left;

    do {
        left = time_left(pace, offset_ns);
        if (!sleep_for(left, descriptor))
            return false;
    } while (left > 0);
    return true;
}

bool sim_pace_wait(struct sim_pace *pace, uint64_t made, int descriptor)
{
    if (pace->rate == 0)
        return sleep_for(0, descriptor);
    return sim_pace_wait_until(
        pace, (uint64_t)((double)made / (double)pace->rate * NS_PER_S),
        descriptor);
}

#include "cli/sim_pace.h"

#include <errno.h>
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

/* Nanoseconds until the event is due. */
static uint64_t time_left(struct sim_pace *pace, uint64_t made)
{
    uint64_t offset, now;

    if (pace->rate == 0)
        return 0;
    now = clock_ns();
    offset = (uint64_t)((double)made / (double)pace->rate * NS_PER_S);
    if (pace->started_ns + offset + NS_PER_S < now)
        pace->started_ns = now - offset;
    return pace->started_ns + offset > now ? pace->started_ns + offset - now
                                           : 0;
}

bool sim_pace_wait(struct sim_pace *pace, uint64_t made, int descriptor)
{
    struct pollfd item = {.fd = descriptor, .events = POLLIN};
    struct timespec wait;
    uint64_t left;

    do {
        left = time_left(pace, made);
        wait.tv_sec = (time_t)(left / NS_PER_S);
        wait.tv_nsec = (long)(left % NS_PER_S);
        if (ppoll(&item, 1, &wait, NULL) > 0)
            return false;
    } while (left > 0);
    return true;
}

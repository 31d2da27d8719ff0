/*
 * sim_replay - a recording, published as it was
 *
 * Frames, numbers and faults are the recorded ones; only the time may be
 * stretched.  One stream of a recording is replayed, as a publisher has one.
 */
#ifndef CLI_SIM_REPLAY_H
#define CLI_SIM_REPLAY_H

#include "base/error.h"
#include "base/recording.h"
#include "cli/sim_options.h"
#include "cli/sim_pace.h"
#include "io/publisher.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct sim_replay {
    const struct sim_options *options; /* borrowed */
    struct recording *recording;
    size_t stream; /* that is replayed */
    struct sim_pace pace;
    uint64_t messages; /* sent */
    uint64_t rounds;   /* begun */
};

/* False and `error` when there is nothing to replay; close it all the same. */
bool sim_replay_open(struct sim_replay *replay,
                     const struct sim_options *options, struct error *error);
void sim_replay_close(struct sim_replay *replay);

/* Publish all of it.  False when `stop` became readable first, or with `error`
 * where the recording is damaged. */
bool sim_replay_run(struct sim_replay *replay, struct publisher *publisher,
                    int stop, struct error *error);

#endif

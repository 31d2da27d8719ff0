/*
 * trial - new behaviour runs over recently seen messages before it is in force
 *
 * In a relay of its own, whose streams lead nowhere, with scripts of its own:
 * no number, no metric, no log line and no state comes of it.
 */
#ifndef RELAY_TRIAL_H
#define RELAY_TRIAL_H

#include "base/buffer.h"
#include "base/config.h"
#include "relay/relay.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum trial_end {
    TRIAL_FINE = 0,
    TRIAL_BROKEN, /* it can't be built */
    TRIAL_FAILED, /* a filter failed on a message */
    TRIAL_MOVED,  /* a file changed between the trial and the building */
};

struct trial {
    enum trial_end end;
    uint32_t messages; /* recently seen, of sources that are still there */
    uint32_t tried;    /* fewer: there was no more time, or it was skipped */
    uint64_t events;   /* in those tried */
};

/*
 * Build what `config` describes, as plan_new does, for relay_adopt.  First it
 * is built aside and run over the recent messages of `relay`, for a second at
 * the most; with `skip` it isn't.  What the filters of `relay` keep over a
 * reload is there in both.  NULL, and a line for each mistake in
 * `mistakes`, if anything fails.
 */
struct plan *trial_plan(struct trial *trial, const struct relay *relay,
                        const struct config *config,
                        const char *const *installed, size_t installed_count,
                        bool skip, struct buffer *mistakes);

/* Append a line for each thing that the filters of `relay` keep over a reload
 * and those of `next` do not go on with, and why. */
void trial_tell_state(const struct relay *relay, const struct plan *next,
                      struct buffer *out);

#endif

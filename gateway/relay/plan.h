/*
 * plan - a configuration and the behaviour that was built of it
 */
#ifndef RELAY_PLAN_H
#define RELAY_PLAN_H

#include "base/buffer.h"
#include "base/config.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct keep;
struct pipeline;

struct plan {
    const struct config *config; /* borrowed */
    struct pipeline *pipeline;
};

/*
 * Build the behaviour that `config` describes: loads and runs every script.
 * `installed`: directories of ready-made filters.  Borrows `config` until the
 * plan is freed or, once adopted, replaced.  NULL, with a line for each mistake
 * in `mistakes`, if anything fails.  `trial`: see trial.h.  `before`:
 * what the filters in force keep over a reload, or NULL.
 */
struct plan *plan_new(const struct config *config, const char *const *installed,
                      size_t installed_count, bool trial,
                      const struct keep *before, struct buffer *mistakes);
void plan_free(struct plan *plan);

/* A hash of all that feeds its streams: of contents, not of names or times. */
uint64_t plan_signature(const struct plan *plan);

#endif

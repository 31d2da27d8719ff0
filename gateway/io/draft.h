/*
 * draft - a configuration with its plan, not in force yet
 *
 * Everything of a start or a reload that can be wrong in a file is found here;
 * what can still fail after it are sockets.
 */
#ifndef IO_DRAFT_H
#define IO_DRAFT_H

#include "base/buffer.h"
#include "base/config.h"
#include "relay/relay.h"
#include "relay/trial.h"

#include <stdbool.h>
#include <stddef.h>

struct draft {
    struct config *config;
    struct plan *plan; /* borrows config */
};

/* Directories of ready-made filters. */
struct installed {
    const char *const *directories;
    size_t count;
};

/*
 * Read the configuration at `path` and load its scripts.  False, with a line
 * for each mistake in `mistakes`, when anything of that fails.
 */
bool draft_load(struct draft *draft, const char *path,
                const struct installed *installed, struct buffer *mistakes);

/* The same for a reload: tried on what `relay` has seen, unless `skip`. */
bool draft_reload(struct draft *draft, const char *path,
                  const struct installed *installed, const struct relay *relay,
                  bool skip, struct trial *trial, struct buffer *mistakes);

/* For one that is not adopted. */
void draft_free(struct draft *draft);

#endif

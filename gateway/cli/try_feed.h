/*
 * try_feed - events of a file, into the core and told
 *
 * JSON lines, one event a line with or without what kvgate tap writes beside
 * it, or a recording.  What tap or a recording says of losses is let happen.
 */
#ifndef CLI_TRY_FEED_H
#define CLI_TRY_FEED_H

#include "base/error.h"
#include "cli/try_core.h"
#include "cli/try_print.h"
#include "cli/try_reads.h"

struct try_feed {
    struct try_core *core;
    struct try_core *keys; /* NULL: keys are not explained */
    struct try_print *print;
    struct try_reads reads;     /* fields that filters read */
    uint64_t began_ms, wall_ms; /* of what was fed: when it began, and now */
};

/* One file; "-" is standard input.  Mistakes go to standard error, each with
 * its place; false: there was one. */
bool try_feed_file(struct try_feed *feed, const char *path);

#endif

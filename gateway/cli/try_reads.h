/*
 * try_reads - fields that filters read and no event had: misspelt ones
 *
 * Any name may be a field's, so a filter that reads a misspelt one gets nil and
 * fails in silence.  Here a filter's text is looked through, line by line, for
 *
 *     event.NAME    event:has "NAME"    something(event, "NAME")
 *
 * with names that are nearly those of known fields.  What is written in another
 * way is not seen; what an event has, or a filter assigns, is not told.
 */
#ifndef CLI_TRY_READS_H
#define CLI_TRY_READS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { TRY_READS_MAX = 32, TRY_READ_NAME_MAX = 63 };

struct try_read {
    const char *path; /* of the filter; borrowed */
    unsigned line;    /* where it is read first */
    char name[TRY_READ_NAME_MAX + 1];
    bool exists; /* an event had it, or a filter assigns it */
};

/* Names beyond the most are not told. */
struct try_reads {
    struct try_read items[TRY_READS_MAX];
    size_t count;
};

/* Look through a filter's file; `path` must outlive `reads`. */
void try_reads_scan(struct try_reads *reads, const char *path);

/* There is this event (checked msgpack). */
void try_reads_see(struct try_reads *reads, const uint8_t *event);

/* Tell on standard error what no event had. */
void try_reads_tell(const struct try_reads *reads);

#endif

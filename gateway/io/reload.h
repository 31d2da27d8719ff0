/*
 * reload - what came of one, in words
 */
#ifndef IO_RELOAD_H
#define IO_RELOAD_H

#include "base/buffer.h"
#include "relay/trial.h"

#include <stdbool.h>
#include <stdint.h>

enum reload_end {
    RELOAD_DONE = 0,
    RELOAD_WRONG,  /* a file is wrong: mend it */
    RELOAD_REFUSED /* the files may be right, but not here and now */
};

struct reload {
    bool force; /* without a trial */
    enum reload_end end;
    uint64_t generation; /* that is in force now */
    uint64_t took_us;    /* that events waited for it */
    struct trial trial;
    struct buffer mistakes; /* a line for each, if it isn't done */
    struct buffer notes;    /* a line for each thing that is worth knowing */
};

/* Lines of text, for people and the log. */
void reload_print(struct reload *reload, struct buffer *out);

/* One JSON object. */
void reload_print_json(struct reload *reload, struct buffer *out);

void reload_free(struct reload *reload);

#endif

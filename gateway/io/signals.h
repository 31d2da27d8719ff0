/*
 * signals - what the operator asks of the process
 *
 * SIGHUP asks for a reload, SIGTERM and SIGINT for an orderly end.  A second
 * SIGTERM or SIGINT ends the process at once, also when it hangs.  SIGPIPE is
 * ignored.
 */
#ifndef IO_SIGNALS_H
#define IO_SIGNALS_H

#include "base/error.h"

#include <stdbool.h>

/* Catch them from now on. */
bool signals_open(struct error *error);

/* Readable while something was asked for and not taken.  Borrowed. */
int signals_descriptor(void);

struct signals_asked {
    bool reload, stop;
};

/* What was asked for since the last call. */
struct signals_asked signals_take(void);

#endif

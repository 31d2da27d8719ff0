/*
 * border - the C half of what a script sees of an event
 *
 * Fills the function pointers of struct border (border_abi.h), through which
 * lua/kvgate/{event,value,driver}.lua read and edit a batch.  They validate
 * nothing that Lua validates already, and are never handed to scripts.
 */
#ifndef SCRIPT_BORDER_H
#define SCRIPT_BORDER_H

#include "script/border_abi.h"

struct border *border_new(void);
void border_free(struct border *border);

/* What scripts may touch from now on; NULL: nothing. */
void border_show(struct border *border, struct batch *batch);

#endif

/*
 * place - where the program is, and its ready-made filters beside it
 */
#ifndef CLI_PLACE_H
#define CLI_PLACE_H

#include "io/draft.h"

struct place;

/* Looks for share/kvgate/filters of an installed program and filters/ of a
 * source tree.  Caller frees. */
struct place *place_find(void);
void place_free(struct place *place);

/* Borrowed. */
const struct installed *place_installed(const struct place *place);

#endif

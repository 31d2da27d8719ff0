/*
 * owner - a filter in its place, as what serves it knows it
 *
 * Its name and stream tell an operator which filter it is; its key is the same
 * before and after a reload as long as the filter stays the n-th of its script
 * in its chain.
 */
#ifndef SCRIPT_OWNER_H
#define SCRIPT_OWNER_H

#include "base/buffer.h"
#include "base/log.h"

#include <stdint.h>

struct owner {
    char *script;      /* as the configuration calls it */
    char *stream;      /* whose chain it is in; "": all events go through it */
    uint32_t position; /* in its chain, from 1 */
    uint32_t ordinal;  /* among filters of this script in its chain, from 1 */
    struct log_gate gate; /* for what it logs itself */
};

/* Copies the names; `stream` may be NULL. */
void owner_set(struct owner *owner, const char *script, const char *stream,
               uint32_t position, uint32_t ordinal);
void owner_clear(struct owner *owner);

/* Append 'filter x.lua of stream "a" (the second)': whatever tells it apart. */
void owner_name(const struct owner *owner, struct buffer *out);

#endif

/*
 * changes - what a list of edits comes to
 *
 * A list of edits holds every assignment, newest first; changes are the newest
 * of each field, sorted by what has to be done: a field that was received is
 * replaced or cut where it lies, any other is written behind the rest.
 */
#ifndef CODEC_CHANGES_H
#define CODEC_CHANGES_H

#include "codec/event.h"

#include <string.h>

enum {
    CHANGES_EDITS = 2 * EVENT_CHANGES, /* in a list, covered ones too */
    CHANGES_MAX = CHANGES_EDITS + 1    /* and a stamp in front of it */
};

struct changes {
    uint32_t known; /* a bit for every known field among them */
    uint32_t present;
    uint32_t others;
    bool named; /* some of the others are known by name only */
    const struct edit *sorted[EVENT_FIELDS]; /* received: as the bytes lie */
    const struct edit *other[CHANGES_MAX];   /* newest first */
    bool placed[CHANGES_MAX]; /* a name that was received after all */
};

/* Fill all of it from the edits of `event` from `newest` on. */
void changes_collect(struct changes *changes, const struct event *event,
                     const struct edit *newest);

/* True if the edit is one of this field; `name` is used only with
 * FIELD_NONE. */
static inline bool changes_is_of(const struct edit *edit, enum field field,
                                 const uint8_t *name, size_t name_size)
{
    if (edit->field != (uint32_t)field)
        return false;
    return field != FIELD_NONE || (edit->name_size == name_size &&
                                   memcmp(edit->name, name, name_size) == 0);
}

#endif

#include "codec/changes.h"

#include <assert.h>

static_assert(EVENT_FIELDS <= 32, "struct changes has a bit for every field");

static void insert_sorted(struct changes *changes, const struct event *event,
                          const struct edit *edit)
{
    uint32_t slot = changes->present++;
    uint32_t at = event->at[edit->field];

    for (; slot > 0 && event->at[changes->sorted[slot - 1]->field] > at; slot--)
        changes->sorted[slot] = changes->sorted[slot - 1];
    changes->sorted[slot] = edit;
}

static void add_other(struct changes *changes, const struct edit *edit)
{
    changes->placed[changes->others] = false;
    changes->other[changes->others++] = edit;
}

static bool has_name(const struct changes *changes, const struct edit *edit)
{
    for (uint32_t i = 0; changes->named && i < changes->others; i++)
        if (changes_is_of(changes->other[i], FIELD_NONE, edit->name,
                          edit->name_size))
            return true;
    return false;
}

static void add_named(struct changes *changes, const struct edit *edit)
{
    if (has_name(changes, edit))
        return;
    changes->named = true;
    add_other(changes, edit);
}

static void add_known(struct changes *changes, const struct event *event,
                      const struct edit *edit)
{
    uint32_t bit = UINT32_C(1) << edit->field;

    if ((changes->known & bit) != 0)
        return;
    changes->known |= bit;
    if (event->at[edit->field] != 0)
        insert_sorted(changes, event, edit);
    else
        add_other(changes, edit);
}

void changes_collect(struct changes *changes, const struct event *event,
                     const struct edit *newest)
{
    changes->known = 0;
    changes->present = 0;
    changes->others = 0;
    changes->named = false;
    for (; newest != NULL; newest = newest->older) {
        if (newest->field == EVENT_NAMED)
            add_named(changes, newest);
        else
            add_known(changes, event, newest);
    }
}

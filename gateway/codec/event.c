#include "codec/event.h"
#include "base/arena.h"
#include "codec/batch.h"
#include "codec/changes.h"
#include "codec/cursor.h"

#include <assert.h>
#include <string.h>

static_assert((int)FIELD_NONE == (int)EVENT_NAMED &&
                  (int)EVENT_NAMED == (int)EVENT_FIELDS,
              "a named edit is one of no known field");

const char *event_fault_text(enum event_fault fault)
{
    static const char *const texts[EVENT_FAULTS] = {
        [EVENT_OK] = "an event",
        [EVENT_NOT_A_MAP] = "not a map",
        [EVENT_KEY_NOT_TEXT] = "a key is not a string",
        [EVENT_DUPLICATE_FIELD] = "a known field is there twice",
        [EVENT_NO_TYPE] = "no event_type",
        [EVENT_BAD_ID] = "event_id is no unsigned integer",
    };

    return texts[fault];
}

/* ---- indexing ---- */

/* The RFC's names and the legacy ones: publishers have put either in either
 * field. */
static const struct {
    const char *name;
    uint8_t size;
    uint8_t type;
} types[] = {{"stored", 6, EVENT_STORED},
             {"removed", 7, EVENT_REMOVED},
             {"cleared", 7, EVENT_CLEARED},
             {"BlockStored", 11, EVENT_STORED},
             {"BlockRemoved", 12, EVENT_REMOVED},
             {"AllBlocksCleared", 16, EVENT_CLEARED}};

enum { TYPES = sizeof types / sizeof *types };

const char *event_type_name(size_t index)
{
    return index < TYPES ? types[index].name : NULL;
}

static enum event_type type_called(const uint8_t *value)
{
    for (size_t i = 0; i < TYPES; i++)
        if (cursor_is_text(value, types[i].name, types[i].size))
            return (enum event_type)types[i].type;
    return EVENT_OTHER;
}

static const uint8_t *received(const struct event *event, enum field field)
{
    return event->at[field] != 0 ? event->bytes + event->at[field] : NULL;
}

static bool is_text(const uint8_t *value)
{
    return value != NULL && cursor_kind(value) == CURSOR_STR;
}

enum event_fault event_judge(struct event *event)
{
    const uint8_t *id = received(event, FIELD_EVENT_ID);
    const uint8_t *type = received(event, FIELD_EVENT_TYPE);
    uint64_t number;

    if (id != NULL && !cursor_u64(id, &number))
        return EVENT_BAD_ID;
    if (!is_text(type))
        type = received(event, FIELD_TYPE);
    if (!is_text(type))
        return EVENT_NO_TYPE;
    event->type = (uint8_t)type_called(type);
    return EVENT_OK;
}

/* Place every known field of the map; `at` is behind its header. */
static enum event_fault place_fields(struct event *event, const uint8_t *at,
                                     uint32_t pairs)
{
    for (uint32_t i = 0; i < pairs; i++) {
        enum field field;
        uint32_t size;

        if (cursor_kind(at) != CURSOR_STR)
            return EVENT_KEY_NOT_TEXT;
        at = cursor_bytes(at, &size);
        field = field_find(at, size);
        at += size;
        if (field != FIELD_NONE) {
            if (event->at[field] != 0)
                return EVENT_DUPLICATE_FIELD;
            event->at[field] = (uint32_t)(at - event->bytes);
        }
        at = cursor_skip(at);
    }
    return EVENT_OK;
}

enum event_fault event_index(struct event *event, const uint8_t *bytes,
                             uint32_t size)
{
    const uint8_t *at = bytes;
    enum event_fault fault;
    uint32_t pairs;

    *event = (struct event){.bytes = bytes, .size = size, .next = EVENT_END};
    if (cursor_kind(bytes) != CURSOR_MAP)
        return EVENT_NOT_A_MAP;
    pairs = cursor_enter(&at);
    fault = place_fields(event, at, pairs);
    return fault == EVENT_OK ? event_judge(event) : fault;
}

/* ---- reading ---- */

/* The newest edit of a field, or NULL. */
static const struct edit *newest_edit(const struct event *event,
                                      enum field field, const uint8_t *name,
                                      size_t name_size)
{
    const struct edit *edit = event->edits;

    while (edit != NULL && !changes_is_of(edit, field, name, name_size))
        edit = edit->older;
    return edit;
}

const uint8_t *event_value(const struct event *event, enum field field)
{
    const struct edit *edit = newest_edit(event, field, NULL, 0);

    return edit != NULL ? edit->value : received(event, field);
}

struct event_pair event_pair_at(const uint8_t *at)
{
    struct event_pair pair;

    pair.name = cursor_bytes(at, &pair.name_size);
    pair.value = pair.name + pair.name_size;
    pair.end = cursor_skip(pair.value);
    return pair;
}

static const uint8_t *received_named(const struct event *event,
                                     const uint8_t *name, size_t size)
{
    const uint8_t *at = event->bytes;
    const uint8_t *found = NULL;
    uint32_t pairs = cursor_enter(&at);

    for (uint32_t i = 0; i < pairs; i++) {
        struct event_pair pair = event_pair_at(at);

        if (pair.name_size == size && memcmp(pair.name, name, size) == 0)
            found = pair.value;
        at = pair.end;
    }
    return found;
}

const uint8_t *event_field(const struct event *event, enum field field,
                           const uint8_t *name, size_t size)
{
    const struct edit *edit;

    if (field != FIELD_NONE)
        return event_value(event, field);
    edit = newest_edit(event, field, name, size);
    return edit != NULL ? edit->value : received_named(event, name, size);
}

const uint8_t *event_named(const struct event *event, const uint8_t *name,
                           size_t size)
{
    return event_field(event, field_find(name, size), name, size);
}

const uint8_t *event_text(const struct event *event, enum field field,
                          uint32_t *size)
{
    const uint8_t *value = event_value(event, field);

    return is_text(value) ? cursor_bytes(value, size) : NULL;
}

uint64_t event_id(const struct event *event)
{
    const uint8_t *value = event_value(event, FIELD_EVENT_ID);
    uint64_t id;

    return value != NULL && cursor_u64(value, &id) ? id : 0;
}

/* ---- editing ---- */

static bool push_edit(struct batch *batch, const struct edit **list,
                      const struct edit *edit)
{
    struct edit *copy =
        arena_take(batch->arena, sizeof *copy + edit->size + edit->name_size);
    uint8_t *bytes;

    if (copy == NULL)
        return false;
    bytes = (uint8_t *)(copy + 1);
    *copy = *edit;
    copy->older = *list;
    copy->depth = *list != NULL ? (*list)->depth + 1 : 1;
    if (edit->value != NULL)
        copy->value = memcpy(bytes, edit->value, edit->size);
    if (edit->name != NULL)
        copy->name = memcpy(bytes + edit->size, edit->name, edit->name_size);
    *list = copy;
    return true;
}

/* A new list without the edits that newer ones cover, so that assigning one
 * field for ever stays cheap. */
static bool compact_edits(struct batch *batch, struct event *event)
{
    const struct edit *list = NULL;
    struct changes changes;

    changes_collect(&changes, event, event->edits);
    if (changes.present + changes.others >= EVENT_CHANGES)
        return false;
    for (uint32_t i = 0; i < changes.present; i++)
        if (!push_edit(batch, &list, changes.sorted[i]))
            return false;
    for (uint32_t i = changes.others; i-- > 0;)
        if (!push_edit(batch, &list, changes.other[i]))
            return false;
    event->edits = list;
    return true;
}

static bool put_edit(struct batch *batch, struct event *event,
                     const struct edit *edit)
{
    if (event->edits != NULL && event->edits->depth >= CHANGES_EDITS &&
        !compact_edits(batch, event))
        return false;
    if (!push_edit(batch, &event->edits, edit))
        return false;
    event->touched = 1;
    return true;
}

static struct edit edit_of(enum field field, const uint8_t *name, size_t size)
{
    if (field == FIELD_NONE)
        field = field_find(name, size);
    if (field != FIELD_NONE)
        return (struct edit){.field = (uint32_t)field};
    return (struct edit){
        .field = EVENT_NAMED, .name = name, .name_size = (uint32_t)size};
}

bool event_assign(struct batch *batch, struct event *event, enum field field,
                  const uint8_t *name, size_t name_size, const uint8_t *value,
                  size_t size)
{
    struct edit edit = edit_of(field, name, name_size);
    const uint8_t *now =
        event_field(event, (enum field)edit.field, edit.name, edit.name_size);

    if (now != NULL && (size_t)(cursor_skip(now) - now) == size &&
        memcmp(now, value, size) == 0)
        return true;
    edit.value = value;
    edit.size = (uint32_t)size;
    return put_edit(batch, event, &edit);
}

bool event_remove(struct batch *batch, struct event *event, enum field field,
                  const uint8_t *name, size_t name_size)
{
    struct edit edit = edit_of(field, name, name_size);

    if (event_field(event, (enum field)edit.field, edit.name, edit.name_size) ==
        NULL)
        return true;
    return put_edit(batch, event, &edit);
}

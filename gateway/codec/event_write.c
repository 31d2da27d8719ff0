#include "codec/changes.h"
#include "codec/cursor.h"
#include "codec/event.h"
#include "codec/pack.h"

#include <string.h>

enum {
    KEY_HEADER = 5, /* the widest header of a map or str */
    STAMP_ROOM = 32 /* a wider map header and an event_id of its own */
};

size_t event_write_bound(const struct event *event)
{
    size_t bound = (size_t)event->size + STAMP_ROOM;

    for (const struct edit *edit = event->edits; edit; edit = edit->older) {
        bound += (size_t)edit->size + KEY_HEADER;
        if (edit->field == EVENT_NAMED)
            bound += edit->name_size;
        else
            bound += field_table[edit->field].size;
    }
    return bound;
}

static uint8_t *put_bytes(uint8_t *to, const uint8_t *bytes, size_t size)
{
    memcpy(to, bytes, size);
    return to + size;
}

static uint8_t *put_run(uint8_t *to, const uint8_t *from, const uint8_t *end)
{
    return put_bytes(to, from, (size_t)(end - from));
}

/* An event whose only change is its number, the commonest of all. */
static uint8_t *write_stamped(const struct event *event, uint64_t id,
                              uint8_t *to)
{
    const uint8_t *old = event->bytes + event->at[FIELD_EVENT_ID];

    to = put_run(to, event->bytes, old);
    to = pack_u64(to, id);
    return put_run(to, cursor_skip(old), event->bytes + event->size);
}

/* The next: one received value became another. */
static bool is_replacement(const struct event *event, const struct edit *newest)
{
    return newest->older == NULL && newest->value != NULL &&
           newest->field != EVENT_NAMED && event->at[newest->field] != 0;
}

static uint8_t *write_replaced(const struct event *event,
                               const struct edit *edit, uint8_t *to)
{
    const uint8_t *old = event->bytes + event->at[edit->field];

    to = put_run(to, event->bytes, old);
    to = put_bytes(to, edit->value, edit->size);
    return put_run(to, cursor_skip(old), event->bytes + event->size);
}

/*
 * Where the pair of a known field starts, told from its value backwards: the
 * name's size is known, and what lies before it is the str header, whose last
 * byte is 0xa0 + size in the short form and the size itself in the others.
 */
static const uint8_t *pair_start(const struct event *event, enum field field)
{
    const uint8_t *name =
        event->bytes + event->at[field] - field_table[field].size;

    if (name[-1] >= 0xa0)
        return name - 1;
    if (name[-2] == 0xd9)
        return name - 2;
    return name[-3] == 0xda ? name - 3 : name - KEY_HEADER;
}

/* What is written: where to, and how many pairs more than were received. */
struct writer {
    uint8_t *to;
    int32_t more;
};

/* The received map with known fields replaced or cut out. */
static void write_spliced(struct writer *writer, const struct event *event,
                          const struct changes *changes)
{
    const uint8_t *from = event->bytes;

    for (uint32_t i = 0; i < changes->present; i++) {
        const struct edit *edit = changes->sorted[i];
        const uint8_t *value = event->bytes + event->at[edit->field];

        if (edit->value != NULL) {
            writer->to = put_run(writer->to, from, value);
            writer->to = put_bytes(writer->to, edit->value, edit->size);
        } else {
            writer->to = put_run(writer->to, from,
                                 pair_start(event, (enum field)edit->field));
            writer->more--;
        }
        from = cursor_skip(value);
    }
    writer->to = put_run(writer->to, from, event->bytes + event->size);
}

/* The edit of a received pair, or NULL.  `again`: its name was there before. */
static const struct edit *edit_of_pair(struct changes *changes,
                                       const struct event_pair *pair,
                                       bool *again)
{
    enum field field = field_find(pair->name, pair->name_size);

    *again = false;
    for (uint32_t i = 0; i < changes->present; i++)
        if (changes->sorted[i]->field == (uint32_t)field)
            return changes->sorted[i];
    if (field != FIELD_NONE)
        return NULL;
    for (uint32_t i = 0; i < changes->others; i++) {
        if (!changes_is_of(changes->other[i], field, pair->name,
                           pair->name_size))
            continue;
        *again = changes->placed[i];
        changes->placed[i] = true;
        return changes->other[i];
    }
    return NULL;
}

/* The same when names are edited that only a walk over the pairs can find. */
static void write_walked(struct writer *writer, const struct event *event,
                         struct changes *changes)
{
    const uint8_t *from = event->bytes;
    uint32_t count = cursor_enter(&from);

    writer->to = put_run(writer->to, event->bytes, from);
    for (uint32_t i = 0; i < count; i++) {
        struct event_pair pair = event_pair_at(from);
        bool again;
        const struct edit *edit = edit_of_pair(changes, &pair, &again);

        if (edit == NULL) {
            writer->to = put_run(writer->to, from, pair.end);
        } else if (edit->value == NULL || again) {
            writer->more--;
        } else {
            writer->to = put_run(writer->to, from, pair.value);
            writer->to = put_bytes(writer->to, edit->value, edit->size);
        }
        from = pair.end;
    }
}

static void write_added(struct writer *writer, const struct changes *changes)
{
    for (uint32_t i = changes->others; i-- > 0;) {
        const struct edit *edit = changes->other[i];
        const uint8_t *name = edit->name;
        uint32_t size = edit->name_size;

        if (edit->value == NULL || changes->placed[i])
            continue;
        if (edit->field != EVENT_NAMED) {
            name = (const uint8_t *)field_table[edit->field].name;
            size = field_table[edit->field].size;
        }
        writer->to = pack_str_header(writer->to, size);
        writer->to = put_bytes(writer->to, name, size);
        writer->to = put_bytes(writer->to, edit->value, edit->size);
        writer->more++;
    }
}

/* Count `more` pairs in the header of the map from `start` to `end`, whose
 * members move if it gets another size.  Returns the new end. */
static uint8_t *recount(uint8_t *start, uint8_t *end, int32_t more)
{
    const uint8_t *body = start;
    uint32_t pairs = cursor_enter(&body) + (uint32_t)more;
    uint8_t header[KEY_HEADER];
    size_t size = (size_t)(pack_map(header, pairs) - header);
    size_t rest = (size_t)(end - body);

    memmove(start + size, body, rest);
    memcpy(start, header, size);
    return start + size + rest;
}

static uint8_t *write_edited(const struct event *event,
                             const struct edit *newest, uint8_t *to)
{
    struct writer writer = {.to = to};
    struct changes changes;

    changes_collect(&changes, event, newest);
    if (changes.named)
        write_walked(&writer, event, &changes);
    else
        write_spliced(&writer, event, &changes);
    write_added(&writer, &changes);
    return writer.more == 0 ? writer.to : recount(to, writer.to, writer.more);
}

/* A number is one more edit, the newest. */
static uint8_t *write_numbered(const struct event *event, uint64_t id,
                               uint8_t *to)
{
    uint8_t packed[PACK_SCALAR];
    struct edit stamp = {.older = event->edits,
                         .value = packed,
                         .size = (uint32_t)(pack_u64(packed, id) - packed),
                         .field = FIELD_EVENT_ID};

    return write_edited(event, &stamp, to);
}

uint8_t *event_write(const struct event *event, const uint64_t *id, uint8_t *to)
{
    const struct edit *newest = event->edits;

    if (id != NULL && newest == NULL && event->at[FIELD_EVENT_ID] != 0)
        return write_stamped(event, *id, to);
    if (id != NULL)
        return write_numbered(event, *id, to);
    if (newest == NULL)
        return put_bytes(to, event->bytes, event->size);
    if (is_replacement(event, newest))
        return write_replaced(event, newest, to);
    return write_edited(event, newest, to);
}

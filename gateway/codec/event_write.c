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
static void write_stamped(const struct event *event, uint64_t id,
                          struct buffer *out)
{
    const uint8_t *old = event->bytes + event->at[FIELD_EVENT_ID];
    uint8_t *to = buffer_reserve(out, (size_t)event->size + STAMP_ROOM);

    to = put_run(to, event->bytes, old);
    to = pack_u64(to, id);
    to = put_run(to, cursor_skip(old), event->bytes + event->size);
    out->size = (size_t)(to - out->data);
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

/* What is written: where to, and pairs so far. */
struct writer {
    uint8_t *to;
    uint32_t pairs;
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
            writer->pairs--;
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
            writer->pairs--;
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
        writer->pairs++;
    }
}

/* Put a header for `pairs` in place of the one at `start`, `head` long; what
 * follows it up to `end` moves.  Returns the new end. */
static uint8_t *replace_header(uint8_t *start, size_t head, uint8_t *end,
                               uint32_t pairs)
{
    uint8_t header[KEY_HEADER];
    size_t size = (size_t)(pack_map(header, pairs) - header);

    memmove(start + size, start + head, (size_t)(end - start) - head);
    memcpy(start, header, size);
    return end - head + size;
}

static void write_edited(const struct event *event, const struct edit *newest,
                         struct buffer *out)
{
    const uint8_t *body = event->bytes;
    uint32_t received = cursor_enter(&body);
    uint8_t *start = buffer_reserve(out, event_write_bound(event));
    struct writer writer = {start, received};
    struct changes changes;

    changes_collect(&changes, event, newest);
    if (changes.named)
        write_walked(&writer, event, &changes);
    else
        write_spliced(&writer, event, &changes);
    write_added(&writer, &changes);
    if (writer.pairs != received)
        writer.to = replace_header(start, (size_t)(body - event->bytes),
                                   writer.to, writer.pairs);
    out->size += (size_t)(writer.to - start);
}

void event_write(const struct event *event, const uint64_t *id,
                 struct buffer *out)
{
    uint8_t packed[PACK_SCALAR];
    struct edit stamp = {
        .older = event->edits, .value = packed, .field = FIELD_EVENT_ID};

    if (id == NULL && event->edits == NULL) {
        buffer_put(out, event->bytes, event->size);
    } else if (id == NULL) {
        write_edited(event, event->edits, out);
    } else if (event->edits == NULL && event->at[FIELD_EVENT_ID] != 0) {
        write_stamped(event, *id, out);
    } else {
        stamp.size = (uint32_t)(pack_u64(packed, *id) - packed);
        write_edited(event, &stamp, out);
    }
}

#include "codec/event.h"
#include "base/arena.h"
#include "codec/batch.h"
#include "codec/cursor.h"
#include "codec/pack.h"

#include <assert.h>
#include <string.h>

static_assert((int)FIELD_NONE == (int)EVENT_NAMED &&
                  (int)EVENT_NAMED == (int)EVENT_FIELDS,
              "a named edit is one of no known field");

enum {
    /* Lists may hold older edits of a field, up to this many in all. */
    EVENT_EDITS = 2 * EVENT_CHANGES,
    KEY_HEADER = 5, /* the widest header of a map or str */
    STAMP_ROOM = 32 /* a wider map header and an event_id of its own */
};

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
static enum event_type type_called(const uint8_t *value)
{
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

    for (size_t i = 0; i < sizeof types / sizeof types[0]; i++)
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

static bool edits_field(const struct edit *edit, enum field field,
                        const uint8_t *name, size_t name_size)
{
    if (edit->field != (uint32_t)field)
        return false;
    return field != FIELD_NONE || (edit->name_size == name_size &&
                                   memcmp(edit->name, name, name_size) == 0);
}

/* The newest edit of a field, or NULL. */
static const struct edit *newest_edit(const struct event *event,
                                      enum field field, const uint8_t *name,
                                      size_t name_size)
{
    const struct edit *edit = event->edits;

    while (edit != NULL && !edits_field(edit, field, name, name_size))
        edit = edit->older;
    return edit;
}

const uint8_t *event_value(const struct event *event, enum field field)
{
    const struct edit *edit = newest_edit(event, field, NULL, 0);

    return edit != NULL ? edit->value : received(event, field);
}

/* A pair of the received map. */
struct pair {
    const uint8_t *name;
    const uint8_t *value;
    const uint8_t *end;
    uint32_t name_size;
};

static struct pair pair_at(const uint8_t *at)
{
    struct pair pair;

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
        struct pair pair = pair_at(at);

        if (pair.name_size == size && memcmp(pair.name, name, size) == 0)
            found = pair.value;
        at = pair.end;
    }
    return found;
}

/* The value as it is now of a field given by number, or else by name. */
static const uint8_t *value_now(const struct event *event, enum field field,
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
    return value_now(event, field_find(name, size), name, size);
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

/* What a list of edits comes to: the newest of every field. */
struct changes {
    uint32_t count;
    uint32_t known; /* a bit for each known field among them */
    bool named;     /* any that is known by name only */
    const struct edit *list[EVENT_EDITS + 1]; /* newest first */
    bool placed[EVENT_EDITS + 1]; /* its field was in the received map */
};

static_assert(EVENT_FIELDS <= 32, "struct changes has a bit for every field");

static bool changes_name(const struct changes *changes, const struct edit *edit)
{
    for (uint32_t i = 0; i < changes->count; i++)
        if (edits_field(changes->list[i], FIELD_NONE, edit->name,
                        edit->name_size))
            return true;
    return false;
}

static void changes_collect(struct changes *changes, const struct edit *edit)
{
    changes->count = 0;
    changes->known = 0;
    changes->named = false;
    for (; edit != NULL; edit = edit->older) {
        if (edit->field != EVENT_NAMED) {
            if (changes->known >> edit->field & 1)
                continue;
            changes->known |= UINT32_C(1) << edit->field;
        } else {
            if (changes->named && changes_name(changes, edit))
                continue;
            changes->named = true;
        }
        changes->placed[changes->count] = false;
        changes->list[changes->count++] = edit;
    }
}

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

    changes_collect(&changes, event->edits);
    if (changes.count >= EVENT_CHANGES)
        return false;
    for (uint32_t i = changes.count; i-- > 0;)
        if (!push_edit(batch, &list, changes.list[i]))
            return false;
    event->edits = list;
    return true;
}

static bool put_edit(struct batch *batch, struct event *event,
                     const struct edit *edit)
{
    if (event->edits != NULL && event->edits->depth >= EVENT_EDITS &&
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
        value_now(event, (enum field)edit.field, edit.name, edit.name_size);

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

    if (value_now(event, (enum field)edit.field, edit.name, edit.name_size) ==
        NULL)
        return true;
    return put_edit(batch, event, &edit);
}

/* ---- writing ---- */

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

/* The edits of fields that were received, in the order of the bytes. */
static uint32_t sort_present(const struct event *event,
                             const struct changes *changes,
                             const struct edit *sorted[EVENT_FIELDS])
{
    uint32_t count = 0;

    for (uint32_t i = 0; i < changes->count; i++) {
        uint32_t at = event->at[changes->list[i]->field];
        uint32_t slot = count;

        if (at == 0)
            continue;
        for (; slot > 0 && event->at[sorted[slot - 1]->field] > at; slot--)
            sorted[slot] = sorted[slot - 1];
        sorted[slot] = changes->list[i];
        count++;
    }
    return count;
}

/* Pairs as they are written: where to, and how many. */
struct writer {
    uint8_t *to;
    uint32_t pairs;
};

/* The received pairs with known fields replaced or cut out. */
static void write_spliced(struct writer *writer, const struct event *event,
                          const struct changes *changes, const uint8_t *from)
{
    const struct edit *sorted[EVENT_FIELDS];
    uint32_t count = sort_present(event, changes, sorted);

    for (uint32_t i = 0; i < count; i++) {
        enum field field = (enum field)sorted[i]->field;
        const uint8_t *value = event->bytes + event->at[field];

        if (sorted[i]->value != NULL) {
            writer->to = put_run(writer->to, from, value);
            writer->to =
                put_bytes(writer->to, sorted[i]->value, sorted[i]->size);
        } else {
            writer->to = put_run(writer->to, from, pair_start(event, field));
            writer->pairs--;
        }
        from = cursor_skip(value);
    }
    writer->to = put_run(writer->to, from, event->bytes + event->size);
}

/* The same when names are edited that only a walk over the pairs can find. */
static void write_walked(struct writer *writer, const struct event *event,
                         struct changes *changes, const uint8_t *from)
{
    uint32_t received_pairs = writer->pairs;

    for (uint32_t i = 0; i < received_pairs; i++) {
        struct pair pair = pair_at(from);
        const uint8_t *start = from;
        enum field field = field_find(pair.name, pair.name_size);
        uint32_t slot = 0;

        while (slot < changes->count && !edits_field(changes->list[slot], field,
                                                     pair.name, pair.name_size))
            slot++;
        from = pair.end;
        if (slot == changes->count) {
            writer->to = put_run(writer->to, start, pair.end);
        } else if (changes->list[slot]->value == NULL ||
                   changes->placed[slot]) {
            writer->pairs--;
        } else {
            writer->to = put_run(writer->to, start, pair.value);
            writer->to = put_bytes(writer->to, changes->list[slot]->value,
                                   changes->list[slot]->size);
            changes->placed[slot] = true;
        }
    }
    assert(from == event->bytes + event->size);
}

static void write_added(struct writer *writer, const struct event *event,
                        const struct changes *changes)
{
    for (uint32_t i = changes->count; i-- > 0;) {
        const struct edit *edit = changes->list[i];
        bool known = edit->field != EVENT_NAMED;
        const uint8_t *name = edit->name;
        uint32_t size = edit->name_size;

        if (edit->value == NULL || changes->placed[i] ||
            (known && event->at[edit->field] != 0))
            continue;
        if (known) {
            name = (const uint8_t *)field_table[edit->field].name;
            size = field_table[edit->field].size;
        }
        writer->to = pack_str_header(writer->to, size);
        writer->to = put_bytes(writer->to, name, size);
        writer->to = put_bytes(writer->to, edit->value, edit->size);
        writer->pairs++;
    }
}

static void write_edited(const struct event *event, const struct edit *newest,
                         struct buffer *out)
{
    uint8_t *start = buffer_reserve(out, event_write_bound(event));
    const uint8_t *body = event->bytes;
    uint32_t received_pairs = cursor_enter(&body);
    size_t head = (size_t)(body - event->bytes);
    struct writer writer = {start + head, received_pairs};
    struct changes changes;
    uint8_t header[KEY_HEADER];
    size_t new_head = head;

    changes_collect(&changes, newest);
    if (changes.named)
        write_walked(&writer, event, &changes, body);
    else
        write_spliced(&writer, event, &changes, body);
    write_added(&writer, event, &changes);
    memcpy(header, event->bytes, head);
    if (writer.pairs != received_pairs)
        new_head = (size_t)(pack_map(header, writer.pairs) - header);
    if (new_head != head)
        memmove(start + new_head, start + head,
                (size_t)(writer.to - start) - head);
    memcpy(start, header, new_head);
    out->size += (size_t)(writer.to - start) - head + new_head;
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

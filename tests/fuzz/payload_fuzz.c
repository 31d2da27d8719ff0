/*
 * payload_fuzz - the codec against msgpack-c and against itself
 *
 * The input is a payload.  Three things must hold, whatever it is:
 *   our verdict on its frame, and every value in it, are msgpack-c's;
 *   an event recognised by a template reads as event_index reads it;
 *   an event that was edited is written as msgpack with those edits.
 * A reader opens the input twice: once to learn from it, once knowing it.  It
 * is new for every input, so that a finding repeats; the slots are reused.
 */
#include "base/buffer.h"
#include "codec/batch.h"
#include "codec/cursor.h"
#include "codec/pack.h"

#include <msgpack.h>
#include <stdlib.h>
#include <string.h>

enum { DEPTH_OF_ORACLE = 32 }; /* msgpack-c gives up below that */

static void require(bool truth)
{
    if (!truth)
        abort();
}

/* ---- values ---- */

static const uint8_t *same_value(const uint8_t *at,
                                 const msgpack_object *value);

static const uint8_t *same_bytes(const uint8_t *at, enum cursor_kind kind,
                                 const char *bytes, uint32_t size)
{
    uint32_t mine;
    const uint8_t *start = cursor_bytes(at, &mine);

    require(cursor_kind(at) == kind && mine == size);
    require(size == 0 || memcmp(start, bytes, size) == 0);
    return cursor_skip(at);
}

static const uint8_t *same_array(const uint8_t *at,
                                 const msgpack_object_array *array)
{
    require(cursor_kind(at) == CURSOR_ARRAY);
    require(cursor_enter(&at) == array->size);
    for (uint32_t i = 0; i < array->size; i++)
        at = same_value(at, &array->ptr[i]);
    return at;
}

static const uint8_t *same_map(const uint8_t *at, const msgpack_object_map *map)
{
    require(cursor_kind(at) == CURSOR_MAP);
    require(cursor_enter(&at) == map->size);
    for (uint32_t i = 0; i < map->size; i++) {
        at = same_value(at, &map->ptr[i].key);
        at = same_value(at, &map->ptr[i].val);
    }
    return at;
}

static void same_integer(const uint8_t *at, const msgpack_object *value)
{
    bool negative = value->type == MSGPACK_OBJECT_NEGATIVE_INTEGER;
    uint64_t number;
    int64_t signed_number;

    require(cursor_kind(at) == CURSOR_UINT || cursor_kind(at) == CURSOR_INT);
    require(cursor_u64(at, &number) == !negative);
    require(cursor_i64(at, &signed_number) ==
            (negative || value->via.u64 <= INT64_MAX));
    if (negative)
        require(signed_number == value->via.i64);
    else
        require(number == value->via.u64);
}

static void same_float(const uint8_t *at, double value)
{
    double mine = cursor_double(at);

    require(memcmp(&mine, &value, sizeof mine) == 0 ||
            (mine != mine && value != value));
}

static const uint8_t *same_value(const uint8_t *at, const msgpack_object *value)
{
    switch (value->type) {
    case MSGPACK_OBJECT_NIL:
        require(cursor_kind(at) == CURSOR_NIL);
        break;
    case MSGPACK_OBJECT_BOOLEAN:
        require(*at == (value->via.boolean ? 0xc3 : 0xc2));
        break;
    case MSGPACK_OBJECT_POSITIVE_INTEGER:
    case MSGPACK_OBJECT_NEGATIVE_INTEGER:
        same_integer(at, value);
        break;
    case MSGPACK_OBJECT_FLOAT32:
    case MSGPACK_OBJECT_FLOAT64:
        same_float(at, value->via.f64);
        break;
    case MSGPACK_OBJECT_STR:
        return same_bytes(at, CURSOR_STR, value->via.str.ptr,
                          value->via.str.size);
    case MSGPACK_OBJECT_BIN:
        return same_bytes(at, CURSOR_BIN, value->via.bin.ptr,
                          value->via.bin.size);
    case MSGPACK_OBJECT_EXT:
        return same_bytes(at, CURSOR_EXT, value->via.ext.ptr,
                          value->via.ext.size);
    case MSGPACK_OBJECT_ARRAY:
        return same_array(at, &value->via.array);
    case MSGPACK_OBJECT_MAP:
        return same_map(at, &value->via.map);
    }
    return cursor_skip(at);
}

/* ---- the frame ---- */

static bool is_integer(const msgpack_object *value)
{
    return value->type == MSGPACK_OBJECT_POSITIVE_INTEGER ||
           value->type == MSGPACK_OBJECT_NEGATIVE_INTEGER;
}

static bool is_payload(const msgpack_object *value)
{
    const msgpack_object *parts = value->via.array.ptr;

    return value->type == MSGPACK_OBJECT_ARRAY && value->via.array.size == 3 &&
           is_integer(&parts[0]) && parts[1].type == MSGPACK_OBJECT_ARRAY &&
           (is_integer(&parts[2]) || parts[2].type == MSGPACK_OBJECT_NIL);
}

/* Claims of 2^32 members make msgpack-c ask for gigabytes. */
static bool may_overwhelm(const uint8_t *data, size_t size)
{
    return size != 0 && (memchr(data, 0xdd, size) || memchr(data, 0xdf, size));
}

/* Containers inside one another, as deep as they go. */
static unsigned depth_at(const uint8_t **at)
{
    enum cursor_kind kind = cursor_kind(*at);
    unsigned deepest = 0;
    uint64_t members;

    if (kind != CURSOR_ARRAY && kind != CURSOR_MAP) {
        *at = cursor_skip(*at);
        return 0;
    }
    members = cursor_enter(at);
    members *= kind == CURSOR_MAP ? 2 : 1;
    while (members-- > 0) {
        unsigned depth = depth_at(at);

        deepest = depth > deepest ? depth : deepest;
    }
    return deepest + 1;
}

static void check_frame(const uint8_t *data, size_t size, bool accepted)
{
    msgpack_unpacked unpacked;
    size_t read = 0;
    msgpack_unpack_return verdict;

    if (!accepted && may_overwhelm(data, size))
        return;
    msgpack_unpacked_init(&unpacked);
    verdict = msgpack_unpack_next(&unpacked, (const char *)data, size, &read);
    if (verdict == MSGPACK_UNPACK_SUCCESS && read == size) {
        require(accepted == is_payload(&unpacked.data));
        if (accepted)
            require(same_value(data, &unpacked.data) == data + size);
    } else if (accepted) {
        require(depth_at(&data) >= DEPTH_OF_ORACLE - 1);
    }
    msgpack_unpacked_destroy(&unpacked);
}

/* ---- events ---- */

static void check_event(const struct event *event)
{
    struct event ordinary;
    enum event_fault fault = event_index(&ordinary, event->bytes, event->size);

    require(cursor_check(event->bytes, event->bytes + event->size) ==
            event->bytes + event->size);
    require(event->edits == NULL && event->touched == 0);
    if (fault != EVENT_OK) {
        require(event->state == EVENT_LOST && event->cause == fault);
        return;
    }
    require(event->state == EVENT_LIVE && event->type == ordinary.type);
    require(memcmp(event->at, ordinary.at, sizeof event->at) == 0);
    require(event->cause == 0);
}

/* ---- edits ---- */

/* Decisions that the input makes, so that a finding repeats. */
struct dice {
    uint64_t state;
};

static uint32_t roll(struct dice *dice, uint32_t sides)
{
    dice->state = dice->state * UINT64_C(6364136223846793005) + 1442695041;
    return (uint32_t)(dice->state >> 33) % sides;
}

/* A value to assign: one from the event itself, or a number. */
static const uint8_t *some_value(struct dice *dice, const struct event *event,
                                 uint8_t packed[PACK_SCALAR])
{
    const uint8_t *value =
        event_value(event, (enum field)roll(dice, EVENT_FIELDS));

    if (value != NULL && roll(dice, 2) == 0)
        return value;
    pack_u64(packed, (uint64_t)roll(dice, 1000) << roll(dice, 50));
    return packed;
}

static bool equal(const uint8_t *a, const uint8_t *b)
{
    size_t size;

    if (a == NULL || b == NULL)
        return a == b;
    size = (size_t)(cursor_skip(a) - a);
    return (size_t)(cursor_skip(b) - b) == size && memcmp(a, b, size) == 0;
}

/* A name to edit: a known field's, one from the event, or a new one. */
static const uint8_t *some_name(struct dice *dice, const struct event *event,
                                uint32_t *size)
{
    static const char fresh[] = "fresh";
    const uint8_t *at = event->bytes;
    uint32_t pairs = cursor_enter(&at);
    enum field field = (enum field)roll(dice, EVENT_FIELDS);

    switch (roll(dice, 4)) {
    case 0:
        for (uint32_t i = roll(dice, pairs < 64 ? pairs : 64); i > 0; i--)
            at = cursor_skip(cursor_skip(at));
        return cursor_bytes(at, size);
    case 1:
        *size = roll(dice, sizeof fresh);
        return (const uint8_t *)fresh;
    default:
        *size = field_table[field].size;
        return (const uint8_t *)field_table[field].name;
    }
}

static void edit_once(struct dice *dice, struct batch *batch,
                      struct event *event)
{
    uint8_t packed[PACK_SCALAR];
    uint32_t size;
    const uint8_t *name = some_name(dice, event, &size);
    const uint8_t *value = some_value(dice, event, packed);
    bool fits;

    if (roll(dice, 4) == 0) {
        fits = event_remove(batch, event, FIELD_NONE, name, size);
        require(!fits || event_named(event, name, size) == NULL);
        return;
    }
    fits = event_assign(batch, event, FIELD_NONE, name, size, value,
                        (size_t)(cursor_skip(value) - value));
    require(!fits || equal(event_named(event, name, size), value));
}

/* The written bytes hold the fields that the event has, and the id. */
static void check_written(const struct event *event, const uint64_t *id,
                          const struct buffer *out)
{
    struct event written;

    require(cursor_check(out->data, out->data + out->size) ==
            out->data + out->size);
    event_index(&written, out->data, (uint32_t)out->size);
    for (int i = 0; i < EVENT_FIELDS; i++)
        if (id == NULL || i != FIELD_EVENT_ID)
            require(
                equal(event_value(event, (enum field)i),
                      written.at[i] != 0 ? out->data + written.at[i] : NULL));
    if (id != NULL)
        require(event_id(&written) == *id);
}

static void check_writing(struct dice *dice, struct batch *batch,
                          struct event *event)
{
    uint64_t id = (uint64_t)roll(dice, 1000) << roll(dice, 50);
    const uint64_t *stamp = roll(dice, 2) == 0 ? &id : NULL;
    struct buffer out = {0};
    uint8_t *start;

    for (uint32_t i = roll(dice, 5); i > 0; i--)
        edit_once(dice, batch, event);
    start = buffer_reserve(&out, event_write_bound(event));
    out.size = (size_t)(event_write(event, stamp, start) - start);
    require(out.size <= event_write_bound(event));
    if (stamp == NULL && event->edits == NULL)
        require(out.size == event->size &&
                memcmp(out.data, event->bytes, out.size) == 0);
    check_written(event, stamp, &out);
    buffer_free(&out);
}

/* ---- the whole ---- */

static bool open_once(struct batch_reader *reader, struct batch *batch,
                      const uint8_t *data, size_t size)
{
    struct dice dice = {size};
    struct batch_header header;
    uint32_t count;
    uint32_t seen = 0;

    if (batch_open(reader, batch, data, size, &header) != BATCH_OK)
        return false;
    while ((count = batch_next(reader, batch)) != 0) {
        seen += count;
        require(count <= BATCH_WINDOW);
        for (uint32_t i = batch->head; i != EVENT_END;
             i = batch->slots[i].next) {
            check_event(&batch->slots[i]);
            if (batch->slots[i].state == EVENT_LIVE)
                check_writing(&dice, batch, &batch->slots[i]);
        }
    }
    require(seen == header.count);
    return true;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static struct batch *batch;
    struct batch_reader *reader = batch_reader_new();
    bool accepted;

    if (batch == NULL)
        batch = batch_new(1);
    accepted = open_once(reader, batch, data, size);
    require(open_once(reader, batch, data, size) == accepted);
    check_frame(data, size, accepted);
    batch_reader_free(reader);
    return 0;
}

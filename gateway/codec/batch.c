#include "codec/batch.h"
#include "base/arena.h"
#include "base/memory.h"
#include "codec/cursor.h"
#include "codec/template.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

enum { BATCH_SHAPES = 16 }; /* the publisher's three fall apart by pairs */

struct batch_reader {
    const uint8_t *at; /* the next event that is in no slot yet */
    const uint8_t *end;
    uint32_t left;                        /* events not handed out yet */
    uint32_t decoded;                     /* of these in the slots already */
    struct template shapes[BATCH_SHAPES]; /* by count of pairs */
};

const char *batch_fault_text(enum batch_fault fault)
{
    static const char *const texts[] = {
        [BATCH_OK] = "a batch",
        [BATCH_NOT_MSGPACK] = "not msgpack, or cut short",
        [BATCH_NOT_A_TRIPLE] = "not an array of three",
        [BATCH_BAD_TIMESTAMP] = "the timestamp is not an integer",
        [BATCH_EVENTS_NO_ARRAY] = "the events are not an array",
        [BATCH_BAD_RANK] = "dp_rank is neither an integer nor nil",
        [BATCH_TRAILING_BYTES] = "bytes follow the payload",
        [BATCH_TOO_LARGE] = "4 GiB or more",
        [BATCH_TOO_MANY] = "more than 1,048,576 events",
    };

    return texts[fault];
}

/* ---- slots ---- */

struct batch *batch_new(uint32_t words)
{
    struct batch *batch = memory_new(sizeof *batch);

    batch->words = words;
    batch->capacity = BATCH_SLOTS;
    batch->slots = memory_new(BATCH_SLOTS * sizeof *batch->slots);
    batch->reach = memory_new(BATCH_SLOTS * words * sizeof *batch->reach);
    batch->arena = arena_new(BATCH_BYTES);
    batch->head = EVENT_END;
    batch->serial = 1;
    return batch;
}

void batch_free(struct batch *batch)
{
    if (batch == NULL)
        return;
    arena_free(batch->arena);
    free(batch->reach);
    free(batch->slots);
    free(batch);
}

void batch_close(struct batch *batch)
{
    batch->used = 0;
    batch->head = EVENT_END;
    batch->before = NULL;
    batch->serial++;
    if (batch->serial == 0)
        batch->serial = 1;
}

struct event *batch_slot(struct batch *batch, uint32_t *index)
{
    if (batch->used == batch->capacity)
        return NULL;
    *index = batch->used++;
    return &batch->slots[*index];
}

uint32_t batch_copy(struct batch *batch, uint32_t from)
{
    size_t words = batch->words;
    uint32_t index;
    struct event *copy = batch_slot(batch, &index);

    if (copy == NULL)
        return EVENT_END;
    *copy = batch->slots[from];
    copy->next = EVENT_END;
    memcpy(batch->reach + index * words, batch->reach + from * words,
           words * sizeof *batch->reach);
    return index;
}

uint32_t batch_take_back(struct batch *batch)
{
    struct event *event = &batch->slots[batch->current];
    uint32_t emitted = 0;

    while (event->next != EVENT_END && event->next >= batch->mark) {
        const struct event *made = &batch->slots[event->next];

        emitted += made->cause == EVENT_EMITTED;
        event->next = made->next;
    }
    batch->used = batch->mark;
    return emitted;
}

/* ---- marks ---- */

struct event *batch_mark(struct batch *batch, enum event_state state)
{
    struct event *mark = &batch->slots[BATCH_WINDOW];

    *mark = (struct event){.state = (uint8_t)state, .next = batch->head};
    batch->head = BATCH_WINDOW;
    batch->used = BATCH_WINDOW + 1;
    batch->current = batch->head;
    return mark;
}

struct event *batch_occasion(struct batch *batch, enum event_state state)
{
    batch_close(batch);
    arena_reset(batch->arena);
    return batch_mark(batch, state);
}

const char *batch_hook(const struct batch *batch)
{
    static const char *const hooks[] = {
        [EVENT_LIVE] = "on_event", [EVENT_DROPPED] = "on_event",
        [EVENT_LOST] = "on_loss",  [EVENT_TOLD] = "on_loss",
        [EVENT_TICK] = "on_tick",  [EVENT_OPENS] = "on_batch"};

    return hooks[batch->slots[batch->current].state];
}

/* ---- events ---- */

/* The template for the map at `at`; any will do for other bytes. */
static struct template *shape_of(struct batch_reader *reader, const uint8_t *at,
                                 const uint8_t *end)
{
    unsigned pairs = at[0];

    if (at[0] == 0xde && end - at > 2)
        pairs = at[2];
    return &reader->shapes[pairs % BATCH_SHAPES];
}

static void mark_malformed(struct event *event, enum event_fault fault)
{
    event->state = EVENT_LOST;
    event->cause = (uint8_t)fault;
    memset(event->at, 0, sizeof event->at);
}

/* Decode the event at `at`: returns what follows it, NULL if it is no whole
 * msgpack value. */
static const uint8_t *decode_event(struct batch_reader *reader,
                                   struct event *event, const uint8_t *at,
                                   const uint8_t *end)
{
    struct template *shape;
    enum event_fault fault;
    const uint8_t *next;

    if (at == end)
        return NULL;
    shape = shape_of(reader, at, end);
    next = template_match(shape, event, at, end);
    if (next != NULL)
        return next;
    next = cursor_check(at, end);
    if (next == NULL)
        return NULL;
    fault = event_index(event, at, (uint32_t)(next - at));
    if (fault != EVENT_OK)
        mark_malformed(event, fault);
    else
        template_learn(shape, event);
    return next;
}

/* ---- opening ---- */

struct batch_reader *batch_reader_new(void)
{
    return memory_new(sizeof(struct batch_reader));
}

void batch_reader_free(struct batch_reader *reader)
{
    if (reader == NULL)
        return;
    for (size_t i = 0; i < BATCH_SHAPES; i++)
        template_deinit(&reader->shapes[i]);
    free(reader);
}

static bool is_integer(const uint8_t *value)
{
    enum cursor_kind kind = cursor_kind(value);

    return kind == CURSOR_UINT || kind == CURSOR_INT;
}

/* Enter the array at `at`; `otherwise` is the fault if it is something else. */
static enum batch_fault enter_array(const uint8_t **at, const uint8_t *end,
                                    uint32_t *count, enum batch_fault otherwise)
{
    if (*at == end || cursor_kind(*at) == CURSOR_INVALID)
        return BATCH_NOT_MSGPACK;
    if (cursor_kind(*at) != CURSOR_ARRAY)
        return otherwise;
    return cursor_open(at, end, CURSOR_ARRAY, count) ? BATCH_OK
                                                     : BATCH_NOT_MSGPACK;
}

/* Read up to the first event. */
static enum batch_fault open_front(const uint8_t **at, const uint8_t *end,
                                   struct batch_header *header)
{
    const uint8_t *next;
    uint32_t count;
    enum batch_fault fault = enter_array(at, end, &count, BATCH_NOT_A_TRIPLE);

    if (fault != BATCH_OK)
        return fault;
    if (count != 3)
        return BATCH_NOT_A_TRIPLE;
    next = cursor_check(*at, end);
    if (next == NULL)
        return BATCH_NOT_MSGPACK;
    if (!is_integer(*at))
        return BATCH_BAD_TIMESTAMP;
    header->timestamp = *at;
    header->timestamp_size = (uint32_t)(next - *at);
    *at = next;
    fault = enter_array(at, end, &header->count, BATCH_EVENTS_NO_ARRAY);
    if (fault == BATCH_OK && header->count > (size_t)(end - *at))
        return BATCH_NOT_MSGPACK;
    if (fault == BATCH_OK && header->count > BATCH_EVENTS)
        return BATCH_TOO_MANY;
    return fault;
}

/* Read what is behind the last event. */
static enum batch_fault open_back(const uint8_t *at, const uint8_t *end,
                                  struct batch_header *header)
{
    const uint8_t *next = cursor_check(at, end);

    if (next == NULL)
        return BATCH_NOT_MSGPACK;
    if (!is_integer(at) && cursor_kind(at) != CURSOR_NIL)
        return BATCH_BAD_RANK;
    header->rank = at;
    header->rank_size = (uint32_t)(next - at);
    return next == end ? BATCH_OK : BATCH_TRAILING_BYTES;
}

/* The ids at both ends of a batch: where the values are, NULL for none. */
struct id_span {
    const uint8_t *first;
    const uint8_t *last;
};

static void span_event(struct id_span *span, const struct event *event)
{
    if (event->at[FIELD_EVENT_ID] == 0)
        return;
    span->last = event->bytes + event->at[FIELD_EVENT_ID];
    if (span->first == NULL)
        span->first = span->last;
}

/*
 * Decode all events, returning what follows them, NULL if they are not whole.
 * A window's worth of them stays in the slots; more have only been looked at
 * and are decoded again, window by window.
 */
static const uint8_t *scan_events(struct batch_reader *reader,
                                  struct batch *batch, const uint8_t *end,
                                  uint32_t count, struct id_span *span)
{
    uint32_t stride = count <= BATCH_WINDOW;
    struct event *event = batch->slots;
    const uint8_t *at = reader->at;

    for (uint32_t i = 0; i < count; i++, event += stride) {
        at = decode_event(reader, event, at, end);
        if (at == NULL)
            return NULL;
        span_event(span, event);
    }
    return at;
}

static uint64_t id_at(const uint8_t *value)
{
    uint64_t id = 0;

    if (value != NULL)
        cursor_u64(value, &id);
    return id;
}

enum batch_fault batch_open(struct batch_reader *reader, struct batch *batch,
                            const uint8_t *payload, size_t size,
                            struct batch_header *header)
{
    const uint8_t *end = payload + size;
    const uint8_t *back;
    struct id_span span = {NULL, NULL};
    enum batch_fault fault;

    batch->used = 0;
    batch->head = EVENT_END;
    reader->at = payload;
    reader->left = 0;
    if (size > UINT32_MAX)
        return BATCH_TOO_LARGE;
    fault = open_front(&reader->at, end, header);
    if (fault != BATCH_OK)
        return fault;
    back = scan_events(reader, batch, end, header->count, &span);
    if (back == NULL)
        return BATCH_NOT_MSGPACK;
    fault = open_back(back, end, header);
    if (fault != BATCH_OK)
        return fault;
    header->first_id = id_at(span.first);
    header->last_id = id_at(span.last);
    reader->end = end;
    reader->left = header->count;
    reader->decoded = header->count <= BATCH_WINDOW ? header->count : 0;
    return BATCH_OK;
}

/* ---- windows ---- */

static uint32_t decode_window(struct batch_reader *reader, struct batch *batch)
{
    uint32_t count = reader->left < BATCH_WINDOW ? reader->left : BATCH_WINDOW;

    for (uint32_t i = 0; i < count; i++) {
        reader->at =
            decode_event(reader, &batch->slots[i], reader->at, reader->end);
        assert(reader->at != NULL);
    }
    return count;
}

uint32_t batch_next(struct batch_reader *reader, struct batch *batch)
{
    uint32_t count = reader->decoded;

    batch_close(batch);
    if (reader->left == 0)
        return 0;
    arena_reset(batch->arena);
    if (count == 0)
        count = decode_window(reader, batch);
    reader->decoded = 0;
    reader->left -= count;
    for (uint32_t i = 0; i < count; i++)
        batch->slots[i].next = i + 1;
    batch->slots[count - 1].next = EVENT_END;
    batch->head = 0;
    batch->used = count;
    batch->current = 0;
    return count;
}

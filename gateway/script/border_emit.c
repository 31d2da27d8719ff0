#include "script/border_emit.h"

#include "base/arena.h"
#include "codec/batch.h"
#include "codec/cursor.h"
#include "codec/pack.h"

#include <assert.h>
#include <string.h>

/* The event_id of what is at hand, or else of what came before it: readers take
 * one that goes back for a restart. */
static uint64_t id_at_hand(const struct batch *batch)
{
    uint64_t id = event_id(&batch->slots[batch->current]);

    if (id != 0)
        return id;
    for (uint32_t slot = batch->head; slot != batch->current;
         slot = batch->slots[slot].next) {
        uint64_t earlier = event_id(&batch->slots[slot]);

        id = earlier != 0 ? earlier : id;
    }
    return id != 0 ? id : batch->last_id;
}

static bool assign(struct batch *batch, struct event *event, enum field field,
                   const uint8_t *value)
{
    return event_assign(batch, event, field, NULL, 0, value,
                        (size_t)(cursor_skip(value) - value));
}

static bool fill(struct batch *batch, struct event *event, const char *type,
                 size_t size)
{
    uint8_t id[PACK_SCALAR];

    pack_u64(id, id_at_hand(batch));
    return event_blank(batch, event, type, size) &&
           assign(batch, event, FIELD_EVENT_ID, id) &&
           assign(batch, event, FIELD_TIMESTAMP, batch->timestamp) &&
           assign(batch, event, FIELD_DP_RANK, batch->rank);
}

static uint32_t border_make(struct border *border, const char *type,
                            size_t size)
{
    struct batch *batch = border->batch;
    size_t words = batch->words;
    struct event *event = NULL;
    uint32_t slot;

    if (batch->used - batch->mark < BORDER_EMITTED)
        event = batch_slot(batch, &slot);
    if (event == NULL) {
        border->breach = BORDER_TOO_MANY;
        return EVENT_END;
    }
    if (!fill(batch, event, type, size)) {
        border->breach = BORDER_NO_MEMORY;
        return EVENT_END;
    }
    event->cause = EVENT_EMITTED; /* no verdict may name it */
    memcpy(batch->reach + slot * words, batch->reach + batch->current * words,
           words * sizeof *batch->reach);
    return slot;
}

/* From now on the event is as if it had been received so. */
static bool settle(struct batch *batch, struct event *event)
{
    uint8_t *bytes = arena_take(batch->arena, event_write_bound(event));
    enum event_fault fault;

    if (bytes == NULL)
        return false;
    fault = event_index(event, bytes,
                        (uint32_t)(event_write(event, NULL, bytes) - bytes));
    assert(fault == EVENT_OK);
    (void)fault;
    event->cause = EVENT_EMITTED;
    return true;
}

static bool border_emit(struct border *border, uint32_t slot)
{
    struct batch *batch = border->batch;
    struct event *event = &batch->slots[slot];
    struct event *last;

    if (!settle(batch, event)) {
        border->breach = BORDER_NO_MEMORY;
        return false;
    }
    /* What was emitted before this call has slots of before. */
    if (border->tail == EVENT_END || border->tail < batch->mark)
        border->tail = batch->current;
    last = &batch->slots[border->tail];
    event->next = last->next;
    last->next = slot;
    border->tail = slot;
    border->counters->emitted++;
    return true;
}

void border_emit_init(struct border *border)
{
    border->make = border_make;
    border->emit = border_emit;
}

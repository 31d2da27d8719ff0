#include "script/border_emit.h"

#include "codec/batch.h"
#include "codec/cursor.h"
#include "codec/pack.h"

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
    event->cause = EVENT_EMITTED;
    memcpy(batch->reach + slot * words, batch->reach + batch->current * words,
           words * sizeof *batch->reach);
    return slot;
}

static void border_emit(struct border *border, uint32_t slot)
{
    struct batch *batch = border->batch;
    struct event *event = &batch->slots[slot];
    struct event *last;

    /* What was emitted before this call has slots of before. */
    if (border->tail == EVENT_END || border->tail < batch->mark)
        border->tail = batch->current;
    last = &batch->slots[border->tail];
    event->next = last->next;
    event->touched = 0;
    last->next = slot;
    border->tail = slot;
    border->counters->emitted++;
}

void border_emit_init(struct border *border)
{
    border->make = border_make;
    border->emit = border_emit;
}

#include "relay/window.h"

#include "base/arena.h"
#include "relay/loss.h"

#include <inttypes.h>
#include <string.h>

static struct batch *batch_of(const struct window *window)
{
    return window->pipeline->batch;
}

static uint64_t *reach_of(const struct window *window, uint32_t slot)
{
    return batch_of(window)->reach + (size_t)slot * window->pipeline->words;
}

/* Whose events these are: what a timer's filter made may be of any source. */
static uint32_t source_of(const struct window *window)
{
    return window->source == NULL ? STREAM_ALL_SOURCES : window->source_index;
}

static struct origin origin_of(const struct window *window)
{
    const struct pipeline *pipeline = window->pipeline;

    return (struct origin){
        .source = window->source == NULL ? NULL : window->source->name,
        .numbered = window->message != NULL,
        .position = window->position,
        .count = window->received,
        .letters =
            pipeline->letters ? window->streams[pipeline->stream_count] : NULL};
}

/* ---- before the filters ---- */

static void event_is_malformed(const struct window *window, struct event *event)
{
    struct source *source = window->source;
    enum event_fault fault = (enum event_fault)event->cause;

    event->cause = LOSS_EVENT;
    source->counters.faults[fault]++;
    log_gated(&source->gates[LOSS_EVENT], LOG_WARN,
              "source \"%s\": message %" PRIu64 ": one event lost: %s",
              source->name, seq_read(window->message->sequence),
              event_fault_text(fault));
}

/* What marks and emitted events have of the window. */
static void describe(const struct window *window, struct batch *batch)
{
    batch->source = window->source_index;
    batch->widest = window->reach;
    batch->timestamp = window->header->timestamp;
    batch->rank = window->header->rank;
    batch->count = window->count;
    batch->last_id = window->last_id;
    if (window->message != NULL)
        batch->sequence = seq_read(window->message->sequence);
}

static void window_prepare(const struct window *window)
{
    struct batch *batch = batch_of(window);
    const uint64_t *from = window->reach;
    uint64_t *reach = batch->reach;
    size_t words = batch->words;

    describe(window, batch);
    for (uint32_t slot = batch->head; slot != EVENT_END;) {
        struct event *event = &batch->slots[slot];

        memcpy(reach + slot * words, from, words * sizeof *from);
        if (event->state == EVENT_LOST)
            event_is_malformed(window, event);
        slot = event->next;
    }
}

/* ---- losses and deliveries ---- */

/* The streams of a set, one after the other: `bits` is eaten. */
static size_t next_stream(uint32_t word, uint64_t *bits)
{
    size_t stream = word * (size_t)64 + (size_t)__builtin_ctzll(*bits);

    *bits &= *bits - 1;
    return stream;
}

/* Those of the reach that have no chain: the others see the loss when their
 * chain is run. */
static void lose_plain(const struct window *window, enum loss_cause cause,
                       uint32_t count)
{
    for (uint32_t word = 0; word < window->pipeline->words; word++) {
        uint64_t bits = window->reach[word] & ~window->pipeline->filtered[word];

        while (bits != 0)
            stream_lose(window->streams[next_stream(word, &bits)], cause, count,
                        source_of(window));
    }
}

static void append_plain(const struct window *window, uint32_t slot)
{
    const uint64_t *reach = reach_of(window, slot);
    const struct event *event = &batch_of(window)->slots[slot];

    for (uint32_t word = 0; word < window->pipeline->words; word++) {
        uint64_t bits = reach[word] & ~window->pipeline->filtered[word];

        while (bits != 0)
            stream_append(window->streams[next_stream(word, &bits)], event,
                          source_of(window));
    }
}

/*
 * How many events in a row are lost for the same reason, from `slot` on, which
 * moves behind them.  A message of nothing but rubbish is lost 64 at a time.
 */
static uint32_t count_lost(const struct batch *batch, uint32_t *slot)
{
    uint8_t cause = batch->slots[*slot].cause;
    uint32_t count = 0;

    while (*slot != EVENT_END && batch->slots[*slot].state == EVENT_LOST &&
           batch->slots[*slot].cause == cause) {
        *slot = batch->slots[*slot].next;
        count++;
    }
    return count;
}

static void deliver(const struct window *window)
{
    const struct batch *batch = batch_of(window);

    for (uint32_t slot = batch->head; slot != EVENT_END;) {
        const struct event *event = &batch->slots[slot];

        if (event->state == EVENT_LOST) {
            uint32_t count = count_lost(batch, &slot);

            if (window->source != NULL)
                window->source->counters.losses[event->cause] += count;
            lose_plain(window, (enum loss_cause)event->cause, count);
            continue;
        }
        if (event->state == EVENT_LIVE)
            append_plain(window, slot);
        slot = event->next;
    }
}

/* ---- whole messages ---- */

_Static_assert((int)BUILDER_EVENTS <= (int)BATCH_WINDOW,
               "a message that goes on as it came is one window");

enum { FORWARD_EVENTS = 32 }; /* fewer are worth merging with what follows */

/* Would our own builder make the same bytes of the untouched message? */
static bool is_canonical(const struct window *window, size_t events_size)
{
    const struct batch_header *header = window->header;
    size_t array = header->count < 16 ? 1 : header->count < 65536 ? 3 : 5;

    return window->message->payload_size ==
           1 + header->timestamp_size + array + events_size + header->rank_size;
}

/* memcmp would do, but sets are a word or two: its call costs more. */
static bool same_set(size_t words, const uint64_t *a, const uint64_t *b)
{
    for (size_t word = 0; word < words; word++)
        if (a[word] != b[word])
            return false;
    return true;
}

/* The first slot that is no mark: there is one at the most, in front. */
static uint32_t first_event(const struct batch *batch)
{
    uint32_t head = batch->head;

    if (head != EVENT_END && event_is_mark(&batch->slots[head]))
        return batch->slots[head].next;
    return head;
}

/*
 * Apply the accept tests; true if the message may go on as it came: every event
 * untouched and bound for the same streams.  None of those that were received
 * has left the list, so what filters added makes too many.
 */
static bool accept_all(const struct window *window, size_t *events_size)
{
    const struct batch *batch = batch_of(window);
    const struct accept *accept = window->pipeline->accept;
    size_t words = batch->words;
    uint32_t slot = first_event(batch);
    const uint64_t *first;
    bool whole = true;
    uint32_t count = 0;

    if (slot == EVENT_END)
        return false;
    first = reach_of(window, slot);
    while (slot != EVENT_END) {
        const struct event *event = &batch->slots[slot];
        uint64_t *reach = batch->reach + slot * words;

        if (event->state == EVENT_LIVE)
            accept_apply(accept, event, reach);
        whole = whole && event->state == EVENT_LIVE && event->edits == NULL &&
                same_set(words, reach, first);
        *events_size += event->size;
        count++;
        slot = event->next;
    }
    return whole && count == window->header->count && count <= BUILDER_EVENTS;
}

static bool can_forward(const struct window *window, size_t stream,
                        bool canonical)
{
    const struct stream *to = window->streams[stream];

    if (window->message->origin == NULL || to->restamp ||
        window->message->payload_size > BUILDER_EVENT_MAX)
        return false;
    return !canonical || window->header->count >= FORWARD_EVENTS;
}

static void forward(const struct window *window, size_t index)
{
    struct stream *stream = window->streams[index];

    stream_flush(stream);
    stream_forward(stream, window->message, window->header->count);
}

/* ---- one stream at a time ---- */

static bool wants(const struct window *window, uint32_t slot, size_t stream)
{
    switch ((enum event_state)batch_of(window)->slots[slot].state) {
    case EVENT_LIVE:
        return reach_of(window, slot)[stream / 64] >> stream % 64 & 1;
    case EVENT_LOST:
    case EVENT_TOLD:
    case EVENT_OPENS:
        return true;
    default:
        return false;
    }
}

/* As deliver, to one stream. */
static void emit_all(const struct window *window, size_t stream)
{
    const struct batch *batch = batch_of(window);
    struct stream *to = window->streams[stream];

    for (uint32_t slot = batch->head; slot != EVENT_END;) {
        const struct event *event = &batch->slots[slot];

        if (event->state == EVENT_LOST) {
            enum loss_cause cause = (enum loss_cause)event->cause;

            stream_lose(to, cause, count_lost(batch, &slot), source_of(window));
            continue;
        }
        if (event->state == EVENT_LIVE && wants(window, slot, stream))
            stream_append(to, event, source_of(window));
        slot = event->next;
    }
}

/* deliver for a message that may go on as it came to those who can take it. */
static void deliver_whole(const struct window *window, bool canonical)
{
    const uint64_t *reach = reach_of(window, first_event(batch_of(window)));

    for (uint32_t word = 0; word < window->pipeline->words; word++) {
        uint64_t bits = reach[word] & ~window->pipeline->filtered[word];

        while (bits != 0) {
            size_t stream = next_stream(word, &bits);

            if (can_forward(window, stream, canonical))
                forward(window, stream);
            else
                emit_all(window, stream);
        }
    }
}

/* ---- streams with a chain ---- */

/* The set of this stream alone. */
static const uint64_t *own_of(const struct window *window, size_t stream)
{
    return window->pipeline->own + stream * window->pipeline->words;
}

/*
 * Link copies of what concerns the stream into a list of their own.  Returns
 * how many found no slot: filters made too many events of this batch.
 */
static uint32_t copy_for(const struct window *window, size_t stream,
                         uint32_t *head)
{
    struct batch *batch = batch_of(window);
    uint32_t *link = head;
    uint32_t missing = 0;

    for (uint32_t slot = batch->head; slot != EVENT_END;
         slot = batch->slots[slot].next) {
        uint32_t copy = EVENT_END;

        if (!wants(window, slot, stream))
            continue;
        if (missing == 0)
            copy = batch_copy(batch, slot);
        if (copy == EVENT_END) {
            missing += !event_is_mark(&batch->slots[slot]);
            continue;
        }
        memcpy(reach_of(window, copy), own_of(window, stream),
               window->pipeline->words * sizeof(uint64_t));
        *link = copy;
        link = &batch->slots[copy].next;
    }
    *link = EVENT_END;
    return missing;
}

/* Was it received with the message, not made by a filter? */
static bool is_received(const struct window *window, const struct event *event)
{
    const struct message *message = window->message;
    uintptr_t start = (uintptr_t)message->payload;

    return (uintptr_t)event->bytes - start < message->payload_size;
}

/* Did the chain keep every event of the message, untouched and in order? */
static bool kept_whole(const struct window *window, size_t stream,
                       size_t *events_size)
{
    const struct batch *batch = batch_of(window);
    const uint8_t *end = NULL;
    uint32_t count = 0;

    if (window->message == NULL)
        return false;
    for (uint32_t slot = first_event(batch); slot != EVENT_END;
         slot = batch->slots[slot].next) {
        const struct event *event = &batch->slots[slot];

        if (event->state != EVENT_LIVE || event->edits != NULL ||
            !wants(window, slot, stream) ||
            (end == NULL ? !is_received(window, event) : event->bytes != end))
            return false;
        end = event->bytes + event->size;
        *events_size += event->size;
        count++;
    }
    return count > 0 && count == window->header->count &&
           count <= BUILDER_EVENTS;
}

/* The batch shows the stream's copies while its chain runs, then all is as
 * before. */
static void run_chain(const struct window *window, size_t stream)
{
    struct pipeline *pipeline = window->pipeline;
    struct batch *batch = pipeline->batch;
    uint32_t head = batch->head;
    uint32_t used = batch->used;
    struct arena_mark mark = arena_mark(batch->arena);
    struct origin origin = origin_of(window);
    size_t events_size = 0;
    uint32_t missing;

    /* This chain's copies take the slots of the last one's, and the events that
     * they are of go to other streams too: no script may touch what it kept. */
    batch_close(batch);
    batch->used = used;
    batch->head = head;
    batch->widest = own_of(window, stream);
    missing = copy_for(window, stream, &batch->head);
    chain_run(&pipeline->chains[stream], pipeline->script, batch, &origin);
    if (kept_whole(window, stream, &events_size) &&
        can_forward(window, stream, is_canonical(window, events_size)))
        forward(window, stream);
    else
        emit_all(window, stream);
    if (missing > 0)
        stream_lose(window->streams[stream], LOSS_SPACE, missing,
                    source_of(window));
    batch->head = head;
    batch->used = used;
    arena_rewind(batch->arena, &mark);
}

static void run_chains(const struct window *window)
{
    for (uint32_t word = 0; word < window->pipeline->words; word++) {
        uint64_t bits = window->reach[word] & window->pipeline->filtered[word];

        while (bits != 0)
            run_chain(window, next_stream(word, &bits));
    }
}

/* From the global chain to the streams. */
static void distribute(const struct window *window)
{
    size_t events_size = 0;

    if (accept_all(window, &events_size))
        deliver_whole(window, is_canonical(window, events_size));
    else
        deliver(window);
    run_chains(window);
}

void window_run(const struct window *window)
{
    struct pipeline *pipeline = window->pipeline;
    struct origin origin = origin_of(window);

    window_prepare(window);
    chain_run(&pipeline->global, pipeline->script, pipeline->batch, &origin);
    distribute(window);
}

void window_tick(const struct window *window, size_t step)
{
    struct pipeline *pipeline = window->pipeline;
    struct origin origin = origin_of(window);

    window_prepare(window);
    chain_call_tick(&pipeline->global, step, pipeline->script, pipeline->batch,
                    &origin);
    distribute(window);
}

void window_tick_stream(const struct window *window, size_t stream, size_t step)
{
    struct pipeline *pipeline = window->pipeline;
    struct origin origin = origin_of(window);

    window_prepare(window);
    chain_call_tick(&pipeline->chains[stream], step, pipeline->script,
                    pipeline->batch, &origin);
    emit_all(window, stream);
}

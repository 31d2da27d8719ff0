/*
 * batch - one payload: [timestamp, [event, …], dp_rank]
 *
 * A reader belongs to one source.  It opens a payload, validating all of it
 * before anything is acted on, and fills windows of at most BATCH_WINDOW
 * events.  It remembers the last event of each shape (codec/template.h) so that
 * an event like it costs a few comparisons.
 */
#ifndef CODEC_BATCH_H
#define CODEC_BATCH_H

#include "codec/event.h"

struct arena;
struct batch_reader;

enum {
    BATCH_WINDOW = 64,      /* events decoded and filtered together */
    BATCH_EVENTS = 1 << 20, /* a message; publishers send 64 */
    BATCH_SLOTS = 2048,     /* with copies made by filters */
    BATCH_BYTES = 1 << 26   /* that the edits of one message may take */
};

enum batch_fault {
    BATCH_OK = 0,
    BATCH_NOT_MSGPACK,   /* cut short, 0xc1, too deep */
    BATCH_NOT_A_TRIPLE,  /* not an array of three */
    BATCH_BAD_TIMESTAMP, /* no integer */
    BATCH_EVENTS_NO_ARRAY,
    BATCH_BAD_RANK, /* neither integer nor nil */
    BATCH_TRAILING_BYTES,
    BATCH_TOO_LARGE, /* 4 GiB or more */
    BATCH_TOO_MANY,  /* more than BATCH_EVENTS */
};

const char *batch_fault_text(enum batch_fault fault);

/* What a payload says besides its events.  Slices of the payload, borrowed. */
struct batch_header {
    const uint8_t *timestamp; /* one msgpack integer */
    const uint8_t *rank;      /* one msgpack integer or nil */
    uint32_t timestamp_size;
    uint32_t rank_size;
    uint32_t count;    /* events, malformed ones too */
    uint64_t first_id; /* event_id of the first event that has one, else 0 */
    uint64_t last_id;  /* and of the last */
};

/* `words`: 64-bit words of a reach mask. */
struct batch *batch_new(uint32_t words);
void batch_free(struct batch *batch);

struct batch_reader *batch_reader_new(void);
void batch_reader_free(struct batch_reader *reader);

/*
 * Open a payload (borrowed until the last batch_next) whose windows will fill
 * `batch`.  On BATCH_OK `header` is filled and the whole payload is known to be
 * well-formed msgpack: what can still be wrong is single events.
 */
enum batch_fault batch_open(struct batch_reader *reader, struct batch *batch,
                            const uint8_t *payload, size_t size,
                            struct batch_header *header);

/*
 * Fill the batch with the next window, in place of the last one: gives it a new
 * serial and links the events in order.  A malformed event becomes a slot in
 * state EVENT_LOST with its enum event_fault in `cause`.  Returns the number of
 * slots filled, 0 at the end.  `reach` is not touched.
 */
uint32_t batch_next(struct batch_reader *reader, struct batch *batch);

/*
 * Put a mark in front of what the batch holds, behind all slots of a window:
 * events that batch_open has decoded already are not touched.
 */
struct event *batch_mark(struct batch *batch, enum event_state state);

/* The same in a window of its own, with a new serial. */
struct event *batch_occasion(struct batch *batch, enum event_state state);

/* The hook of a filter that is called for what `current` is: "on_event", … */
const char *batch_hook(const struct batch *batch);

/*
 * Take back what a filter made of `current`, on which it failed: its copies,
 * and the events that it emitted.  Returns how many of these there were.
 */
uint32_t batch_take_back(struct batch *batch);

/* Make a filled batch unreadable for scripts that kept an event of it. */
void batch_close(struct batch *batch);

/* A free slot, or NULL when all are taken. */
struct event *batch_slot(struct batch *batch, uint32_t *index);

/* A copy of slot `from` (edits and reach too) in a free slot, not linked;
 * EVENT_END when all are taken. */
uint32_t batch_copy(struct batch *batch, uint32_t from);

#endif

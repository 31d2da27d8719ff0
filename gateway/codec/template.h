/*
 * template - recognise an event by one like it
 *
 *   … ab"tenant_id" a8tenant-7 aa"backend_id" a8mooncake … aa"object_key" d96d…
 *   |    run        | hole   |      run                                 | hole
 *
 * A publisher's events differ in a few values only.  A template keeps the bytes
 * of one event and knows which values vary, the holes; the runs between them
 * are compared as they are, and only the values in holes are read.  What it
 * recognises is exactly what event_index would have made of the same bytes;
 * what it does not is left to that.
 */
#ifndef CODEC_TEMPLATE_H
#define CODEC_TEMPLATE_H

#include "base/buffer.h"
#include "codec/event.h"

enum {
    TEMPLATE_PAIRS = 32,      /* an event that has more is never kept */
    TEMPLATE_BYTES = 8 << 10, /* nor one that is larger */
    TEMPLATE_PATIENCE = 16    /* strangers met before it takes their shape */
};

/* A pair of the kept event; offsets into its bytes. */
struct template_pair {
    uint16_t key;
    uint16_t value;
    uint16_t end;
    uint8_t field;
    bool is_hole;
};

/* Bytes that must be the same, and the hole behind them. */
struct template_run {
    uint16_t start; /* in the kept event */
    uint16_t size;  /* of the run */
    uint16_t hole;  /* bytes of the kept event's value in the hole */
    uint32_t rest;  /* bytes of all runs behind the hole */
    uint32_t behind[EVENT_FIELDS]; /* ~0 if the field lies behind the hole */
};

struct template
{
    struct buffer bytes;       /* of the kept event; empty: none yet */
    uint32_t at[EVENT_FIELDS]; /* as in struct event */
    uint32_t pair_count;
    uint32_t holes;
    uint32_t constant; /* bytes of all runs */
    uint8_t type;      /* enum event_type, unless it varies */
    bool type_varies;  /* event_type or type lies in a hole */
    uint8_t patience;  /* strangers it will still see off */
    struct template_pair pairs[TEMPLATE_PAIRS];
    struct template_run runs[TEMPLATE_PAIRS + 1]; /* the last has no hole */
};

/*
 * Fill `event` (all but `next`) from the event at `bytes` if it is one like the
 * kept one: returns the first byte behind it.  NULL, and `event` undefined:
 * it is not, or its bytes are cut short or no msgpack.
 */
const uint8_t *template_match(const struct template *template,
                              struct event *event, const uint8_t *bytes,
                              const uint8_t *end);

/* Learn from an indexed event that did not match: which values vary, or, after
 * a while, another shape. */
void template_learn(struct template *template, const struct event *event);

void template_deinit(struct template *template);

#endif

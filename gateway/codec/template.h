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
    TEMPLATE_PAIRS = 64,      /* an event that has more is never kept */
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

/* Bytes that must be the same, up to a hole or to the end. */
struct template_run {
    uint16_t start;
    uint16_t size;
    uint32_t places_end; /* places up to this one lie in it or right behind */
};

struct template_place {
    uint32_t at;
    uint32_t field;
};

struct template
{
    struct buffer bytes; /* of the kept event; empty: none yet */
    uint32_t pair_count;
    uint32_t holes;
    uint8_t type;   /* enum event_type, unless judged */
    bool is_judged; /* id or type lies in a hole */
    uint8_t patience;
    struct template_pair pairs[TEMPLATE_PAIRS];
    struct template_run runs[TEMPLATE_PAIRS + 1]; /* holes + 1 of them */
    struct template_place places[EVENT_FIELDS];
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

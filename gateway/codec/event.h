/*
 * event - one event: the received bytes, with edits on top
 *
 *   bytes   de 0014  a8"event_id" ce….  a9"timestamp" cf….  …  aa"object_key" …
 *                                 ^at[FIELD_EVENT_ID]                    ^at[…]
 *   edits   object_key = …  ->  tenant_id = …  ->  NULL     (newest first)
 *
 * Reading looks at the edits, then at the bytes.  Writing copies the runs that
 * nobody touched and splices the values that somebody did: unknown keys, their
 * order, integer widths, str against bin, nil against absent all survive.
 */
#ifndef CODEC_EVENT_H
#define CODEC_EVENT_H

#include "codec/event_abi.h"
#include "codec/field.h"

#include <stdbool.h>

/* Why a map is not an event. */
enum event_fault {
    EVENT_OK = 0,
    EVENT_NOT_A_MAP,
    EVENT_KEY_NOT_TEXT,
    EVENT_DUPLICATE_FIELD, /* of a known field: readers would disagree */
    EVENT_NO_TYPE,         /* neither event_type nor type is a string */
    EVENT_BAD_ID,          /* event_id is no unsigned integer */
    EVENT_FAULTS,
};

/* What is no event and was never one: a mark for hooks. */
static inline bool event_is_mark(const struct event *event)
{
    return event->state > EVENT_LOST;
}

enum { EVENT_CHANGES = 128 }; /* fields of one event that edits may cover */

const char *event_fault_text(enum event_fault fault);

/* The names that publishers give to types, one after the other; NULL behind the
 * last. */
const char *event_type_name(size_t index);

/*
 * Index the checked msgpack value at `bytes` (`size` long) into `event`, which
 * becomes live and untouched.  `event_type` decides the type, or the legacy
 * `type` when that is all there is.  No byte is copied.
 */
enum event_fault event_index(struct event *event, const uint8_t *bytes,
                             uint32_t size);

/*
 * An event of our own, with what a publisher writes when it knows nothing but
 * the type (`size` bytes at `name`): all fields of its layout for that type,
 * event_id 0, the hashes empty, the others nil.  An unknown type has the layout
 * of a stored one, an empty event_type and no legacy name.  False: the batch's
 * arena, which holds it, is full.
 */
bool event_blank(struct batch *batch, struct event *event, const char *name,
                 size_t size);

/* Judge an event whose fields are placed in `at`: sets its type, or says what
 * is wrong with its id or type.  event_index does so itself. */
enum event_fault event_judge(struct event *event);

/* One pair of a checked map whose key is a str. */
struct event_pair {
    const uint8_t *name;
    const uint8_t *value;
    const uint8_t *end;
    uint32_t name_size;
};

/* The pair whose key is at `at`. */
struct event_pair event_pair_at(const uint8_t *at);

/* The value of a field: checked msgpack, borrowed; NULL: absent. */
const uint8_t *event_value(const struct event *event, enum field field);

/* The same for a field known by name only (or any name); the last one if the
 * name repeats. */
const uint8_t *event_named(const struct event *event, const uint8_t *name,
                           size_t size);

/* The same for one given by number, or by name if that is FIELD_NONE. */
const uint8_t *event_field(const struct event *event, enum field field,
                           const uint8_t *name, size_t size);

/* A text field: its bytes if it is a str, NULL for anything else. */
const uint8_t *event_text(const struct event *event, enum field field,
                          uint32_t *size);

/* event_id, or 0 when it carries none. */
uint64_t event_id(const struct event *event);

/*
 * Assign one msgpack value (`size` bytes, copied into the batch's arena).
 * `name` is used only with FIELD_NONE.  A value equal byte for byte to the
 * present one is no edit.  A name that repeats is in the event once afterwards.
 * False, and nothing changed: the arena is full, or more than EVENT_CHANGES
 * fields are edited.
 */
bool event_assign(struct batch *batch, struct event *event, enum field field,
                  const uint8_t *name, size_t name_size, const uint8_t *value,
                  size_t size);

/* Take a field away, however often it is there; absent already is no edit.
 * False as above. */
bool event_remove(struct batch *batch, struct event *event, enum field field,
                  const uint8_t *name, size_t name_size);

/* Bytes that event_write will need at the most. */
size_t event_write_bound(const struct event *event);

/* Write the event as it is now to `to`, where the caller has made room; returns
 * the first byte behind it.  `id`: NULL keeps its event_id, else every event
 * leaves with this one (replaced, or added if it had none). */
uint8_t *event_write(const struct event *event, const uint64_t *id,
                     uint8_t *to);

#endif

/*
 * try_diff - what a filter did to the fields of an event
 */
#ifndef CLI_TRY_DIFF_H
#define CLI_TRY_DIFF_H

#include "base/json.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Checked msgpack values; borrowed. */
struct try_change {
    const uint8_t *name;
    const uint8_t *old; /* NULL: the field came */
    const uint8_t *new; /* NULL: it went */
};

/* Tell (unless NULL) each field that differs, in the order of the events, both
 * checked msgpack; returns how many.  What is no map has no fields. */
size_t try_diff(const uint8_t *old, const uint8_t *new,
                void (*tell)(void *context, const struct try_change *change),
                void *context);

/* Are the values the same, byte for byte? */
bool try_is_same(const uint8_t *a, const uint8_t *b);

/* The value of the first field of that name; NULL: there is none. */
const uint8_t *try_field(const uint8_t *event, const char *name);

/* A msgpack value as JSON. */
void try_write_value(struct json *json, const uint8_t *value);

/* A field's name as the key of a JSON object. */
void try_write_name(struct json *json, const uint8_t *name);

#endif

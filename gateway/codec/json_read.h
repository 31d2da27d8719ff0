/*
 * json_read - one JSON text as msgpack
 *
 * Integers from -2^63 to 2^64 - 1 stay integers, all digits of them; what has a
 * point or an exponent becomes a float64.  {"$bin":"HEX"}, spelt just so, is a
 * binary: what kvgate tap writes for one.  Everything comes out in its shortest
 * form, fields in their order, a field that comes twice too.
 */
#ifndef CODEC_JSON_READ_H
#define CODEC_JSON_READ_H

#include "base/buffer.h"
#include "base/error.h"

#include <stdbool.h>
#include <stddef.h>

enum { JSON_READ_DEPTH = 64 };

/* Append the value that all of `text` is.  False when it is none: `error` says
 * what was expected and what is there, in `column` (a byte, from 1). */
bool json_read(struct buffer *out, const char *text, size_t size,
               size_t *column, struct error *error);

#endif

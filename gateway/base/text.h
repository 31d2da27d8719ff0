/*
 * text - bytes from elsewhere, judged before they are shown
 *
 * Names and payloads come from peers and may hold anything.  What is not
 * UTF-8, and what would move a terminal's cursor, colour it or reorder a line,
 * is named here once; log, json, metrics and config ask.
 */
#ifndef BASE_TEXT_H
#define BASE_TEXT_H

#include "base/buffer.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Length of the UTF-8 character that `bytes` begin with, and its code point;
 * 0 when there is none.  Overlong forms and surrogates are none. */
size_t text_rune(const uint8_t *bytes, size_t size, uint32_t *rune);

/* A character that must not reach a terminal as it is: C0, C1, line and
 * paragraph separators, and the controls of writing direction. */
bool text_is_control(uint32_t rune);

/* Append `bytes` with controls and stray bytes written as \n, \t, \r, \xNN.  A
 * backslash stays one, for the eye: this is for reading, not for parsing. */
void text_escape(struct buffer *out, const void *bytes, size_t size);

/* The least digits of `value` that read back as the same double. */
void text_double(char out[32], double value);

#endif

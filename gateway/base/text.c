#include "base/text.h"

#include <stdio.h>
#include <stdlib.h>

/* Length that a first byte announces, and the least code point that needs so
 * many bytes; 0 for a byte that begins nothing. */
static size_t announced(uint8_t byte, uint32_t *least, uint32_t *rune)
{
    if (byte < 0x80) {
        *least = 0;
        *rune = byte;
        return 1;
    }
    if (byte >= 0xc2 && byte <= 0xdf) {
        *least = 0x80;
        *rune = byte & 0x1fU;
        return 2;
    }
    if (byte >= 0xe0 && byte <= 0xef) {
        *least = 0x800;
        *rune = byte & 0x0fU;
        return 3;
    }
    if (byte >= 0xf0 && byte <= 0xf4) {
        *least = 0x10000;
        *rune = byte & 0x07U;
        return 4;
    }
    return 0;
}

size_t text_rune(const uint8_t *bytes, size_t size, uint32_t *rune)
{
    uint32_t least = 0;
    size_t length = size > 0 ? announced(bytes[0], &least, rune) : 0;

    if (length > size)
        return 0;
    for (size_t i = 1; i < length; i++) {
        if ((bytes[i] & 0xc0U) != 0x80)
            return 0;
        *rune = *rune << 6 | (bytes[i] & 0x3fU);
    }
    if (length == 0 || *rune < least || *rune > 0x10ffff)
        return 0;
    return *rune >= 0xd800 && *rune <= 0xdfff ? 0 : length;
}

bool text_is_control(uint32_t rune)
{
    return rune < 0x20 || (rune >= 0x7f && rune <= 0x9f) || rune == 0x200e ||
           rune == 0x200f || (rune >= 0x2028 && rune <= 0x202e) ||
           (rune >= 0x2066 && rune <= 0x2069);
}

static void escape_byte(struct buffer *out, uint8_t byte)
{
    if (byte == '\n')
        buffer_put(out, "\\n", 2);
    else if (byte == '\t')
        buffer_put(out, "\\t", 2);
    else if (byte == '\r')
        buffer_put(out, "\\r", 2);
    else
        buffer_print(out, "\\x%02x", byte);
}

void text_escape(struct buffer *out, const void *bytes, size_t size)
{
    const uint8_t *at = bytes;
    const uint8_t *end = at + size;

    while (at < end) {
        uint32_t rune = 0;
        size_t length = text_rune(at, (size_t)(end - at), &rune);

        if (length > 0 && !text_is_control(rune)) {
            buffer_put(out, at, length);
            at += length;
            continue;
        }
        for (size_t i = 0; i < (length > 0 ? length : 1); i++)
            escape_byte(out, at[i]);
        at += length > 0 ? length : 1;
    }
}

void text_double(char out[32], double value)
{
    for (int digits = 1; digits <= 17; digits++) {
        snprintf(out, 32, "%.*g", digits, value);
        if (strtod(out, NULL) == value)
            return;
    }
}

/*
 * key_digits - which bytes are digits, and what they are worth
 *
 * The tests are inline: matching asks them for every byte of a digest.
 */
#ifndef SCRIPT_KEY_DIGITS_H
#define SCRIPT_KEY_DIGITS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

enum {
    KEY_DECIMAL_MAX = 20, /* digits of UINT64_MAX */
    KEY_HEX_STEP = 16,    /* hex digits tested in one go */
};

static inline bool key_is_decimal(uint8_t byte)
{
    return (uint8_t)(byte - '0') < 10;
}

static inline bool key_is_hex(uint8_t byte)
{
    return key_is_decimal(byte) || (uint8_t)((byte | 0x20) - 'a') < 6;
}

/* Whether the KEY_HEX_STEP bytes before `end` are all hex digits. */
static inline bool key_are_hex(const uint8_t *end)
{
    uint8_t bytes __attribute__((vector_size(KEY_HEX_STEP)));
    uint64_t halves[2];

    memcpy(&bytes, end - KEY_HEX_STEP, KEY_HEX_STEP);
    bytes = (uint8_t __attribute__((vector_size(KEY_HEX_STEP))))(
        ((bytes - '0') < 10) | (((bytes | 0x20) - 'a') < 6));
    memcpy(halves, &bytes, sizeof halves);
    return (halves[0] & halves[1]) == UINT64_MAX;
}

/* Whether `size` decimal digits are at most UINT64_MAX; false above
 * KEY_DECIMAL_MAX of them, whatever they are. */
bool key_decimal_fits(const uint8_t *digits, size_t size);

/* What they are worth. */
uint64_t key_decimal(const uint8_t *digits, size_t size);

/* The last 16 of `size` hex digits as a number; fewer are the whole number. */
uint64_t key_low64(const uint8_t *digits, size_t size);

/* The first 16. */
uint64_t key_high64(const uint8_t *digits, size_t size);

#endif

#include "script/keys/key_digits.h"

#include <endian.h>

enum { WORD = 16 }; /* hex digits of a u64 */

bool key_decimal_fits(const uint8_t *digits, size_t size)
{
    static const char max[] = "18446744073709551615";

    return size < KEY_DECIMAL_MAX ||
           (size == KEY_DECIMAL_MAX &&
            memcmp(digits, max, KEY_DECIMAL_MAX) <= 0);
}

uint64_t key_decimal(const uint8_t *digits, size_t size)
{
    uint64_t value = 0;

    for (size_t i = 0; i < size; i++)
        value = value * 10 + digits[i] - '0';
    return value;
}

/* In both cases of a letter the low 4 bits are 9 less than its value, and bit 6
 * tells it from a decimal digit. */
static uint64_t hex(const uint8_t *digits, size_t size)
{
    uint64_t value = 0;

    for (size_t i = 0; i < size; i++)
        value = value << 4 | ((digits[i] & 0x0f) + (digits[i] >> 6) * 9u);
    return value;
}

/* 8 digits at once: a byte holds one of them, then two bytes two of them, and
 * so on. */
static uint64_t hex8(const uint8_t *digits)
{
    uint64_t bytes, letters;

    memcpy(&bytes, digits, sizeof bytes);
    bytes = be64toh(bytes);
    letters = bytes >> 6 & UINT64_C(0x0101010101010101);
    bytes = (bytes & UINT64_C(0x0f0f0f0f0f0f0f0f)) + letters * 9;
    bytes = (bytes | bytes >> 4) & UINT64_C(0x00ff00ff00ff00ff);
    bytes = (bytes | bytes >> 8) & UINT64_C(0x0000ffff0000ffff);
    return (bytes | bytes >> 16) & UINT32_MAX;
}

static uint64_t hex16(const uint8_t *digits)
{
    return hex8(digits) << 32 | hex8(digits + WORD / 2);
}

uint64_t key_low64(const uint8_t *digits, size_t size)
{
    return size < WORD ? hex(digits, size) : hex16(digits + size - WORD);
}

uint64_t key_high64(const uint8_t *digits, size_t size)
{
    return size < WORD ? hex(digits, size) : hex16(digits);
}

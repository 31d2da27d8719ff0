#include "base/z85.h"

#include <string.h>

enum { GROUP = 5, GROUP_BYTES = 4 };

static const char digits[] = "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLM"
                             "NOPQRSTUVWXYZ.-:+=^!/*?&<>()[]{}@%$#";

/* Five digits of base 85 are four bytes, but for the largest numbers. */
static bool read_group(const char *text, uint8_t *bytes)
{
    uint64_t value = 0;

    for (int i = 0; i < GROUP; i++) {
        const char *digit = text[i] != '\0' ? strchr(digits, text[i]) : NULL;

        if (digit == NULL)
            return false;
        value = value * 85 + (uint64_t)(digit - digits);
    }
    if (value > UINT32_MAX)
        return false;
    for (int i = 0; i < GROUP_BYTES; i++)
        bytes[i] = (uint8_t)(value >> (24 - 8 * i));
    return true;
}

bool z85_read_key(const char *text, size_t size, uint8_t key[Z85_BYTES])
{
    if (size != Z85_KEY)
        return false;
    for (size_t i = 0; i < Z85_KEY / GROUP; i++)
        if (!read_group(text + GROUP * i, key + GROUP_BYTES * i))
            return false;
    return true;
}

/*
 * z85 - ZeroMQ's way to write a 32-byte key as 40 characters
 */
#ifndef BASE_Z85_H
#define BASE_Z85_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    Z85_KEY = 40,   /* characters of a key, without the NUL */
    Z85_BYTES = 32, /* that they stand for */
};

/* The bytes of the key that `text` (`size` characters) is; false: it is none.
 */
bool z85_read_key(const char *text, size_t size, uint8_t key[Z85_BYTES]);

#endif

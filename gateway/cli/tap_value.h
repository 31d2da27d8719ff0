/*
 * tap_value - one msgpack value as JSON
 *
 * Decoded by msgpack-c, so that what is shown is not what the gateway's own
 * codec makes of it.  Integers keep all digits; a binary becomes {"$bin": hex},
 * an extension {"$ext": type, "data": hex}; a key that is no text becomes the
 * text of its JSON.
 */
#ifndef CLI_TAP_VALUE_H
#define CLI_TAP_VALUE_H

#include "base/json.h"

#include <msgpack.h>
#include <stddef.h>
#include <stdint.h>

enum {
    /* Bytes of a value that is decoded: msgpack-c takes up to 24 times of
     * them. */
    TAP_VALUE_MAX = 4 << 20
};

/*
 * Decode the one value that `bytes` are known to hold.  NULL, or why it cannot
 * be shown.  `value` borrows the bytes; free it with msgpack_unpacked_destroy
 * either way.
 */
const char *tap_value_decode(msgpack_unpacked *value, const uint8_t *bytes,
                             size_t size);

void tap_value_write(struct json *json, const msgpack_object *value);

/* Write a map's key. */
void tap_value_key(struct json *json, const msgpack_object *key);

#endif

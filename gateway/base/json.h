/*
 * json - write one JSON text into a buffer
 *
 * Commas and quotes are placed here, so that callers only name things.  A
 * string that is not UTF-8 is written with each stray byte as \u00XX behind a
 * U+FFFD, so that nothing is lost and the result is always valid JSON.
 *
 *   struct json json = {.out = &buffer};
 *   json_object(&json);
 *   json_key(&json, "name");  json_string(&json, name, strlen(name));
 *   json_end(&json);
 */
#ifndef BASE_JSON_H
#define BASE_JSON_H

#include "base/buffer.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { JSON_DEPTH = 600 };

struct json {
    struct buffer *out;
    unsigned depth;
    bool after_key;            /* the next value belongs to a key */
    uint8_t level[JSON_DEPTH]; /* per open container: kind and fill */
};

void json_object(struct json *json);
void json_array(struct json *json);
void json_end(struct json *json);
void json_key(struct json *json, const char *name);
void json_key_bytes(struct json *json, const char *name, size_t size);
void json_string(struct json *json, const char *text, size_t size);
void json_text(struct json *json, const char *text); /* NULL is null */
void json_u64(struct json *json, uint64_t value);
void json_i64(struct json *json, int64_t value);
void json_double(struct json *json, double value); /* shortest exact form */
void json_bool(struct json *json, bool value);
void json_null(struct json *json);

#endif

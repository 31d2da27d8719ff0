#include "base/json.h"
#include "base/text.h"

#include <assert.h>
#include <inttypes.h>
#include <math.h>
#include <string.h>

/* Bits of json.level[]. */
enum { JSON_OBJECT = 1, JSON_FILLED = 2 };

static uint8_t *innermost(struct json *json)
{
    return json->depth > 0 ? &json->level[json->depth - 1] : NULL;
}

/* The comma between this member and the one before. */
static void put_comma(struct json *json)
{
    uint8_t *level = innermost(json);

    if (level == NULL)
        return;
    if (*level & JSON_FILLED)
        buffer_put(json->out, ",", 1);
    *level |= JSON_FILLED;
}

static void begin_value(struct json *json)
{
    const uint8_t *level = innermost(json);

    assert(level == NULL || !(*level & JSON_OBJECT) || json->after_key);
    if (!json->after_key)
        put_comma(json);
    json->after_key = false;
}

static void open_level(struct json *json, uint8_t kind, const char *bracket)
{
    assert(json->depth < JSON_DEPTH);
    begin_value(json);
    json->level[json->depth++] = kind;
    buffer_put(json->out, bracket, 1);
}

void json_object(struct json *json)
{
    open_level(json, JSON_OBJECT, "{");
}

void json_array(struct json *json)
{
    open_level(json, 0, "[");
}

void json_end(struct json *json)
{
    assert(json->depth > 0 && !json->after_key);
    json->depth--;
    buffer_put(json->out, json->level[json->depth] & JSON_OBJECT ? "}" : "]",
               1);
}

static void put_rune(struct buffer *out, uint32_t rune, const uint8_t *bytes,
                     size_t length)
{
    static const char escapes[0x20] = {
        ['\b'] = 'b', ['\t'] = 't', ['\n'] = 'n', ['\f'] = 'f', ['\r'] = 'r'};

    if (rune < 0x20 && escapes[rune] != '\0')
        buffer_put(out, (char[]){'\\', escapes[rune]}, 2);
    else if (rune == '"' || rune == '\\')
        buffer_put(out, (char[]){'\\', (char)rune}, 2);
    else if (text_is_control(rune))
        buffer_print(out, "\\u%04" PRIx32, rune);
    else
        buffer_put(out, bytes, length);
}

static void put_quoted(struct buffer *out, const char *text, size_t size)
{
    const uint8_t *bytes = (const uint8_t *)text;
    size_t length;

    buffer_put(out, "\"", 1);
    for (size_t at = 0; at < size; at += length) {
        uint32_t rune = 0;

        length = text_rune(bytes + at, size - at, &rune);
        if (length > 0) {
            put_rune(out, rune, bytes + at, length);
            continue;
        }
        buffer_print(out, "\\ufffd\\u00%02x", bytes[at]);
        length = 1;
    }
    buffer_put(out, "\"", 1);
}

void json_key_bytes(struct json *json, const char *name, size_t size)
{
    assert(json->depth > 0 && *innermost(json) & JSON_OBJECT);
    assert(!json->after_key);
    put_comma(json);
    put_quoted(json->out, name, size);
    buffer_put(json->out, ":", 1);
    json->after_key = true;
}

void json_key(struct json *json, const char *name)
{
    json_key_bytes(json, name, strlen(name));
}

void json_string(struct json *json, const char *text, size_t size)
{
    begin_value(json);
    put_quoted(json->out, text, size);
}

static void put_word(struct json *json, const char *word)
{
    begin_value(json);
    buffer_put(json->out, word, strlen(word));
}

void json_text(struct json *json, const char *text)
{
    if (text != NULL)
        json_string(json, text, strlen(text));
    else
        json_null(json);
}

void json_u64(struct json *json, uint64_t value)
{
    begin_value(json);
    buffer_print(json->out, "%" PRIu64, value);
}

void json_i64(struct json *json, int64_t value)
{
    begin_value(json);
    buffer_print(json->out, "%" PRId64, value);
}

void json_double(struct json *json, double value)
{
    char digits[32] = "null"; /* JSON has no word for what is not finite */

    if (isfinite(value))
        text_double(digits, value);
    put_word(json, digits);
}

void json_bool(struct json *json, bool value)
{
    put_word(json, value ? "true" : "false");
}

void json_null(struct json *json)
{
    put_word(json, "null");
}

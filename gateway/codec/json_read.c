#include "codec/json_read.h"

#include "base/text.h"
#include "codec/pack.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum { NUMBER_MAX = 64, FOUND_MAX = 20 };

struct reader {
    struct buffer *out;
    const char *text, *at, *end;
    unsigned depth;
    struct error *error;
};

static bool read_value(struct reader *reader);

/* What stands where something else was expected: a word or a character. */
static void put_found(struct buffer *out, const char *at, const char *end)
{
    size_t size = 0;

    if (at == end) {
        buffer_print(out, "the end");
        return;
    }
    while (at + size < end && size < FOUND_MAX &&
           (isalnum((unsigned char)at[size]) || at[size] == '_'))
        size++;
    if (size == 0)
        size =
            text_rune((const uint8_t *)at, (size_t)(end - at), &(uint32_t){0});
    if (*at == '\'') {
        buffer_print(out, "a single quote");
        return;
    }
    buffer_print(out, "'");
    text_escape(out, at, size == 0 ? 1 : size);
    buffer_print(out, "'");
}

static bool refuse(struct reader *reader, const char *expected)
{
    struct buffer found = {0};

    put_found(&found, reader->at, reader->end);
    error_set(reader->error, "expected %s, not %s", expected,
              buffer_text(&found));
    buffer_free(&found);
    return false;
}

static void skip_space(struct reader *reader)
{
    while (reader->at < reader->end && strchr(" \t\r\n", *reader->at) != NULL &&
           *reader->at != '\0')
        reader->at++;
}

static bool take(struct reader *reader, char wanted)
{
    if (reader->at == reader->end || *reader->at != wanted)
        return false;
    reader->at++;
    return true;
}

static bool take_word(struct reader *reader, const char *word)
{
    size_t size = strlen(word);

    if ((size_t)(reader->end - reader->at) < size ||
        memcmp(reader->at, word, size) != 0)
        return false;
    reader->at += size;
    return true;
}

/* What the pack function made of `size` bytes of payload goes in front. */
static void put_header(struct buffer *out, size_t start,
                       uint8_t *(*pack)(uint8_t *, uint32_t), uint32_t count)
{
    uint8_t header[PACK_SCALAR];
    size_t size = (size_t)(pack(header, count) - header);
    size_t body = out->size - start;

    buffer_reserve(out, size);
    memmove(out->data + start + size, out->data + start, body);
    memcpy(out->data + start, header, size);
    out->size += size;
}

/* ---- strings ---- */

static int hex_digit(char digit)
{
    static const char digits[] = "0123456789abcdef";
    const char *found = digit == '\0' ? NULL : strchr(digits, digit | 0x20);

    return found == NULL ? -1 : (int)(found - digits);
}

static bool read_hex(struct reader *reader, int count, uint32_t *value)
{
    *value = 0;
    for (int i = 0; i < count; i++) {
        int digit = reader->at < reader->end ? hex_digit(*reader->at) : -1;

        if (digit < 0)
            return refuse(reader, "a hexadecimal digit");
        *value = *value << 4 | (uint32_t)digit;
        reader->at++;
    }
    return true;
}

static void put_code(struct buffer *out, uint32_t code)
{
    uint8_t bytes[4];
    size_t size = code < 0x80 ? 1 : code < 0x800 ? 2 : code < 0x10000 ? 3 : 4;

    for (size_t i = size; i-- > 1; code >>= 6)
        bytes[i] = (uint8_t)(0x80 | (code & 0x3f));
    bytes[0] = (uint8_t)(size == 1 ? code : ((0xf00u >> size) & 0xf0u) | code);
    buffer_put(out, bytes, size);
}

static bool read_code(struct reader *reader)
{
    uint32_t code, low;

    if (!read_hex(reader, 4, &code))
        return false;
    if (code >= 0xd800 && code < 0xdc00) {
        if (!take_word(reader, "\\u") || !read_hex(reader, 4, &low) ||
            low < 0xdc00 || low > 0xdfff)
            return refuse(reader, "the second half of a surrogate pair");
        code = 0x10000 + ((code - 0xd800) << 10) + (low - 0xdc00);
    } else if (code >= 0xdc00 && code < 0xe000) {
        return refuse(reader, "the first half of a surrogate pair before it");
    }
    put_code(reader->out, code);
    return true;
}

static bool read_escape(struct reader *reader)
{
    static const char names[] = "\"\\/bfnrt", meant[] = "\"\\/\b\f\n\r\t";
    const char *found;

    if (take(reader, 'u'))
        return read_code(reader);
    found = reader->at < reader->end && *reader->at != '\0'
                ? strchr(names, *reader->at)
                : NULL;
    if (found == NULL)
        return refuse(reader, "an escape that JSON has");
    buffer_put(reader->out, &meant[found - names], 1);
    reader->at++;
    return true;
}

/* Behind the opening quote. */
static bool read_string(struct reader *reader)
{
    size_t start = reader->out->size;

    while (!take(reader, '"')) {
        if (reader->at == reader->end)
            return refuse(reader, "the end of the string");
        if ((unsigned char)*reader->at < 0x20)
            return refuse(reader, "an escape for a control character");
        if (take(reader, '\\')) {
            if (!read_escape(reader))
                return false;
        } else {
            buffer_put(reader->out, reader->at++, 1);
        }
    }
    put_header(reader->out, start, pack_str_header,
               (uint32_t)(reader->out->size - start));
    return true;
}

/* Behind {"$bin":" */
static bool read_binary(struct reader *reader)
{
    size_t start = reader->out->size;
    uint32_t value;

    while (!take_word(reader, "\"}")) {
        uint8_t byte;

        if (!read_hex(reader, 2, &value))
            return false;
        byte = (uint8_t)value;
        buffer_put(reader->out, &byte, 1);
    }
    put_header(reader->out, start, pack_bin_header,
               (uint32_t)(reader->out->size - start));
    return true;
}

/* ---- numbers ---- */

static bool put_integer(struct reader *reader, const char *digits)
{
    uint8_t bytes[PACK_SCALAR], *end;

    errno = 0;
    if (digits[0] == '-')
        end = pack_i64(bytes, strtoll(digits, NULL, 10));
    else
        end = pack_u64(bytes, strtoull(digits, NULL, 10));
    if (errno != 0)
        return refuse(reader, "an integer from -2^63 to 2^64 - 1");
    buffer_put(reader->out, bytes, (size_t)(end - bytes));
    return true;
}

/* -?(0|[1-9]\d*)(\.\d+)?([eE][+-]?\d+)? */
static bool is_number(const char *at, bool *integer)
{
    static const char digits[] = "0123456789";
    size_t count;

    at += *at == '-';
    count = strspn(at, digits);
    if (count == 0 || (at[0] == '0' && count > 1))
        return false;
    at += count;
    *integer = *at == '\0';
    if (*at == '.') {
        count = strspn(++at, digits);
        at += count;
        if (count == 0)
            return false;
    }
    if (*at == 'e' || *at == 'E') {
        at++;
        at += *at == '+' || *at == '-';
        count = strspn(at, digits);
        at += count;
        if (count == 0)
            return false;
    }
    return *at == '\0';
}

static bool read_number(struct reader *reader)
{
    char text[NUMBER_MAX + 1];
    uint8_t bytes[PACK_SCALAR];
    size_t size = 0;
    bool integer;

    while (size < NUMBER_MAX && reader->at + size < reader->end &&
           reader->at[size] != '\0' &&
           strchr("+-.0123456789eE", reader->at[size]) != NULL) {
        text[size] = reader->at[size];
        size++;
    }
    text[size] = '\0';
    if (!is_number(text, &integer))
        return refuse(reader, "a value");
    if (integer && !put_integer(reader, text))
        return false;
    if (!integer)
        buffer_put(reader->out, bytes,
                   (size_t)(pack_float64(bytes, strtod(text, NULL)) - bytes));
    reader->at += size;
    return true;
}

/* ---- containers ---- */

static bool read_member(struct reader *reader, bool map)
{
    if (map) {
        skip_space(reader);
        if (!take(reader, '"'))
            return refuse(reader, "a name in double quotes");
        if (!read_string(reader))
            return false;
        skip_space(reader);
        if (!take(reader, ':'))
            return refuse(reader, "\":\"");
    }
    return read_value(reader);
}

static bool read_members(struct reader *reader, bool map)
{
    char close = map ? '}' : ']';
    size_t start = reader->out->size;
    uint32_t count = 0;

    skip_space(reader);
    if (!take(reader, close)) {
        do {
            if (!read_member(reader, map))
                return false;
            count++;
            skip_space(reader);
        } while (take(reader, ','));
        if (!take(reader, close))
            return refuse(reader, map ? "\",\" or \"}\"" : "\",\" or \"]\"");
    }
    put_header(reader->out, start, map ? pack_map : pack_array, count);
    return true;
}

static bool read_container(struct reader *reader, bool map)
{
    bool done;

    if (reader->depth == JSON_READ_DEPTH)
        return refuse(reader, "less nesting");
    reader->depth++;
    done = read_members(reader, map);
    reader->depth--;
    return done;
}

static bool read_word(struct reader *reader)
{
    uint8_t byte, *end;

    if (take_word(reader, "null"))
        end = pack_nil(&byte);
    else if (take_word(reader, "true"))
        end = pack_bool(&byte, true);
    else if (take_word(reader, "false"))
        end = pack_bool(&byte, false);
    else
        return read_number(reader);
    buffer_put(reader->out, &byte, (size_t)(end - &byte));
    return true;
}

static bool read_value(struct reader *reader)
{
    skip_space(reader);
    if (take_word(reader, "{\"$bin\":\""))
        return read_binary(reader);
    if (take(reader, '{'))
        return read_container(reader, true);
    if (take(reader, '['))
        return read_container(reader, false);
    if (take(reader, '"'))
        return read_string(reader);
    return read_word(reader);
}

bool json_read(struct buffer *out, const char *text, size_t size,
               size_t *column, struct error *error)
{
    struct reader reader = {.out = out,
                            .text = text,
                            .at = text,
                            .end = text + size,
                            .error = error};
    bool done = read_value(&reader);

    if (done) {
        skip_space(&reader);
        done = reader.at == reader.end || refuse(&reader, "the end");
    }
    *column = (size_t)(reader.at - text) + 1;
    return done;
}

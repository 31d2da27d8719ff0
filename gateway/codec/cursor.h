/*
 * cursor - read msgpack in place
 *
 * Two phases, after msgpuck: cursor_check validates one value against the bytes
 * present (sizes, nesting, no claim believed), then the read functions, which
 * may be used on checked bytes only and cannot fail.  Nothing is allocated.
 * Format: https://github.com/msgpack/msgpack/blob/master/spec.md
 */
#ifndef CODEC_CURSOR_H
#define CODEC_CURSOR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { CURSOR_DEPTH = 512 }; /* containers inside containers */

enum cursor_kind {
    CURSOR_NIL = 0,
    CURSOR_BOOL,
    CURSOR_UINT,
    CURSOR_INT, /* a signed form; may hold a value >= 0 */
    CURSOR_FLOAT32,
    CURSOR_FLOAT64,
    CURSOR_STR,
    CURSOR_BIN,
    CURSOR_ARRAY,
    CURSOR_MAP,
    CURSOR_EXT,
    CURSOR_INVALID, /* 0xc1 */
};

/*
 * Validate the value at `at`: returns the first byte behind it, or NULL when
 * the bytes up to `end` do not hold one whole value (truncated, 0xc1, nested
 * deeper than CURSOR_DEPTH).
 */
const uint8_t *cursor_check(const uint8_t *at, const uint8_t *end);

/* The same for a value that lies inside `inside` containers already. */
const uint8_t *cursor_check_inside(const uint8_t *at, const uint8_t *end,
                                   unsigned inside);

/* What the first byte of a value says of it. */
struct cursor_form {
    uint8_t kind;  /* enum cursor_kind */
    uint8_t size;  /* bytes of the value; 0: more must be read to tell */
    uint8_t width; /* bytes of the size or count that follows, or 0 */
    uint8_t head;  /* bytes in front of its payload or members */
};

extern const struct cursor_form cursor_forms[256]; /* by the first byte */

/* ---- on checked bytes ---- */

static inline enum cursor_kind cursor_kind(const uint8_t *at)
{
    return (enum cursor_kind)cursor_forms[*at].kind;
}

const char *cursor_kind_name(enum cursor_kind kind); /* "string", "array", … */

const uint8_t *cursor_skip_long(const uint8_t *at);

/* The first byte behind the value. */
static inline const uint8_t *cursor_skip(const uint8_t *at)
{
    uint8_t size = cursor_forms[*at].size;

    return size != 0 ? at + size : cursor_skip_long(at);
}

/* Enter an array or map: its count of members (pairs), `at` moved behind the
 * header.  The value must be one. */
uint32_t cursor_enter(const uint8_t **at);

const uint8_t *cursor_bytes_long(const uint8_t *at, uint32_t *size);

/* A str, bin or ext payload; `size` in bytes.  Must be one. */
static inline const uint8_t *cursor_bytes(const uint8_t *at, uint32_t *size)
{
    struct cursor_form form = cursor_forms[*at];

    if (form.size == 0)
        return cursor_bytes_long(at, size);
    *size = (uint32_t)form.size - form.head;
    return at + form.head;
}

/* A header that may be cut: like cursor_enter for one array or map header that
 * lies whole before `end`; false otherwise. */
bool cursor_open(const uint8_t **at, const uint8_t *end, enum cursor_kind kind,
                 uint32_t *count);

/* An integer of any width: false if it isn't one, or is out of range. */
bool cursor_u64(const uint8_t *at, uint64_t *value);
bool cursor_i64(const uint8_t *at, int64_t *value);

/* A float32 or float64. */
double cursor_double(const uint8_t *at);

/* True if it is a str that holds exactly these bytes. */
bool cursor_is_text(const uint8_t *at, const char *text, size_t size);

#endif

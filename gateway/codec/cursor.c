#include "codec/cursor.h"

#include <string.h>

/* clang-format off */
#define FIVE(...)    __VA_ARGS__, __VA_ARGS__, __VA_ARGS__, __VA_ARGS__, __VA_ARGS__
#define FIFTEEN(...) FIVE(__VA_ARGS__), FIVE(__VA_ARGS__), FIVE(__VA_ARGS__)
#define ROW(...)     __VA_ARGS__, FIFTEEN(__VA_ARGS__)
#define STR(size)    {CURSOR_STR, 1 + (size), 0, 1}

/* kind, size, width, head */
const struct cursor_form cursor_forms[256] = {
    /* 0x00: the integer itself */
    ROW({CURSOR_UINT, 1, 0, 1}), ROW({CURSOR_UINT, 1, 0, 1}),
    ROW({CURSOR_UINT, 1, 0, 1}), ROW({CURSOR_UINT, 1, 0, 1}),
    ROW({CURSOR_UINT, 1, 0, 1}), ROW({CURSOR_UINT, 1, 0, 1}),
    ROW({CURSOR_UINT, 1, 0, 1}), ROW({CURSOR_UINT, 1, 0, 1}),
    /* 0x80: a map, its count in the low bits */
    {CURSOR_MAP, 1, 0, 1}, FIFTEEN({CURSOR_MAP, 0, 0, 1}),
    /* 0x90: an array */
    {CURSOR_ARRAY, 1, 0, 1}, FIFTEEN({CURSOR_ARRAY, 0, 0, 1}),
    /* 0xa0: a str */
    STR(0), STR(1), STR(2), STR(3), STR(4), STR(5), STR(6), STR(7), STR(8),
    STR(9), STR(10), STR(11), STR(12), STR(13), STR(14), STR(15), STR(16),
    STR(17), STR(18), STR(19), STR(20), STR(21), STR(22), STR(23), STR(24),
    STR(25), STR(26), STR(27), STR(28), STR(29), STR(30), STR(31),
    /* 0xc0: everything else */
    {CURSOR_NIL, 1, 0, 1}, {CURSOR_INVALID, 0, 0, 1}, {CURSOR_BOOL, 1, 0, 1},
    {CURSOR_BOOL, 1, 0, 1}, {CURSOR_BIN, 0, 1, 2}, {CURSOR_BIN, 0, 2, 3},
    {CURSOR_BIN, 0, 4, 5}, {CURSOR_EXT, 0, 1, 3}, {CURSOR_EXT, 0, 2, 4},
    {CURSOR_EXT, 0, 4, 6}, {CURSOR_FLOAT32, 5, 0, 1},
    {CURSOR_FLOAT64, 9, 0, 1}, {CURSOR_UINT, 2, 0, 1}, {CURSOR_UINT, 3, 0, 1},
    {CURSOR_UINT, 5, 0, 1}, {CURSOR_UINT, 9, 0, 1}, {CURSOR_INT, 2, 0, 1},
    {CURSOR_INT, 3, 0, 1}, {CURSOR_INT, 5, 0, 1}, {CURSOR_INT, 9, 0, 1},
    {CURSOR_EXT, 3, 0, 2}, {CURSOR_EXT, 4, 0, 2}, {CURSOR_EXT, 6, 0, 2},
    {CURSOR_EXT, 10, 0, 2}, {CURSOR_EXT, 18, 0, 2}, {CURSOR_STR, 0, 1, 2},
    {CURSOR_STR, 0, 2, 3}, {CURSOR_STR, 0, 4, 5}, {CURSOR_ARRAY, 0, 2, 3},
    {CURSOR_ARRAY, 0, 4, 5}, {CURSOR_MAP, 0, 2, 3}, {CURSOR_MAP, 0, 4, 5},
    /* 0xe0: the negative integer itself */
    ROW({CURSOR_INT, 1, 0, 1}), ROW({CURSOR_INT, 1, 0, 1}),
};
/* clang-format on */

#undef FIVE
#undef FIFTEEN
#undef ROW
#undef STR

const char *cursor_kind_name(enum cursor_kind kind)
{
    static const char *const names[] = {
        [CURSOR_NIL] = "nil",       [CURSOR_BOOL] = "boolean",
        [CURSOR_UINT] = "integer",  [CURSOR_INT] = "integer",
        [CURSOR_FLOAT32] = "float", [CURSOR_FLOAT64] = "float",
        [CURSOR_STR] = "string",    [CURSOR_BIN] = "binary",
        [CURSOR_ARRAY] = "array",   [CURSOR_MAP] = "map",
        [CURSOR_EXT] = "extension", [CURSOR_INVALID] = "invalid",
    };

    return names[kind];
}

/* `width` is 1, 2, 4 or 8. */
static uint64_t big_endian(const uint8_t *at, unsigned width)
{
    uint64_t eight;
    uint32_t four;
    uint16_t two;

    switch (width) {
    case 1:
        return *at;
    case 2:
        memcpy(&two, at, sizeof two);
        return __builtin_bswap16(two);
    case 4:
        memcpy(&four, at, sizeof four);
        return __builtin_bswap32(four);
    default:
        memcpy(&eight, at, sizeof eight);
        return __builtin_bswap64(eight);
    }
}

static struct cursor_form form_of(const uint8_t *at)
{
    return cursor_forms[*at];
}

static bool is_container(struct cursor_form form)
{
    return form.kind == CURSOR_ARRAY || form.kind == CURSOR_MAP;
}

uint32_t cursor_enter(const uint8_t **at)
{
    struct cursor_form form = form_of(*at);
    uint32_t count = **at & 0x0f; /* of the forms without a size field */

    if (form.width != 0)
        count = (uint32_t)big_endian(*at + 1, form.width);
    *at += form.head;
    return count;
}

bool cursor_open(const uint8_t **at, const uint8_t *end, enum cursor_kind kind,
                 uint32_t *count)
{
    struct cursor_form form;

    if (*at == end)
        return false;
    form = form_of(*at);
    if (form.kind != kind || !is_container(form) || end - *at < form.head)
        return false;
    *count = cursor_enter(at);
    return true;
}

/* Behind a value with a size field; NULL if it is cut or no value at all. */
static const uint8_t *behind_sized(const uint8_t *at, const uint8_t *end)
{
    struct cursor_form form = form_of(at);
    size_t left = (size_t)(end - at);
    uint32_t size;

    if (form.kind == CURSOR_INVALID || left < form.head)
        return NULL;
    size = (uint32_t)big_endian(at + 1, form.width);
    return size <= left - form.head ? at + form.head + size : NULL;
}

/* Values that the container at `at` holds, `at` moved behind its header; false
 * when its header is cut or claims more than can follow. */
static bool enter_checked(const uint8_t **at, const uint8_t *end,
                          uint64_t *members)
{
    struct cursor_form form = form_of(*at);
    uint32_t count;

    if (!cursor_open(at, end, form.kind, &count))
        return false;
    *members = form.kind == CURSOR_MAP ? 2 * (uint64_t)count : count;
    return *members <= (uint64_t)(end - *at);
}

const uint8_t *cursor_check_inside(const uint8_t *at, const uint8_t *end,
                                   unsigned inside)
{
    uint64_t outer[CURSOR_DEPTH]; /* members still to come, level by level */
    unsigned depth = inside;
    uint64_t left = 1;

    for (;;) {
        const struct cursor_form *form;
        uint64_t members;

        while (left == 0) {
            if (depth == inside)
                return at;
            left = outer[--depth];
        }
        left--;
        if (at == end)
            return NULL;
        form = &cursor_forms[*at];
        if (form->size != 0) {
            if (form->size > end - at)
                return NULL;
            at += form->size;
            continue;
        }
        if (!is_container(*form)) {
            at = behind_sized(at, end);
            if (at == NULL)
                return NULL;
            continue;
        }
        if (!enter_checked(&at, end, &members))
            return NULL;
        if (members == 0)
            continue;
        if (depth == CURSOR_DEPTH)
            return NULL;
        outer[depth++] = left;
        left = members;
    }
}

const uint8_t *cursor_check(const uint8_t *at, const uint8_t *end)
{
    return cursor_check_inside(at, end, 0);
}

/* Checked bytes need no stack: only how many values are still to come. */
const uint8_t *cursor_skip_long(const uint8_t *at)
{
    uint64_t left = 1;

    do {
        struct cursor_form form = form_of(at);

        left--;
        if (form.size != 0) {
            at += form.size;
        } else if (is_container(form)) {
            uint64_t count = cursor_enter(&at);

            left += form.kind == CURSOR_MAP ? 2 * count : count;
        } else {
            at += form.head + big_endian(at + 1, form.width);
        }
    } while (left != 0);
    return at;
}

/* Those whose size is a field. */
const uint8_t *cursor_bytes_long(const uint8_t *at, uint32_t *size)
{
    struct cursor_form form = form_of(at);

    *size = (uint32_t)big_endian(at + 1, form.width);
    return at + form.head;
}

static uint64_t unsigned_value(const uint8_t *at)
{
    unsigned width = form_of(at).size - 1u;

    return width == 0 ? *at : big_endian(at + 1, width);
}

static int64_t signed_value(const uint8_t *at)
{
    unsigned width = form_of(at).size - 1u;
    uint64_t sign;

    if (width == 0)
        return (int8_t)*at;
    sign = UINT64_C(1) << (8 * width - 1);
    return (int64_t)((big_endian(at + 1, width) ^ sign) - sign);
}

bool cursor_u64(const uint8_t *at, uint64_t *value)
{
    enum cursor_kind kind = cursor_kind(at);

    if (kind == CURSOR_UINT) {
        *value = unsigned_value(at);
        return true;
    }
    if (kind != CURSOR_INT || signed_value(at) < 0)
        return false;
    *value = (uint64_t)signed_value(at);
    return true;
}

bool cursor_i64(const uint8_t *at, int64_t *value)
{
    enum cursor_kind kind = cursor_kind(at);

    if (kind == CURSOR_INT) {
        *value = signed_value(at);
        return true;
    }
    if (kind != CURSOR_UINT || unsigned_value(at) > INT64_MAX)
        return false;
    *value = (int64_t)unsigned_value(at);
    return true;
}

double cursor_double(const uint8_t *at)
{
    uint64_t bits = big_endian(at + 1, form_of(at).size - 1u);
    uint32_t half = (uint32_t)bits;
    double value;
    float single;

    if (*at == 0xca) {
        memcpy(&single, &half, sizeof single);
        return (double)single;
    }
    memcpy(&value, &bits, sizeof value);
    return value;
}

bool cursor_is_text(const uint8_t *at, const char *text, size_t size)
{
    uint32_t length;
    const uint8_t *bytes;

    if (cursor_kind(at) != CURSOR_STR)
        return false;
    bytes = cursor_bytes(at, &length);
    return length == size && memcmp(bytes, text, size) == 0;
}

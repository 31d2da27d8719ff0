#include "codec/cursor.h"

#include <string.h>

#define ROW(n) n, n, n, n, n, n, n, n, n, n, n, n, n, n, n, n

const uint8_t cursor_sizes[256] = {
    /* 0x00 */ ROW(1),
    ROW(1),
    ROW(1),
    ROW(1),
    /* 0x40 */ ROW(1),
    ROW(1),
    ROW(1),
    ROW(1),
    /* 0x80 */ 1,
    0,
    0,
    0,
    0,
    0,
    0,
    0,
    0,
    0,
    0,
    0,
    0,
    0,
    0,
    0,
    /* 0x90 */ 1,
    0,
    0,
    0,
    0,
    0,
    0,
    0,
    0,
    0,
    0,
    0,
    0,
    0,
    0,
    0,
    /* 0xa0 */ 1,
    2,
    3,
    4,
    5,
    6,
    7,
    8,
    9,
    10,
    11,
    12,
    13,
    14,
    15,
    16,
    /* 0xb0 */ 17,
    18,
    19,
    20,
    21,
    22,
    23,
    24,
    25,
    26,
    27,
    28,
    29,
    30,
    31,
    32,
    /* 0xc0 */ 1,
    0,
    1,
    1,
    0,
    0,
    0,
    0,
    0,
    0,
    5,
    9,
    2,
    3,
    5,
    9,
    /* 0xd0 */ 2,
    3,
    5,
    9,
    3,
    4,
    6,
    10,
    18,
    0,
    0,
    0,
    0,
    0,
    0,
    0,
    /* 0xe0 */ ROW(1),
    ROW(1)};

#undef ROW

/* The forms 0xc0 to 0xdf; for those with a size field, its width in bytes. */
static const struct form {
    uint8_t kind;
    uint8_t width;
} forms[32] = {
    {CURSOR_NIL, 0},  {CURSOR_INVALID, 0}, {CURSOR_BOOL, 0},
    {CURSOR_BOOL, 0}, {CURSOR_BIN, 1},     {CURSOR_BIN, 2},
    {CURSOR_BIN, 4},  {CURSOR_EXT, 1},     {CURSOR_EXT, 2},
    {CURSOR_EXT, 4},  {CURSOR_FLOAT32, 0}, {CURSOR_FLOAT64, 0},
    {CURSOR_UINT, 0}, {CURSOR_UINT, 0},    {CURSOR_UINT, 0},
    {CURSOR_UINT, 0}, {CURSOR_INT, 0},     {CURSOR_INT, 0},
    {CURSOR_INT, 0},  {CURSOR_INT, 0},     {CURSOR_EXT, 0},
    {CURSOR_EXT, 0},  {CURSOR_EXT, 0},     {CURSOR_EXT, 0},
    {CURSOR_EXT, 0},  {CURSOR_STR, 1},     {CURSOR_STR, 2},
    {CURSOR_STR, 4},  {CURSOR_ARRAY, 2},   {CURSOR_ARRAY, 4},
    {CURSOR_MAP, 2},  {CURSOR_MAP, 4},
};

static bool is_fixed(uint8_t tag)
{
    return tag < 0xc0 || tag >= 0xe0;
}

static struct form form_of(uint8_t tag)
{
    if (tag < 0x80)
        return (struct form){CURSOR_UINT, 0};
    if (tag < 0x90)
        return (struct form){CURSOR_MAP, 0};
    if (tag < 0xa0)
        return (struct form){CURSOR_ARRAY, 0};
    if (tag < 0xc0)
        return (struct form){CURSOR_STR, 0};
    if (tag >= 0xe0)
        return (struct form){CURSOR_INT, 0};
    return forms[tag & 0x1f];
}

enum cursor_kind cursor_kind(const uint8_t *at)
{
    return form_of(*at).kind;
}

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

static uint64_t big_endian(const uint8_t *at, unsigned width)
{
    uint64_t value = 0;

    for (unsigned i = 0; i < width; i++)
        value = value << 8 | at[i];
    return value;
}

/* The size field of a sized form, which lies whole before the end. */
static uint32_t size_field(const uint8_t *at, struct form form)
{
    return (uint32_t)big_endian(at + 1, form.width);
}

/* The low bits of a fixed form that count its members. */
static uint32_t fixed_count(uint8_t tag)
{
    return tag & 0x0f;
}

static bool is_container(struct form form)
{
    return form.kind == CURSOR_ARRAY || form.kind == CURSOR_MAP;
}

bool cursor_open(const uint8_t **at, const uint8_t *end, enum cursor_kind kind,
                 uint32_t *count)
{
    struct form form;

    if (*at == end)
        return false;
    form = form_of(**at);
    if (form.kind != kind || !is_container(form) || end - *at <= form.width)
        return false;
    *count = cursor_enter(at);
    return true;
}

uint32_t cursor_enter(const uint8_t **at)
{
    struct form form = form_of(**at);
    uint32_t count =
        form.width == 0 ? fixed_count(**at) : size_field(*at, form);

    *at += 1 + form.width;
    return count;
}

/* Behind the value at `at`, which is no container; NULL if it is cut or no
 * value at all. */
static const uint8_t *behind_plain(const uint8_t *at, const uint8_t *end,
                                   struct form form)
{
    size_t head = 1u + form.width + (form.kind == CURSOR_EXT);
    size_t left = (size_t)(end - at);

    if (form.kind == CURSOR_INVALID)
        return NULL;
    if (form.width == 0)
        return cursor_sizes[*at] <= left ? at + cursor_sizes[*at] : NULL;
    if (left < head || left - head < size_field(at, form))
        return NULL;
    return at + head + size_field(at, form);
}

/* Values that the container at `at` holds, `at` moved behind its header; false
 * when its header is cut or claims more than can follow. */
static bool enter_checked(const uint8_t **at, const uint8_t *end,
                          struct form form, uint64_t *members)
{
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
        struct form form;
        uint64_t members;

        while (left == 0) {
            if (depth == inside)
                return at;
            left = outer[--depth];
        }
        left--;
        if (at == end)
            return NULL;
        form = form_of(*at);
        if (!is_container(form)) {
            at = behind_plain(at, end, form);
            if (at == NULL)
                return NULL;
            continue;
        }
        if (!enter_checked(&at, end, form, &members))
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
const uint8_t *cursor_skip(const uint8_t *at)
{
    uint64_t left = 1;

    do {
        struct form form;
        size_t size = cursor_sizes[*at];

        left--;
        if (size != 0) {
            at += size;
            continue;
        }
        form = form_of(*at);
        if (is_container(form)) {
            uint64_t count = cursor_enter(&at);

            left += form.kind == CURSOR_MAP ? 2 * count : count;
        } else {
            at += 1u + form.width + (form.kind == CURSOR_EXT) +
                  size_field(at, form);
        }
    } while (left != 0);
    return at;
}

const uint8_t *cursor_bytes(const uint8_t *at, uint32_t *size)
{
    struct form form = form_of(*at);
    unsigned type = form.kind == CURSOR_EXT;

    if (form.width != 0)
        *size = size_field(at, form);
    else
        *size = cursor_sizes[*at] - 1u - type;
    return at + 1 + form.width + type;
}

static bool is_unsigned(uint8_t tag)
{
    return tag < 0x80 || (tag >= 0xcc && tag <= 0xcf);
}

static bool is_signed(uint8_t tag)
{
    return tag >= 0xe0 || (tag >= 0xd0 && tag <= 0xd3);
}

static uint64_t unsigned_value(const uint8_t *at)
{
    return is_fixed(*at) ? *at : big_endian(at + 1, cursor_sizes[*at] - 1u);
}

static int64_t signed_value(const uint8_t *at)
{
    unsigned width = cursor_sizes[*at] - 1u;
    uint64_t sign;

    if (is_fixed(*at))
        return (int8_t)*at;
    sign = UINT64_C(1) << (8 * width - 1);
    return (int64_t)((big_endian(at + 1, width) ^ sign) - sign);
}

bool cursor_u64(const uint8_t *at, uint64_t *value)
{
    if (is_unsigned(*at)) {
        *value = unsigned_value(at);
        return true;
    }
    if (!is_signed(*at) || signed_value(at) < 0)
        return false;
    *value = (uint64_t)signed_value(at);
    return true;
}

bool cursor_i64(const uint8_t *at, int64_t *value)
{
    if (is_signed(*at)) {
        *value = signed_value(at);
        return true;
    }
    if (!is_unsigned(*at) || unsigned_value(at) > INT64_MAX)
        return false;
    *value = (int64_t)unsigned_value(at);
    return true;
}

double cursor_double(const uint8_t *at)
{
    uint64_t bits = big_endian(at + 1, cursor_sizes[*at] - 1u);
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

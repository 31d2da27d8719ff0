#include "script/digest.h"

#include "codec/cursor.h"
#include "codec/event.h"

#include <sodium.h>
#include <string.h>

enum { DIGEST_SIZE = crypto_shorthash_siphashx24_BYTES };

_Static_assert((int)DIGEST_KEY == crypto_shorthash_siphashx24_KEYBYTES,
               "a key is one of SipHash's");
_Static_assert((int)DIGEST_HEX == 2 * (int)DIGEST_SIZE, "two digits a byte");

static void make_key(uint8_t key[DIGEST_KEY], const char *secret, size_t size)
{
    crypto_generichash(key, DIGEST_KEY, (const uint8_t *)secret, size, NULL, 0);
}

static void hex(const uint8_t *key, const char *bytes, size_t size,
                char out[DIGEST_HEX])
{
    static const char digits[] = "0123456789abcdef";
    uint8_t digest[DIGEST_SIZE];

    crypto_shorthash_siphashx24(digest, (const uint8_t *)bytes, size, key);
    for (int i = 0; i < DIGEST_SIZE; i++) {
        out[2 * i] = digits[digest[i] >> 4];
        out[2 * i + 1] = digits[digest[i] & 15];
    }
}

/* As hex writes it: the same on every machine. */
static uint64_t big_endian(const uint8_t *bytes)
{
    uint64_t value = 0;

    for (int i = 0; i < 8; i++)
        value = value << 8 | bytes[i];
    return value;
}

static uint64_t of_bytes(const uint8_t *key, const char *bytes, size_t size)
{
    uint8_t digest[DIGEST_SIZE];

    crypto_shorthash_siphashx24(digest, (const uint8_t *)bytes, size, key);
    return big_endian(digest);
}

static uint64_t of_integer(const uint8_t *key, uint64_t value)
{
    uint8_t bytes[8];

    for (int i = 0; i < 8; i++)
        bytes[i] = (uint8_t)(value >> (56 - 8 * i));
    return of_bytes(key, (const char *)bytes, sizeof bytes);
}

static uint64_t integer_at(const uint8_t *at)
{
    int64_t negative;
    uint64_t value;

    if (cursor_u64(at, &value))
        return value;
    return cursor_i64(at, &negative) ? (uint64_t)negative : 0;
}

/* ---- a field's digest ---- */

static uint32_t of_scalar(const uint8_t *key, const uint8_t *at,
                          uint64_t *digest)
{
    const uint8_t *bytes;
    uint32_t size;

    switch (cursor_kind(at)) {
    case CURSOR_STR:
    case CURSOR_BIN:
        bytes = cursor_bytes(at, &size);
        *digest = of_bytes(key, (const char *)bytes, size);
        return DIGEST_DONE;
    case CURSOR_UINT:
    case CURSOR_INT:
        *digest = of_integer(key, integer_at(at));
        return DIGEST_DONE;
    case CURSOR_NIL:
        return DIGEST_NOTHING;
    default:
        return DIGEST_OTHER;
    }
}

static uint32_t of_field(const uint8_t *key, const struct event *event,
                         uint32_t field, const char *name, size_t name_size,
                         uint64_t *digest)
{
    const uint8_t *at =
        event_field(event, (enum field)field, (const uint8_t *)name, name_size);
    uint32_t count;

    if (at == NULL)
        return DIGEST_NOTHING;
    if (cursor_kind(at) != CURSOR_ARRAY)
        return of_scalar(key, at, digest);
    count = cursor_enter(&at);
    if (count != 1)
        return count == 0 ? DIGEST_NOTHING : DIGEST_SEVERAL;
    return of_scalar(key, at, digest);
}

/* ---- in place of the field ---- */

static bool put_text(const uint8_t *key, struct border *border, uint32_t kind,
                     const uint8_t *at)
{
    char digits[DIGEST_HEX];
    uint32_t size;
    const uint8_t *bytes = cursor_bytes(at, &size);

    hex(key, (const char *)bytes, size, digits);
    return border->put_bytes(border, kind, digits, DIGEST_HEX);
}

static bool put_integer(const uint8_t *key, struct border *border,
                        const uint8_t *at)
{
    border->token.kind = TOKEN_UNSIGNED;
    border->token.u64 = of_integer(key, integer_at(at));
    return border->put(border);
}

static uint32_t put_scalar(const uint8_t *key, struct border *border,
                           const uint8_t *at)
{
    bool fits;

    switch (cursor_kind(at)) {
    case CURSOR_STR:
        fits = put_text(key, border, TOKEN_STR, at);
        break;
    case CURSOR_BIN:
        fits = put_text(key, border, TOKEN_BIN, at);
        break;
    case CURSOR_UINT:
    case CURSOR_INT:
        fits = put_integer(key, border, at);
        break;
    case CURSOR_NIL:
        return DIGEST_NOTHING;
    default:
        return DIGEST_OTHER;
    }
    return fits ? DIGEST_DONE : DIGEST_FULL;
}

static uint32_t put_list(const uint8_t *key, struct border *border,
                         const uint8_t *at)
{
    uint32_t count = cursor_enter(&at);

    if (count == 0)
        return DIGEST_NOTHING;
    if (count > DIGEST_LIST)
        return DIGEST_OTHER;
    border->token.kind = TOKEN_ARRAY;
    border->token.size = count;
    if (!border->put(border))
        return DIGEST_FULL;
    for (; count > 0; count--, at = cursor_skip(at)) {
        uint32_t found = put_scalar(key, border, at);

        if (found != DIGEST_DONE)
            return found == DIGEST_FULL ? DIGEST_FULL : DIGEST_OTHER;
    }
    return DIGEST_DONE;
}

static uint32_t replace(const uint8_t *key, struct border *border,
                        struct event *event, uint32_t field, const char *name,
                        size_t name_size)
{
    const uint8_t *at =
        event_field(event, (enum field)field, (const uint8_t *)name, name_size);
    uint32_t found;

    if (at == NULL)
        return DIGEST_NOTHING;
    border->begin(border);
    if (cursor_kind(at) == CURSOR_ARRAY)
        found = put_list(key, border, at);
    else
        found = put_scalar(key, border, at);
    if (found == DIGEST_DONE &&
        !border->assign(border, event, field, name, name_size))
        return DIGEST_FULL;
    return found;
}

const struct digest_border digest_border = {
    .key = make_key,
    .hex = hex,
    .bytes = of_bytes,
    .integer = of_integer,
    .field = of_field,
    .replace = replace,
};

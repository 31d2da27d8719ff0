#include "cli/try_diff.h"

#include "cli/tap_value.h"
#include "codec/cursor.h"

#include <string.h>

bool try_is_same(const uint8_t *a, const uint8_t *b)
{
    size_t size = (size_t)(cursor_skip(a) - a);

    return (size_t)(cursor_skip(b) - b) == size && memcmp(a, b, size) == 0;
}

/* How many fields there are, with `at` moved to the first. */
static uint32_t enter(const uint8_t **at)
{
    return cursor_kind(*at) == CURSOR_MAP ? cursor_enter(at) : 0;
}

static const uint8_t *find(const uint8_t *map, const uint8_t *name)
{
    for (uint32_t left = enter(&map); left > 0; left--) {
        const uint8_t *value = cursor_skip(map);

        if (try_is_same(map, name))
            return value;
        map = cursor_skip(value);
    }
    return NULL;
}

size_t try_diff(const uint8_t *old, const uint8_t *new,
                void (*tell)(void *context, const struct try_change *change),
                void *context)
{
    const uint8_t *maps[] = {old, new};
    size_t count = 0;

    for (int i = 0; i < 2; i++) {
        const uint8_t *at = maps[i];

        for (uint32_t left = enter(&at); left > 0; left--) {
            const uint8_t *value = cursor_skip(at), *other;
            struct try_change change = {.name = at};

            other = find(maps[1 - i], at);
            change.old = i == 0 ? value : NULL;
            change.new = i == 0 ? other : value;
            at = cursor_skip(value);
            /* Of the new event only what the old one has not. */
            if (other != NULL && (i == 1 || try_is_same(value, other)))
                continue;
            count++;
            if (tell != NULL)
                tell(context, &change);
        }
    }
    return count;
}

const uint8_t *try_field(const uint8_t *event, const char *name)
{
    for (uint32_t left = enter(&event); left > 0; left--) {
        const uint8_t *value = cursor_skip(event);

        if (cursor_is_text(event, name, strlen(name)))
            return value;
        event = cursor_skip(value);
    }
    return NULL;
}

void try_write_value(struct json *json, const uint8_t *value)
{
    msgpack_unpacked decoded;
    const char *reason =
        tap_value_decode(&decoded, value, (size_t)(cursor_skip(value) - value));

    if (reason == NULL)
        tap_value_write(json, &decoded.data);
    else
        json_text(json, reason);
    msgpack_unpacked_destroy(&decoded);
}

void try_write_name(struct json *json, const uint8_t *name)
{
    uint32_t size = 0;
    const uint8_t *text = name;

    if (cursor_kind(name) == CURSOR_STR)
        text = cursor_bytes(name, &size);
    json_key_bytes(json, (const char *)text, size);
}

#include "script/keys/key_border.h"

#include "base/error.h"
#include "codec/cursor.h"
#include "codec/event.h"
#include "script/keys/key_digits.h"
#include "script/keys/key_template.h"

#include <stdio.h>

_Static_assert((int)KEY_CAPTURES_MAX == (int)KEY_TEMPLATE_CAPTURES,
               "a match has room for all captures");

static struct key_template *compile(const char *text, size_t size,
                                    char why[KEY_ERROR])
{
    struct error error = {0};
    struct key_template *template = key_template_new(text, size, &error);

    if (template == NULL)
        snprintf(why, KEY_ERROR, "%.*s", KEY_ERROR - 1, error.text);
    return template;
}

static const char *name(const struct key_template *template, uint32_t capture)
{
    if (capture >= key_template_count(template))
        return NULL;
    return key_template_name(template, capture);
}

static const char *kind(const struct key_template *template, uint32_t capture)
{
    if (capture >= key_template_count(template))
        return NULL;
    switch (key_template_kind(template, capture)) {
    case KEY_INT:
        return "int";
    case KEY_HEX:
    case KEY_HEX64:
        return "hex";
    default:
        return "text";
    }
}

static bool match_bytes(struct key_template *template, struct key_match *found,
                        const uint8_t *key, size_t size)
{
    found->key = key;
    return key_template_match(template, key, size, found->captures);
}

static bool match(struct key_template *template, struct key_match *found,
                  const struct event *event, uint32_t field, const char *name,
                  size_t name_size)
{
    const uint8_t *value =
        event_field(event, (enum field)field, (const uint8_t *)name, name_size);
    const uint8_t *key;
    uint32_t size;

    found->number++;
    if (value == NULL ||
        (cursor_kind(value) != CURSOR_STR && cursor_kind(value) != CURSOR_BIN))
        return false;
    key = cursor_bytes(value, &size);
    return match_bytes(template, found, key, size);
}

static bool match_string(struct key_template *template, struct key_match *found,
                         const char *key, size_t size)
{
    found->number++;
    return match_bytes(template, found, (const uint8_t *)key, size);
}

const struct key_border key_border = {
    .compile = compile,
    .free = key_template_free,
    .name = name,
    .kind = kind,
    .match = match,
    .match_string = match_string,
    .low64 = key_low64,
    .high64 = key_high64,
    .decimal = key_decimal,
};

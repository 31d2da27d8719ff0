#include "base/config_judge.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>

void config_mistype(struct config_judge *judge,
                    const struct config_value *value, const char *expected)
{
    if (!value->broken)
        config_mistake(&judge->mistakes, value->mark, "%s: expected %s, got %s",
                       judge->key, expected, config_show_value(value).text);
}

static int find_row(const char *name, const struct config_key *keys,
                    size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (strcmp(name, keys[i].name) == 0)
            return (int)i;
    return -1;
}

/* Tell of a key that no row has.  Returns the row it was meant for, or -1:
 * one misspelt key must not be told again as a missing one. */
static int tell_unknown(struct config_judge *judge,
                        const struct config_value *key, const char *what,
                        const struct config_key *keys, size_t count)
{
    const char *names[CONFIG_KEYS_MAX];
    const char *meant;
    char unknown[64];

    assert(count <= CONFIG_KEYS_MAX);
    for (size_t i = 0; i < count; i++)
        names[i] = keys[i].name;
    snprintf(unknown, sizeof unknown, "key of %s", what);
    config_mistake_unknown(&judge->mistakes, key, unknown, names, count);
    meant = config_nearest(key->string, names, count);
    return meant != NULL ? find_row(meant, keys, count) : -1;
}

/* Read one pair; returns the bit of its row. */
static uint32_t read_pair(struct config_judge *judge,
                          const struct config_value *key, const char *what,
                          const struct config_key *keys, size_t count,
                          void *target)
{
    int row = -1;

    if (key->broken)
        return 0;
    if (key->kind != CONFIG_STRING) {
        config_mistake(&judge->mistakes, key->mark,
                       "%s is no key of %s, expected a string",
                       config_show_value(key).text, what);
        return 0;
    }
    if (strlen(key->string) == key->size)
        row = find_row(key->string, keys, count);
    if (row >= 0) {
        judge->key = keys[row].name;
        keys[row].read(judge, key + 1, (char *)target + keys[row].offset);
    } else {
        row = tell_unknown(judge, key, what, keys, count);
    }
    return row >= 0 ? UINT32_C(1) << row : 0;
}

static void tell_missing(struct config_judge *judge,
                         const struct config_value *map, const char *what,
                         const struct config_key *keys, size_t count,
                         uint32_t seen)
{
    for (size_t i = 0; i < count; i++)
        if (keys[i].required && !(seen & UINT32_C(1) << i))
            config_mistake(&judge->mistakes, map->mark,
                           "%s is missing, expected in %s", keys[i].name, what);
}

uint32_t config_read_map(struct config_judge *judge,
                         const struct config_value *value, const char *what,
                         const struct config_key *keys, size_t count,
                         void *target)
{
    const char *outer = judge->key;
    uint32_t seen = 0;

    if (value->kind != CONFIG_MAP) {
        judge->key = what;
        config_mistype(judge, value, "a map");
        judge->key = outer;
        return 0;
    }
    for (size_t i = 0; i < value->size; i++)
        seen |=
            read_pair(judge, &value->items[2 * i], what, keys, count, target);
    judge->key = outer;
    tell_missing(judge, value, what, keys, count, seen);
    return seen;
}

bool config_is_list(struct config_judge *judge,
                    const struct config_value *value, const char *what,
                    size_t limit)
{
    char expected[64];

    if (value->kind != CONFIG_LIST) {
        snprintf(expected, sizeof expected, "a list of %s", what);
        config_mistype(judge, value, expected);
        return false;
    }
    if (value->size <= limit)
        return true;
    config_mistake(&judge->mistakes, value->mark,
                   "%s: %zu %s, expected at most %zu", judge->key, value->size,
                   what, limit);
    return false;
}

bool config_is_filled_list(struct config_judge *judge,
                           const struct config_value *value, const char *what,
                           size_t limit)
{
    if (!config_is_list(judge, value, what, limit))
        return false;
    if (value->size > 0)
        return true;
    config_mistake(&judge->mistakes, value->mark,
                   "%s: an empty list, expected at least one", judge->key);
    return false;
}

bool config_is_text(struct config_judge *judge,
                    const struct config_value *value, size_t limit)
{
    if (value->kind != CONFIG_STRING || value->broken) {
        config_mistype(judge, value,
                       value->kind <= CONFIG_NULL || value->kind >= CONFIG_LIST
                           ? "a string"
                           : "a string (in quotes)");
        return false;
    }
    if (memchr(value->string, '\0', value->size) != NULL) {
        config_mistake(&judge->mistakes, value->mark,
                       "%s: %s holds a NUL, expected none", judge->key,
                       config_show(value->string, value->size).text);
        return false;
    }
    if (value->size <= limit)
        return true;
    config_mistake(&judge->mistakes, value->mark,
                   "%s: %s is %zu bytes long, expected at most %zu", judge->key,
                   config_show(value->string, value->size).text, value->size,
                   limit);
    return false;
}

int config_read_word(struct config_judge *judge,
                     const struct config_value *value, const char *const *words,
                     size_t count)
{
    if (!config_is_text(judge, value, SIZE_MAX))
        return -1;
    for (size_t i = 0; i < count; i++)
        if (strcmp(value->string, words[i]) == 0)
            return (int)i;
    config_mistake_unknown(&judge->mistakes, value, judge->key, words, count);
    return -1;
}

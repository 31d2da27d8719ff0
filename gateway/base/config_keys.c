#include "base/config_keys.h"
#include "base/config_value.h"
#include "base/memory.h"

#include <stdlib.h>
#include <string.h>

static bool is_key(const struct config_value *value)
{
    return value->kind == CONFIG_STRING || value->kind == CONFIG_INTEGER ||
           value->kind == CONFIG_UINTEGER || value->kind == CONFIG_BOOL;
}

static void check_key(struct config_mistakes *mistakes,
                      struct config_value *key)
{
    if (key->broken)
        return;
    key->broken = true;
    if (!is_key(key))
        config_mistake(mistakes, key->mark,
                       "%s cannot be a key, expected a string",
                       config_show_value(key).text);
    else if (key->kind == CONFIG_STRING && strcmp(key->string, "<<") == 0)
        config_mistake(mistakes, key->mark,
                       "YAML 1.2 has no merge keys (<<), expected the keys "
                       "themselves");
    else
        key->broken = false;
}

static void check_repeated(struct config_value *map,
                           struct config_mistakes *mistakes)
{
    struct config_name *names = memory_new(map->size * sizeof *names);
    size_t count = 0;

    for (size_t i = 0; i < map->size; i++) {
        const struct config_value *key = &map->items[2 * i];

        if (!key->broken)
            names[count++] =
                (struct config_name){.key = key, .mark = key->mark, .index = i};
    }
    config_names_sort(names, count);
    for (size_t i = 0; i < count; i++) {
        struct config_value *key = &map->items[2 * names[i].index];

        if (names[i].first == NULL)
            continue;
        config_mistake(mistakes, key->mark,
                       "key %s again, it is set in line %u already",
                       config_show_value(key).text, names[i].first->mark.line);
        key->broken = true;
    }
    free(names);
}

void config_check_keys(struct config_value *map,
                       struct config_mistakes *mistakes)
{
    for (size_t i = 0; i < map->size; i++)
        check_key(mistakes, &map->items[2 * i]);
    check_repeated(map, mistakes);
}

#include "base/config_value.h"
#include "base/memory.h"

#include <stdlib.h>
#include <string.h>

static size_t members(const struct config_value *value)
{
    if (value->kind == CONFIG_LIST)
        return value->size;
    return value->kind == CONFIG_MAP ? value->size * 2 : 0;
}

void config_value_clear(struct config_value *value)
{
    for (size_t i = 0; i < members(value); i++)
        config_value_clear(&value->items[i]);
    free(value->items);
    free(value->string);
    *value = (struct config_value){.mark = value->mark};
}

void config_value_copy(struct config_value *copy,
                       const struct config_value *value)
{
    size_t count = members(value);

    *copy = *value;
    if (value->kind == CONFIG_STRING)
        copy->string = memory_text(value->string, value->size);
    if (value->items == NULL)
        return;
    copy->items = memory_new(count * sizeof *copy->items);
    for (size_t i = 0; i < count; i++)
        config_value_copy(&copy->items[i], &value->items[i]);
}

bool config_value_is_broken(const struct config_value *value)
{
    for (size_t i = 0; i < members(value); i++)
        if (config_value_is_broken(&value->items[i]))
            return true;
    return value->broken;
}

struct config_mark config_value_mark(const struct config_value *map,
                                     const char *key)
{
    for (size_t i = 0; map->kind == CONFIG_MAP && i < map->size; i++) {
        const struct config_value *pair = &map->items[2 * i];

        if (pair->kind == CONFIG_STRING && strcmp(pair->string, key) == 0)
            return pair[1].mark;
    }
    return map->mark;
}

size_t config_value_weigh(const struct config_value *value, size_t *bytes)
{
    size_t weight = 1;

    if (value->kind == CONFIG_STRING)
        *bytes += value->size;
    for (size_t i = 0; i < members(value); i++)
        weight += config_value_weigh(&value->items[i], bytes);
    return weight;
}

static int compare_size(uint64_t a, uint64_t b)
{
    return a < b ? -1 : a > b;
}

static int compare_keys(const struct config_value *a,
                        const struct config_value *b)
{
    if (a->kind != b->kind)
        return compare_size(a->kind, b->kind);
    if (a->kind == CONFIG_INTEGER)
        return a->integer < b->integer ? -1 : a->integer > b->integer;
    if (a->kind == CONFIG_UINTEGER)
        return compare_size(a->uinteger, b->uinteger);
    if (a->kind == CONFIG_BOOL)
        return compare_size(a->boolean, b->boolean);
    if (a->size != b->size)
        return compare_size(a->size, b->size);
    return a->size == 0 ? 0 : memcmp(a->string, b->string, a->size);
}

static int compare_names(const struct config_name *a,
                         const struct config_name *b)
{
    if (a->key != NULL)
        return compare_keys(a->key, b->key);
    return strcmp(a->text, b->text);
}

static int compare_for_sort(const void *a, const void *b)
{
    const struct config_name *left = a;
    const struct config_name *right = b;
    int order = compare_names(left, right);

    return order != 0 ? order : compare_size(left->index, right->index);
}

void config_names_sort(struct config_name *names, size_t count)
{
    const struct config_name *first = names;

    if (count == 0)
        return;
    qsort(names, count, sizeof *names, compare_for_sort);
    for (size_t i = 1; i < count; i++) {
        if (compare_names(first, &names[i]) == 0)
            names[i].first = first;
        else
            first = &names[i];
    }
}

static int compare_for_search(const void *a, const void *b)
{
    return compare_names(a, b);
}

const struct config_name *config_names_find(const struct config_name *names,
                                            size_t count, const char *text)
{
    struct config_name wanted = {.text = text};

    if (count == 0)
        return NULL;
    return bsearch(&wanted, names, count, sizeof *names, compare_for_search);
}

/*
 * config_value - the tree that a YAML text becomes
 *
 * A value owns what lies under it.  Keys of a map are scalars other than null
 * and fractions, so that each has one place in a Lua table.
 */
#ifndef BASE_CONFIG_VALUE_H
#define BASE_CONFIG_VALUE_H

#include "base/config.h"

/* Free what lies under `value`, which becomes null. */
void config_value_clear(struct config_value *value);

/* A deep copy; the copy's parts keep their marks. */
void config_value_copy(struct config_value *copy,
                       const struct config_value *value);

/* Is a mistake told of it or of what lies under it? */
bool config_value_is_broken(const struct config_value *value);

/* Where the value of `key` stands in a map, or the map itself without it. */
struct config_mark config_value_mark(const struct config_value *map,
                                     const char *key);

/* How many values `value` is made of, itself included, and (added up) the
 * bytes of its strings. */
size_t config_value_weigh(const struct config_value *value, size_t *bytes);

/* ---- finding what is named twice ---- */

struct config_name {
    const struct config_value *key; /* or NULL: `text` is the name */
    const char *text;
    struct config_mark mark;
    size_t index;                    /* in the file's order; the caller's */
    const struct config_name *first; /* NULL, or the same name before it */
};

/* Sort `names` and mark each repetition with the first of its kind. */
void config_names_sort(struct config_name *names, size_t count);

/* The name `text` among sorted names that are texts; NULL: none. */
const struct config_name *config_names_find(const struct config_name *names,
                                            size_t count, const char *text);

#endif

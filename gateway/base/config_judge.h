/*
 * config_judge - from a YAML tree to the structs of config.h
 *
 * A map is judged by a table: one row a key, with the function that reads its
 * value into a field.  A reader that finds a mistake tells it and leaves the
 * field at its default; judging goes on.
 */
#ifndef BASE_CONFIG_JUDGE_H
#define BASE_CONFIG_JUDGE_H

#include "base/config_mistakes.h"
#include "base/config_value.h"

struct config_judge {
    struct config_mistakes mistakes;
    struct config *config;
    const char *key; /* whose value is being read, for messages */
    const struct config_value **feeds; /* per stream: `sources:` as written */
};

struct config_key {
    const char *name;
    void (*read)(struct config_judge *judge, const struct config_value *value,
                 void *field);
    size_t offset; /* of the field in the map's struct */
    bool required;
};

enum { CONFIG_KEYS_MAX = 32 };

/*
 * Read the map `value` into `target` by the table of `count` keys.  `what`
 * names the map in messages: "a source".  Returns a bit for each key that was
 * there; 0, and told, when it is no map.
 */
uint32_t config_read_map(struct config_judge *judge,
                         const struct config_value *value, const char *what,
                         const struct config_key *keys, size_t count,
                         void *target);

/* `value` as a list of at most `limit`; false, and told, when it is none. */
bool config_is_list(struct config_judge *judge,
                    const struct config_value *value, const char *what,
                    size_t limit);

/* The same for one that must not be empty. */
bool config_is_filled_list(struct config_judge *judge,
                           const struct config_value *value, const char *what,
                           size_t limit);

/* "KEY: expected WHAT, got ..." */
void config_mistype(struct config_judge *judge,
                    const struct config_value *value, const char *expected);

/* A string without NUL, at most `limit` bytes; false, and told, when not. */
bool config_is_text(struct config_judge *judge,
                    const struct config_value *value, size_t limit);

/* The index of the string among `words`, or -1, and told. */
int config_read_word(struct config_judge *judge,
                     const struct config_value *value, const char *const *words,
                     size_t count);

/* ---- readers of one value, for the tables ---- */

/* char *: 1 to 128 bytes of printable UTF-8 */
void config_read_name(struct config_judge *judge,
                      const struct config_value *value, void *field);
/* char *: at most 255 bytes, may be empty */
void config_read_topic(struct config_judge *judge,
                       const struct config_value *value, void *field);
/* char *: a path */
void config_read_path(struct config_judge *judge,
                      const struct config_value *value, void *field);
/* bool */
void config_read_bool(struct config_judge *judge,
                      const struct config_value *value, void *field);
/* int: from 1 */
void config_read_hwm(struct config_judge *judge,
                     const struct config_value *value, void *field);
/* uint64_t bytes: from 1MiB to 64GiB */
void config_read_queue(struct config_judge *judge,
                       const struct config_value *value, void *field);
/* uint64_t milliseconds: at least 10 */
void config_read_wait(struct config_judge *judge,
                      const struct config_value *value, void *field);
/* uint64_t milliseconds: 0, or at least 10 */
void config_read_period(struct config_judge *judge,
                        const struct config_value *value, void *field);
/* struct config_socket */
void config_read_connect(struct config_judge *judge,
                         const struct config_value *value, void *field);
void config_read_bind(struct config_judge *judge,
                      const struct config_value *value, void *field);

/* "256MiB" as bytes; negative: it is none. */
double config_size(const struct config_value *value);

/* Replace the text in `field` by a copy of the string `value`. */
void config_take_text(char **field, const struct config_value *value);

/* Tell when the map had both of connect and bind, or neither. */
void config_check_socket(struct config_judge *judge,
                         const struct config_value *map, const char *what,
                         bool connects, bool binds);

#endif

/*
 * config_mistakes - everything that is wrong, told once, in the file's order
 *
 * A mistake says what is wrong and what was expected.  What it quotes comes
 * from the file and is shown escaped and cut.
 */
#ifndef BASE_CONFIG_MISTAKES_H
#define BASE_CONFIG_MISTAKES_H

#include "base/config.h"

enum { CONFIG_MISTAKES_MAX = 1000 }; /* the rest is counted */

struct config_mistake {
    struct config_mark mark;
    size_t order; /* in which it was found */
    char *text;
};

struct config_mistakes {
    struct config_mistake *items;
    size_t count;
    size_t unlisted;
};

void config_mistake(struct config_mistakes *mistakes, struct config_mark mark,
                    const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* `unknown WHAT "word"`, with the nearest of the known words, or all. */
void config_mistake_unknown(struct config_mistakes *mistakes,
                            const struct config_value *word, const char *what,
                            const char *const *known, size_t count);

/* The known word that `word` was probably meant to be; NULL: none is near. */
const char *config_nearest(const char *word, const char *const *known,
                           size_t count);

/* Text for a message: quoted, escaped, cut.  Used within one expression. */
struct config_shown {
    char text[160];
};
struct config_shown config_show(const char *text, size_t size);

/* The same of any value: `the string "x"`, `the number 42`, `a list`. */
struct config_shown config_show_value(const struct config_value *value);

/* Append one line for each mistake. */
void config_mistakes_print(struct config_mistakes *mistakes, const char *path,
                           struct buffer *out);
void config_mistakes_free(struct config_mistakes *mistakes);

#endif

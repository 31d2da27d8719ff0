/*
 * error - one sentence for the person who can mend it
 *
 * Functions that can fail for a reason outside the program take a
 * `struct error *` and return false, NULL or -1.  The first message wins:
 * it is nearest the cause.  A zeroed struct is "no error".
 */
#ifndef BASE_ERROR_H
#define BASE_ERROR_H

#include <stdarg.h>
#include <stdbool.h>

struct error {
    char text[4096]; /* empty: no error; cut with "..." when longer */
};

/* Fill `error` unless it holds a message already. */
void error_set(struct error *error, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* Put "prefix: " in front of what is there. */
void error_prefix(struct error *error, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

bool error_is_set(const struct error *error);

#endif

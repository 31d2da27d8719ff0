/*
 * arguments - a subcommand's options as one table
 *
 * The table says what an option is called, what it takes and where its value
 * goes; reading, checking and --help follow from it.  getopt_long does the
 * splitting, so options and operands may come in any order.
 */
#ifndef CLI_ARGUMENTS_H
#define CLI_ARGUMENTS_H

#include "base/error.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

enum { ARGUMENT_LIST_MAX = 256 };

/* Words of a list "a,b,c".  They lie in argv, cut apart. */
struct argument_list {
    const char *items[ARGUMENT_LIST_MAX];
    size_t count;
};

enum argument_kind {
    ARGUMENT_FLAG = 0, /* bool: becomes true */
    ARGUMENT_TEXT,     /* const char *, borrowed from argv */
    ARGUMENT_NUMBER,   /* uint64_t from `least` to `most` */
    ARGUMENT_LIST,     /* struct argument_list, no empty words */
    ARGUMENT_OTHER     /* what `read` makes of it; it gets the whole target */
};

struct argument {
    const char *name;  /* without the dashes; NULL ends the table */
    const char *value; /* how --help calls its value; NULL for a flag */
    const char *help;
    enum argument_kind kind;
    size_t offset; /* into the target, where the value goes */
    uint64_t least, most;
    bool (*read)(void *target, char *text, struct error *error);
};

/*
 * Read all options into `target`.  Returns the index of the first operand in
 * `argv`, which has them moved to its end; -1 and `error` when one is wrong.
 */
int arguments_read(int argc, char **argv, const struct argument *table,
                   void *target, struct error *error);

/* One line an option. */
void arguments_help(FILE *out, const struct argument *table);

/* A whole decimal number of the range.  `error` says what was expected. */
bool argument_number(const char *text, uint64_t least, uint64_t most,
                     uint64_t *value, struct error *error);

/* Cut `text` at its commas. */
bool argument_list(char *text, struct argument_list *list, struct error *error);

#endif

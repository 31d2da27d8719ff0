/*
 * usage - how the program is called, and what its exit codes mean
 */
#ifndef CLI_USAGE_H
#define CLI_USAGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

enum usage_exit {
    EXIT_FINE = 0,
    EXIT_FAILED = 1, /* at the start or later: a busy address, for one */
    EXIT_USAGE = 2,
    EXIT_CONFIG = 3, /* the configuration or a script is wrong */
    EXIT_STUCK = 70, /* a script did not come back */
};

struct usage_command {
    const char *name;
    const char *arguments;
    const char *about;
    int (*run)(int argc, char **argv); /* argv[0] is the command */
    void (*help)(void); /* NULL: `arguments` and `about` are all there is */
};

/* Closed by an entry without a name. */
void usage_print(FILE *file, const struct usage_command *commands);

/* What `kvgate COMMAND --help` says. */
void usage_print_command(const struct usage_command *command);

/* Is the path of a file that is called so: usage_has_ending(path, ".lua")? */
bool usage_has_ending(const char *path, const char *ending);

/* The one CONFIG that run and check take; NULL after saying what is wrong. */
const char *usage_config(int argc, char **argv);

#endif

#include "cli/usage.h"

#include <string.h>

enum { NAME_MAX_SIZE = 31, DISTANCE_MAX = 2 };

void usage_print(FILE *file, const struct usage_command *commands)
{
    fprintf(file, "kvgate " KVGATE_VERSION
                  ": a Lua-scriptable gateway for KV-cache events\n\n");
    for (const struct usage_command *at = commands; at->name != NULL; at++)
        fprintf(file, "  kvgate %-6s %-22s %s\n", at->name, at->arguments,
                at->about);
    fprintf(file, "\nExit codes: 0 fine; 1 it failed at the start or later "
                  "(a busy address, for one);\n2 wrong usage; 3 the "
                  "configuration or a script is wrong.\n");
}

static size_t least(size_t a, size_t b, size_t c)
{
    size_t ab = a < b ? a : b;

    return ab < c ? ab : c;
}

/* Letters to add, take away or change to make `b` of `a`. */
static size_t edit_distance(const char *a, const char *b)
{
    size_t row[NAME_MAX_SIZE + 1];
    size_t columns = strlen(b);

    for (size_t j = 0; j <= columns; j++)
        row[j] = j;
    for (size_t i = 1; a[i - 1] != '\0'; i++) {
        size_t diagonal = row[0];

        row[0] = i;
        for (size_t j = 1; j <= columns; j++) {
            size_t above = row[j];
            size_t change = diagonal + (a[i - 1] != b[j - 1]);

            row[j] = least(above + 1, row[j - 1] + 1, change);
            diagonal = above;
        }
    }
    return row[columns];
}

const char *usage_nearest(const struct usage_command *commands,
                          const char *name)
{
    const char *nearest = NULL;
    size_t best = DISTANCE_MAX + 1;

    if (strlen(name) > NAME_MAX_SIZE)
        return NULL;
    for (const struct usage_command *at = commands; at->name != NULL; at++) {
        size_t distance = edit_distance(at->name, name);

        /* A word that shares no letter is no misspelling. */
        if (distance < best && distance < strlen(name)) {
            best = distance;
            nearest = at->name;
        }
    }
    return nearest;
}

const char *usage_config(int argc, char **argv)
{
    if (argc == 2 && argv[1][0] != '-')
        return argv[1];
    fprintf(stderr, "usage: kvgate %s CONFIG\n", argv[0]);
    return NULL;
}

#include "cli/usage.h"

#include <string.h>

enum { NAME_MAX_SIZE = 31, DISTANCE_MAX = 2 };

void usage_print(FILE *file, const struct usage_command *commands)
{
    fprintf(file, "kvgate " KVGATE_VERSION
                  ": a Lua-scriptable gateway for KV-cache events\n\n");
    for (const struct usage_command *at = commands; at->name != NULL; at++)
        fprintf(file, "  kvgate %-9s %-20s %s\n", at->name, at->arguments,
                at->about);
    fprintf(file, "\nExit codes: 0 fine; 1 it failed at the start or later "
                  "(a busy address, for one);\n2 wrong usage; 3 the "
                  "configuration or a script is wrong; 70 a script did not "
                  "come back,\nand nothing stopped it.\n");
}

void usage_print_command(const struct usage_command *command)
{
    if (command->help != NULL)
        command->help();
    else
        printf("usage: kvgate %s %s\n\n%s\n", command->name, command->arguments,
               command->about);
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

void usage_offer(struct usage_guess *guess, const char *name)
{
    size_t limit = guess->nearest != NULL ? guess->distance : DISTANCE_MAX + 1;
    size_t length = strlen(guess->word);
    size_t distance;

    if (length > NAME_MAX_SIZE)
        return;
    distance = edit_distance(name, guess->word);
    /* A word that shares no letter is no misspelling. */
    if (distance >= limit || distance >= length)
        return;
    guess->distance = distance;
    guess->nearest = name;
}

const char *usage_config(int argc, char **argv)
{
    if (argc == 2 && argv[1][0] != '-')
        return argv[1];
    fprintf(stderr, "usage: kvgate %s CONFIG\n", argv[0]);
    return NULL;
}

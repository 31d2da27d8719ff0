#include "cli/arguments.h"

#include "base/nearest.h"

#include <errno.h>
#include <getopt.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum { OPTIONS_MAX = 64, HELP_COLUMN = 28 };

static size_t fill_options(const struct argument *table, struct option *options)
{
    size_t count = 0;

    for (; table[count].name != NULL && count < OPTIONS_MAX; count++)
        options[count] = (struct option){
            .name = table[count].name,
            .has_arg =
                table[count].value != NULL ? required_argument : no_argument,
        };
    options[count] = (struct option){0};
    return count;
}

bool argument_number(const char *text, uint64_t least, uint64_t most,
                     uint64_t *value, struct error *error)
{
    char *end;

    errno = 0;
    *value = strtoull(text, &end, 10);
    if (errno == 0 && text[0] >= '0' && text[0] <= '9' && *end == '\0' &&
        *value >= least && *value <= most)
        return true;
    if (most == UINT64_MAX)
        error_set(error, "\"%s\" is not a whole number of at least %" PRIu64,
                  text, least);
    else
        error_set(error,
                  "\"%s\" is not a whole number from %" PRIu64 " to %" PRIu64,
                  text, least, most);
    return false;
}

bool argument_list(char *text, struct argument_list *list, struct error *error)
{
    char *word;

    list->count = 0;
    while ((word = strsep(&text, ",")) != NULL) {
        if (*word == '\0') {
            error_set(error, "a word of the list is empty");
            return false;
        }
        if (list->count == ARGUMENT_LIST_MAX) {
            error_set(error, "more than %d words", ARGUMENT_LIST_MAX);
            return false;
        }
        list->items[list->count++] = word;
    }
    return true;
}

static bool read_value(const struct argument *argument, void *target,
                       char *text, struct error *error)
{
    void *place = (char *)target + argument->offset;

    switch (argument->kind) {
    case ARGUMENT_FLAG:
        *(bool *)place = true;
        return true;
    case ARGUMENT_TEXT:
        *(const char **)place = text;
        return true;
    case ARGUMENT_NUMBER:
        return argument_number(text, argument->least, argument->most, place,
                               error);
    case ARGUMENT_LIST:
        return argument_list(text, place, error);
    case ARGUMENT_OTHER:
        return argument->read(target, text, error);
    }
    return false;
}

/* `word` is the option as it was given, perhaps with its "=value". */
static void refuse_unknown(struct error *error, const struct argument *table,
                           const char *word)
{
    int length = (int)strcspn(word, "=");
    char name[64] = "";
    struct nearest guess = {.word = name};

    if (strncmp(word, "--", 2) == 0)
        snprintf(name, sizeof name, "%.*s", length - 2, word + 2);
    for (; table->name != NULL; table++)
        nearest_offer(&guess, table->name);
    if (guess.known != NULL && guess.distance == 0)
        error_set(error, "option --%s takes no value", guess.known);
    else if (guess.known != NULL)
        error_set(error, "unknown option %.*s, did you mean --%s?", length,
                  word, guess.known);
    else
        error_set(error, "unknown option %.*s", length, word);
}

/* getopt says '?' for what it does not know, ':' for a value that lacks; its
 * place in `argv` says nothing about a short option. */
static void set_refusal(struct error *error, const struct argument *table,
                        int answer, char *const *argv)
{
    char letter[] = {'-', (char)optopt, '\0'};
    const char *word = optopt != 0 ? letter : argv[optind - 1];

    if (answer == ':')
        error_set(error, "option %s needs a value", word);
    else
        refuse_unknown(error, table, word);
}

/* getopt takes --b for --bind; a script that says so breaks with the next
 * option that begins with a b. */
static bool is_whole(const char *name, char *const *argv)
{
    bool apart = optarg != NULL && optarg == argv[optind - 1];
    const char *word = argv[optind - (apart ? 2 : 1)] + strlen("--");
    size_t length = strlen(name);

    return strncmp(word, name, length) == 0 &&
           (word[length] == '\0' || word[length] == '=');
}

static bool take_option(const struct argument *argument, void *target,
                        char *const *argv, struct error *error)
{
    if (!is_whole(argument->name, argv)) {
        error_set(error, "options are not abbreviated, say --%s",
                  argument->name);
        return false;
    }
    if (read_value(argument, target, optarg, error))
        return true;
    error_prefix(error, "--%s", argument->name);
    return false;
}

int arguments_read(int argc, char **argv, const struct argument *table,
                   void *target, struct error *error)
{
    struct option options[OPTIONS_MAX + 1];
    int answer, index = 0;

    fill_options(table, options);
    optind = 0; /* glibc: start anew, whoever used getopt before */
    opterr = 0;
    while ((answer = getopt_long(argc, argv, ":", options, &index)) != -1) {
        if (answer != 0) {
            set_refusal(error, table, answer, argv);
            return -1;
        }
        if (!take_option(&table[index], target, argv, error))
            return -1;
    }
    return optind;
}

void arguments_help(FILE *out, const struct argument *table)
{
    for (; table->name != NULL; table++) {
        int width = fprintf(out, "  --%s%s%s", table->name,
                            table->value != NULL ? " " : "",
                            table->value != NULL ? table->value : "");

        if (width < HELP_COLUMN)
            fprintf(out, "%*s%s\n", HELP_COLUMN - width, "", table->help);
        else
            fprintf(out, "\n%*s%s\n", HELP_COLUMN, "", table->help);
    }
}

/*
 * main - one program, its subcommands
 */
#include "base/memory.h"
#include "base/nearest.h"
#include "cli/check.h"
#include "cli/keygen.h"
#include "cli/run.h"
#include "cli/sim.h"
#include "cli/sim_options.h"
#include "cli/tap.h"
#include "cli/tap_options.h"
#include "cli/try.h"
#include "cli/usage.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int help_main(int argc, char **argv);
static int version_main(int argc, char **argv);

static const struct usage_command commands[] = {
    {.name = "run",
     .arguments = "CONFIG",
     .about = "run the gateway",
     .run = run_main,
     .help = run_help},
    {.name = "check",
     .arguments = "CONFIG",
     .about = "say what is wrong with a configuration, or what it would run",
     .run = check_main,
     .help = check_help},
    {.name = "sim",
     .arguments = "[OPTIONS]",
     .about = "publish simulated events, see kvgate sim --help",
     .run = sim_main,
     .help = sim_options_help},
    {.name = "tap",
     .arguments = "ENDPOINT [OPTIONS]",
     .about = "print a stream as JSON lines, see kvgate tap --help",
     .run = tap_main,
     .help = tap_options_help},
    {.name = "try",
     .arguments = "CONFIG|FILTER FILES",
     .about = "say what becomes of each event of a file, see kvgate try --help",
     .run = try_main,
     .help = try_help},
    {.name = "keygen",
     .arguments = "FILE",
     .about = "make a key pair for CURVE: FILE and FILE.pub",
     .run = keygen_main,
     .help = keygen_help},
    {.name = "help",
     .arguments = "[COMMAND]",
     .about = "print this, or how to use one of them",
     .run = help_main},
    {.name = "--version",
     .arguments = "",
     .about = "print the version",
     .run = version_main},
    {0},
};

static bool is_one_of(const char *text, const char *a, const char *b)
{
    return strcmp(text, a) == 0 || strcmp(text, b) == 0;
}

static const struct usage_command *find_command(const char *name)
{
    const struct usage_command *at = commands;

    if (is_one_of(name, "--help", "-h"))
        name = "help";
    else if (strcmp(name, "-V") == 0)
        name = "--version";
    while (at->name != NULL && strcmp(at->name, name) != 0)
        at++;
    return at->name != NULL ? at : NULL;
}

static int complain(const char *name)
{
    struct nearest guess = {.word = name};

    for (const struct usage_command *at = commands; at->name != NULL; at++)
        nearest_offer(&guess, at->name);
    fprintf(stderr, "kvgate: there is no command \"%s\"", name);
    if (guess.known != NULL)
        fprintf(stderr, ", did you mean \"%s\"?", guess.known);
    fprintf(stderr, "\nkvgate help lists them.\n");
    return EXIT_USAGE;
}

static int help_main(int argc, char **argv)
{
    const struct usage_command *command;

    if (argc < 2) {
        usage_print(stdout, commands);
        return EXIT_FINE;
    }
    command = find_command(argv[1]);
    if (command == NULL)
        return complain(argv[1]);
    usage_print_command(command);
    return EXIT_FINE;
}

static int version_main(int argc, char **argv)
{
    (void)argc;
    (void)argv;
    printf("kvgate " KVGATE_VERSION "\n");
    return EXIT_FINE;
}

/* Commands take their words apart and move them (the words stay the same ones);
 * ps goes on showing what was asked for. */
static int run_command(const struct usage_command *command, int argc,
                       char **argv)
{
    char **words = memory_new(((size_t)argc + 1) * sizeof *words);
    int code;

    for (int i = 0; i < argc; i++)
        words[i] = memory_text(argv[i], strlen(argv[i]));
    code = command->run(argc, words);
    for (int i = 0; i < argc; i++)
        free(words[i]);
    free(words);
    return code;
}

/* What could not be written shows: a full disk is no success. */
static int close_output(int code)
{
    bool written = !ferror(stdout);

    if (fflush(stdout) == 0 && written)
        return code;
    fprintf(stderr, "kvgate: standard output cannot be written: %s\n",
            strerror(errno));
    return code == EXIT_FINE ? EXIT_FAILED : code;
}

int main(int argc, char **argv)
{
    const struct usage_command *command;

    if (argc < 2) {
        usage_print(stderr, commands);
        return EXIT_USAGE;
    }
    command = find_command(argv[1]);
    if (command == NULL)
        return complain(argv[1]);
    if (argc == 3 && is_one_of(argv[2], "--help", "-h")) {
        usage_print_command(command);
        return EXIT_FINE;
    }
    return close_output(run_command(command, argc - 1, argv + 1));
}

/*
 * main - one program, its subcommands
 */
#include "cli/check.h"
#include "cli/run.h"
#include "cli/sim.h"
#include "cli/tap.h"
#include "cli/usage.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

static int help_main(int argc, char **argv);

static const struct usage_command commands[] = {
    {"run", "CONFIG", "run the gateway", run_main},
    {"check", "CONFIG",
     "say what is wrong with a configuration, or what it "
     "would run",
     check_main},
    {"sim", "[OPTIONS]", "publish simulated events, see kvgate sim --help",
     sim_main},
    {"tap", "ENDPOINT [OPTIONS]",
     "print a stream as JSON lines, see kvgate tap --help", tap_main},
    {"help", "", "print this", help_main},
    {0},
};

static int help_main(int argc, char **argv)
{
    (void)argc;
    (void)argv;
    usage_print(stdout, commands);
    return EXIT_FINE;
}

static int complain(const char *name)
{
    const char *nearest = usage_nearest(commands, name);

    fprintf(stderr, "kvgate: there is no command \"%s\"", name);
    if (nearest != NULL)
        fprintf(stderr, ", did you mean \"%s\"?", nearest);
    fprintf(stderr, "\nkvgate help lists them.\n");
    return EXIT_USAGE;
}

static bool is_one_of(const char *text, const char *a, const char *b)
{
    return strcmp(text, a) == 0 || strcmp(text, b) == 0;
}

int main(int argc, char **argv)
{
    if (argc < 2) {
        usage_print(stderr, commands);
        return EXIT_USAGE;
    }
    if (is_one_of(argv[1], "--help", "-h"))
        return help_main(argc, argv);
    if (is_one_of(argv[1], "--version", "-V")) {
        printf("kvgate " KVGATE_VERSION "\n");
        return EXIT_FINE;
    }
    for (const struct usage_command *at = commands; at->name != NULL; at++)
        if (strcmp(at->name, argv[1]) == 0)
            return at->run(argc - 1, argv + 1);
    return complain(argv[1]);
}

#include "cli/usage.h"

#include "script/script.h"

#include <string.h>

_Static_assert((int)EXIT_STUCK == (int)SCRIPT_EXIT_STUCK, "one exit code");

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

bool usage_has_ending(const char *path, const char *ending)
{
    size_t size = strlen(path), ending_size = strlen(ending);

    return size > ending_size && strcmp(path + size - ending_size, ending) == 0;
}

const char *usage_config(int argc, char **argv)
{
    if (argc != 2 || argv[1][0] == '-') {
        fprintf(stderr, "usage: kvgate %s CONFIG\n", argv[0]);
        return NULL;
    }
    if (usage_has_ending(argv[1], ".lua")) {
        fprintf(stderr,
                "kvgate %s: %s is a filter; kvgate try takes it, check and run "
                "take a configuration\n",
                argv[0], argv[1]);
        return NULL;
    }
    return argv[1];
}

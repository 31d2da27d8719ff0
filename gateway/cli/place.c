#include "cli/place.h"

#include "base/memory.h"

#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Beside the directory of the program. */
static const char *const candidates[] = {"../share/kvgate/filters",
                                         "../filters"};

enum { CANDIDATES = sizeof candidates / sizeof *candidates };

struct place {
    struct installed installed;
    char *directories[CANDIDATES];
};

static bool find_program(char *directory, size_t room)
{
    ssize_t size = readlink("/proc/self/exe", directory, room - 1);
    char *slash;

    if (size <= 0)
        return false;
    directory[size] = '\0';
    slash = strrchr(directory, '/');
    if (slash == NULL)
        return false;
    *slash = '\0';
    return true;
}

/* The candidate as one clean path, or NULL when it is not there. */
static char *resolve(const char *program, const char *candidate)
{
    char path[PATH_MAX + 64];

    snprintf(path, sizeof path, "%s/%s", program, candidate);
    return realpath(path, NULL);
}

struct place *place_find(void)
{
    struct place *place = memory_new(sizeof *place);
    char program[PATH_MAX];
    size_t count = 0;

    if (find_program(program, sizeof program)) {
        for (size_t i = 0; i < CANDIDATES; i++) {
            place->directories[count] = resolve(program, candidates[i]);
            if (place->directories[count] != NULL)
                count++;
        }
    }
    place->installed = (struct installed){
        .directories = (const char *const *)place->directories, .count = count};
    return place;
}

void place_free(struct place *place)
{
    for (size_t i = 0; i < CANDIDATES; i++)
        free(place->directories[i]);
    free(place);
}

const struct installed *place_installed(const struct place *place)
{
    return &place->installed;
}

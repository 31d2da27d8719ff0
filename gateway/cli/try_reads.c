#include "cli/try_reads.h"

#include "cli/try_diff.h"
#include "codec/field.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NAME "%63[A-Za-z0-9_]"

static struct try_read *find(struct try_reads *reads, const char *name)
{
    for (size_t i = 0; i < reads->count; i++)
        if (strcmp(reads->items[i].name, name) == 0)
            return &reads->items[i];
    return NULL;
}

static void add(struct try_reads *reads, const struct try_read *read)
{
    struct try_read *known = find(reads, read->name);

    if (known != NULL)
        known->exists = known->exists || read->exists;
    else if (reads->count < TRY_READS_MAX && field_meant(read->name) != NULL)
        reads->items[reads->count++] = *read;
}

/* The name of a field in what stands behind "event". */
static bool read_name(const char *at, struct try_read *read)
{
    int size = 0;

    if (sscanf(at, "." NAME " %n", read->name, &size) == 1) {
        read->exists = at[size] == '=' && at[size + 1] != '=';
        return true;
    }
    return sscanf(at, " , %*1[\"']" NAME, read->name) == 1 ||
           sscanf(at, ":has%*[ (\"']" NAME, read->name) == 1;
}

static void scan_line(struct try_reads *reads, char *line,
                      struct try_read *place)
{
    static const char word[] = "event";
    char *comment = strstr(line, "--");

    if (comment != NULL)
        *comment = '\0';
    for (const char *at = line; (at = strstr(at, word)) != NULL;) {
        bool is_part = at > line && (isalnum((unsigned char)at[-1]) ||
                                     strchr("_.:\"'", at[-1]) != NULL);

        at += sizeof word - 1;
        place->exists = false;
        if (!is_part && read_name(at, place))
            add(reads, place);
    }
}

void try_reads_scan(struct try_reads *reads, const char *path)
{
    FILE *file = fopen(path, "r");
    struct try_read place = {.path = path};
    char *line = NULL;
    size_t room = 0;

    while (file != NULL && getline(&line, &room, file) >= 0) {
        place.line++;
        scan_line(reads, line, &place);
    }
    free(line);
    if (file != NULL)
        fclose(file);
}

void try_reads_see(struct try_reads *reads, const uint8_t *event)
{
    for (size_t i = 0; i < reads->count; i++)
        if (try_field(event, reads->items[i].name) != NULL)
            reads->items[i].exists = true;
}

void try_reads_tell(const struct try_reads *reads)
{
    for (size_t i = 0; i < reads->count; i++) {
        const struct try_read *read = &reads->items[i];

        if (!read->exists)
            fprintf(stderr,
                    "%s:%u: reads \"%s\", which no event had; did you mean "
                    "\"%s\"?\n",
                    read->path, read->line, read->name,
                    field_meant(read->name));
    }
}

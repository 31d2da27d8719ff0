#include "relay/continuity.h"

#include "base/memory.h"

#include <stdlib.h>
#include <string.h>

struct source_entry {
    struct source_entry *next;
    char *name;
    struct source_record record;
};

struct stream_entry {
    struct stream_entry *next;
    char *name;
    struct stream_record record;
};

struct continuity {
    struct source_entry *sources;
    struct stream_entry *streams;
};

struct continuity *continuity_new(void)
{
    return memory_new(sizeof(struct continuity));
}

void continuity_free(struct continuity *continuity)
{
    if (continuity == NULL)
        return;
    for (struct source_entry *at = continuity->sources, *next; at; at = next) {
        next = at->next;
        free(at->name);
        free(at);
    }
    for (struct stream_entry *at = continuity->streams, *next; at; at = next) {
        next = at->next;
        free(at->name);
        free(at);
    }
    free(continuity);
}

struct source_record *continuity_source(struct continuity *continuity,
                                        const char *name)
{
    struct source_entry *entry = continuity->sources;

    while (entry != NULL && strcmp(entry->name, name) != 0)
        entry = entry->next;
    if (entry == NULL) {
        entry = memory_new(sizeof *entry);
        entry->name = memory_text(name, strlen(name));
        entry->next = continuity->sources;
        continuity->sources = entry;
    }
    return &entry->record;
}

struct stream_record *continuity_stream(struct continuity *continuity,
                                        const char *name)
{
    struct stream_entry *entry = continuity->streams;

    while (entry != NULL && strcmp(entry->name, name) != 0)
        entry = entry->next;
    if (entry == NULL) {
        entry = memory_new(sizeof *entry);
        entry->name = memory_text(name, strlen(name));
        seq_stamper_init(&entry->record.stamper);
        entry->next = continuity->streams;
        continuity->streams = entry;
    }
    return &entry->record;
}

/*
 * continuity - what must survive: the numbers of every source and stream
 *
 * Records are found by name and never move or die, so that a stream that a
 * reload takes away and a later one brings back goes on where it stopped.
 * Everything that a file would have to hold to survive a crash is in these
 * two structs, and nothing else is.
 */
#ifndef RELAY_CONTINUITY_H
#define RELAY_CONTINUITY_H

#include "relay/sequence.h"

struct continuity;

struct source_record {
    struct seq_tracker tracker;
};

struct stream_record {
    struct seq_stamper stamper;
    uint64_t published; /* numbers that a message had */
    uint64_t reserved;  /* numbers that no message has */
    uint64_t feed;      /* signature of what feeds it; 0: never fed */
};

struct continuity *continuity_new(void);
void continuity_free(struct continuity *continuity);

/* The record of that name, made when first asked for.  Borrowed. */
struct source_record *continuity_source(struct continuity *continuity,
                                        const char *name);
struct stream_record *continuity_stream(struct continuity *continuity,
                                        const char *name);

#endif

/*
 * relay_parts - what the files of the relay share
 *
 * relay.c receives and ticks, relay_adopt.c changes plans, relay_loss.c judges
 * numbers and loses.
 */
#ifndef RELAY_RELAY_PARTS_H
#define RELAY_RELAY_PARTS_H

#include "relay/loss.h"
#include "relay/moment.h"
#include "relay/occasion.h"
#include "relay/relay.h"

struct relay {
    struct continuity *continuity;
    struct plan *plan; /* NULL before the first relay_adopt */
    struct source **sources;
    struct stream **streams;
    struct moment moment;
};

/* Where filters are called outside of messages. */
struct occasion relay_occasion(struct relay *relay);

/* A loss of a whole source: of all its reach. */
void relay_lose(struct relay *relay, size_t source, enum loss_cause cause,
                uint64_t width);

/* Judge the number of a message, and lose what it shows to be missing. */
void relay_judge(struct relay *relay, size_t source, uint64_t number,
                 const struct batch_header *header);

#endif

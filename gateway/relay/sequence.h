/*
 * sequence - the two ends of continuity
 *
 * A tracker follows the numbers that one publisher sends us; a stamper hands
 * out those that one stream sends on.  No other file compares, assigns or
 * counts a sequence number.
 *
 *   upstream   1 2 3 . . 6 7     tracker: FIRST NEXT NEXT GAP(2) NEXT+guard
 *   stream     1 2 3 . . 6 . 8   stamper: take ×3, reserve 2, take, reserve 1
 */
#ifndef RELAY_SEQUENCE_H
#define RELAY_SEQUENCE_H

#include <stdbool.h>
#include <stdint.h>

enum { SEQ_WIDTH_MAX = 1 << 20 }; /* numbers that one loss may reserve */

enum seq_verdict {
    SEQ_FIRST = 0, /* nothing seen before: no continuity to break */
    SEQ_NEXT,      /* exactly one more than the last */
    SEQ_GAP,       /* numbers are missing */
    SEQ_RESTART, /* went back or repeated: a new publisher, its past unknown */
};

struct seq_tracker {
    uint64_t last;    /* number of the last message */
    uint64_t last_id; /* last event_id seen; 0: none */
    bool started;
    bool guard; /* mark a loss behind the batch that showed a gap, see below */
    bool guard_due; /* that batch is through, the mark is still owed */
};

struct seq_judgement {
    enum seq_verdict verdict;
    uint64_t missing; /* SEQ_GAP: how many numbers, not capped */
    bool guard;       /* a loss lies behind the batch before this one */
};

/*
 * Judge one message by its number and its first and last event_id (0 when it
 * carries none), and remember it.  GAP, RESTART and `guard` each mean loss;
 * the message itself is always good.
 *
 * The guard: a Mooncake master reserves a number when its queue drops an event,
 * while a worker may hold an older batch that has no number yet.  So the hole
 * can show one batch too early, and what was lost may belong behind the batch
 * that follows the hole.
 */
struct seq_judgement seq_track(struct seq_tracker *tracker, uint64_t number,
                               uint64_t first_id, uint64_t last_id);

/* Judge the next message by its number alone: its event_ids may start over. */
void seq_forget_id(struct seq_tracker *tracker);

/* Take back an owed mark: true if there was one, and the caller loses. */
bool seq_guard_close(struct seq_tracker *tracker);

struct seq_stamper {
    uint64_t next;    /* number to hand out next; starts at 1 */
    uint64_t next_id; /* event_id to hand out next; starts at 1 */
    bool silent;      /* a gap that no message has shown yet */
};

void seq_stamper_init(struct seq_stamper *stamper);

/* Take the next number for a message.  It is never given back. */
uint64_t seq_take(struct seq_stamper *stamper);

/* The message that took the last number was not sent: it is a gap now. */
void seq_spoil(struct seq_stamper *stamper);

/* Leave out `width` numbers (at least 1, at most SEQ_WIDTH_MAX); returns how
 * many. */
uint64_t seq_reserve(struct seq_stamper *stamper, uint64_t width);

/* Take the next event_id; contiguous, a loss leaves none out. */
uint64_t seq_take_id(struct seq_stamper *stamper);

/* The last number taken or reserved; 0 before the first. */
uint64_t seq_last(const struct seq_stamper *stamper);

/* The 8 bytes of frame 1. */
uint64_t seq_read(const uint8_t bytes[8]);
void seq_write(uint64_t number, uint8_t bytes[8]);

#endif

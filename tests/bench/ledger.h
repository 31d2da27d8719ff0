/*
 * ledger - what publisher and subscriber tell each other beside the stream
 *
 * A file that both map.  It carries when each message was sent, so that the
 * stream itself need not: found again by event_id, which every middle process
 * keeps.  And it carries how much arrived, so that a publisher without a rate
 * keeps a bounded number of messages in flight from end to end.  Nobody drops
 * then, at default queue sizes, and the slowest part sets the pace.
 */
#ifndef BENCH_LEDGER_H
#define BENCH_LEDGER_H

#include <stdatomic.h>
#include <stdint.h>

enum { LEDGER_MESSAGES = 1 << 16 }; /* whose time of sending is remembered */

struct ledger {
    _Atomic uint32_t joined;   /* the subscriber got something on each socket */
    _Atomic uint32_t done;     /* `sent` is final */
    _Atomic uint64_t events;   /* in a message */
    _Atomic uint64_t received; /* events ever */

    /* What is measured: messages that say they were made at `run_ms` or later.
     * What came before joined the sockets and warmed the middle up. */
    _Atomic uint64_t run_ms;   /* 0: not begun */
    _Atomic uint64_t first_id; /* the first event_id of the run */
    _Atomic uint64_t sent;     /* events of the run */
    _Atomic uint64_t sent_ns[LEDGER_MESSAGES]; /* by message of the run */
};

/* Map the file, made if it is not there.  Ends the program if it can't. */
struct ledger *ledger_open(const char *path);

/* Nanoseconds on a clock that all processes share. */
uint64_t ledger_now(void);

#endif

/*
 * loss - the closed list of reasons for a gap
 *
 * An event leaves the gateway sent, dropped by a filter's word, or lost.  Lost
 * is a call of stream_lose with one of these.
 */
#ifndef RELAY_LOSS_H
#define RELAY_LOSS_H

enum loss_cause {
    LOSS_GAP = 0,  /* upstream numbers are missing */
    LOSS_GUARD,    /* an upstream gap may have shown one batch early */
    LOSS_RESTART,  /* the publisher started over */
    LOSS_FRAMES,   /* a message had not three frames */
    LOSS_SEQUENCE, /* its sequence frame had not 8 bytes */
    LOSS_PAYLOAD,  /* its payload was no batch */
    LOSS_EVENT,    /* one event of a batch was malformed */
    LOSS_FILTER,   /* a filter failed on an event */
    LOSS_SPACE,    /* filters made more events than a batch holds */
    LOSS_SIZE,     /* an event does not fit a message of this stream */
    LOSS_SEND,     /* the socket refused a message */
    LOSS_RELOAD,   /* what feeds the stream was changed */
    LOSS_CAUSES,
};

/* One word, for metrics and logs. */
const char *loss_cause_name(enum loss_cause cause);

#endif

/*
 * stream - one downstream numbering
 *
 * Fills a builder, stamps it and hands it to its sink.  The promise lives here:
 *
 *   last number = messages published + numbers reserved
 *
 * and a loss is "flush first, then reserve": the hole lies between what came
 * before the loss and what comes after it.
 */
#ifndef RELAY_STREAM_H
#define RELAY_STREAM_H

#include "base/config.h"
#include "base/log.h"
#include "codec/builder.h"
#include "relay/continuity.h"
#include "relay/letter.h"
#include "relay/loss.h"
#include "relay/moment.h"
#include "relay/sink.h"

/* In place of a source's index: the loss may be of any of them. */
#define STREAM_ALL_SOURCES UINT32_MAX

struct stream_counters {
    uint64_t events;              /* events in the messages sent */
    uint64_t bytes;               /* payload bytes in them */
    uint64_t announcements;       /* empty messages that show a gap */
    uint64_t heartbeats;          /* empty messages of an idle stream */
    uint64_t losses[LOSS_CAUSES]; /* losses by cause, whatever their width */
};

struct stream {
    char *name;
    char *topic;
    char *endpoint; /* as the socket layer resolved it */
    size_t topic_size;
    bool restamp; /* give event_ids of its own */
    bool letters; /* it carries dead letters, under a time of its own */
    uint64_t announce_after_ms;
    uint64_t heartbeat_ms;
    struct stream_record *record; /* borrowed from continuity */
    struct moment *moment;        /* borrowed from the relay */
    struct sink sink;             /* zero until the layer above gives one */
    struct builder builder;
    struct stream *next_open;
    bool listed;               /* in moment->open */
    uint8_t rank[PACK_SCALAR]; /* of the last message, for announcements */
    size_t rank_size;
    uint64_t gap_since_ms; /* when the silent gap came about */
    uint64_t sent_ms;      /* when it last sent */
    struct stream_counters counters;
    struct log_gate gate;
};

/* A stream of this configuration.  `moment` and the record of `continuity`
 * must outlive it. */
struct stream *stream_new(const struct config_stream *config,
                          struct continuity *continuity, struct moment *moment);
void stream_free(struct stream *stream);

/* Take over what a changed configuration says; numbers and counters stay. */
void stream_configure(struct stream *stream,
                      const struct config_stream *config);

/* Add one event of a source (its index, or STREAM_ALL_SOURCES); sends when the
 * message is full. */
void stream_append(struct stream *stream, const struct event *event,
                   uint32_t source);

/* Add a letter as stream_append adds an event. */
void stream_append_letter(struct stream *stream, const struct letter *letter);

/* Send the payload of `message` (`events` events) as it is.  The stream must
 * hold nothing and keep event_ids. */
void stream_forward(struct stream *stream, const struct message *message,
                    uint32_t events);

/* Send what is open, if anything. */
void stream_flush(struct stream *stream);

/* THE way to lose: send what is open, then leave `width` numbers out.  What was
 * lost is of the source at that index, or of any: STREAM_ALL_SOURCES. */
void stream_lose(struct stream *stream, enum loss_cause cause, uint64_t width,
                 uint32_t source);

/* Show a gap that is due, or beat; returns the milliseconds until the next. */
uint64_t stream_tick(struct stream *stream);

/* Show a gap now, if there is a silent one. */
void stream_announce(struct stream *stream);

#endif

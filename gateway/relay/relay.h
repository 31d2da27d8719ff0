/*
 * relay - the heart: messages in, numbered streams out
 *
 * Sans-I/O: bytes and time are arguments, sending is a struct sink.  Continuity
 * (trackers and numbers, by name) survives a change of plan; behaviour
 * (scripts, routes) is a plan, built aside and adopted between two messages.
 *
 *   config ─ plan_new ─ relay_adopt ─┐
 *   relay_receive ─ decode ─ filters ─ route ─ stream filters ─ builders ─ sink
 *   relay_idle: nothing is waiting, send what is open    relay_tick: timers
 *
 * Not thread-safe: one thread owns it.
 */
#ifndef RELAY_RELAY_H
#define RELAY_RELAY_H

#include "base/buffer.h"
#include "base/config.h"
#include "relay/message.h"
#include "relay/plan.h"
#include "relay/sink.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct relay;
struct source;
struct stream;
struct pipeline;

struct relay_now {
    uint64_t steady_ms; /* for timers; a step back counts as none */
    uint64_t wall_ms;   /* Unix time, for the payloads that we make */
};

struct relay *relay_new(void);
void relay_free(struct relay *relay);

/*
 * Make the plan the current one (takes it), between two messages.  What is open
 * is sent first.  A stream whose feed changed loses one number.  Sources and
 * streams are known by name: those that stay keep their numbers.  Those without
 * a sink yet (see relay_set_sink) must get one before the next call.
 */
void relay_adopt(struct relay *relay, struct plan *plan, struct relay_now now);

/* Sources and streams of the current plan, in the order of its config; the
 * stream of the dead letters, if it has one, is the last. */
size_t relay_source_count(const struct relay *relay);
size_t relay_stream_count(const struct relay *relay);
struct source *relay_source(const struct relay *relay, size_t index);
struct stream *relay_stream(const struct relay *relay, size_t index);
const struct pipeline *relay_pipeline(const struct relay *relay);

void relay_set_sink(struct relay *relay, size_t stream, struct sink sink);

/* The recent messages were handled by a plan that is no more: forget them. */
void relay_forget_recent(struct relay *relay);

/* Where a socket really is, for reports (a bound port "*" has a number).
 * Copied; the config's endpoint until then. */
void relay_set_source_endpoint(struct relay *relay, size_t source,
                               const char *endpoint);
void relay_set_stream_endpoint(struct relay *relay, size_t stream,
                               const char *endpoint);

/* One message of a source.  Call relay_idle when no other is waiting. */
void relay_receive(struct relay *relay, size_t source,
                   const struct message *message, struct relay_now now);

/* Send everything that is open. */
void relay_idle(struct relay *relay, struct relay_now now);

/* From now on the current plan's sources, filters and streams log nothing of
 * what they lose: the caller tells it in a way of his own. */
void relay_silence(struct relay *relay);

/* The state of a source's connections, as the socket layer sees it. */
void relay_source_connected(struct relay *relay, size_t source, bool connected);

/*
 * Announce gaps that nothing followed, beat hearts, close guards, call on_tick
 * of filters for which it is time.  Returns the
 * milliseconds until it wants to be called again, at most 1000.
 */
uint64_t relay_tick(struct relay *relay, struct relay_now now);

/* The end: send what is open and announce every gap. */
void relay_stop(struct relay *relay, struct relay_now now);

#endif

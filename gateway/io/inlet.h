/*
 * inlet - the receiving socket of one source
 *
 * A SUB socket that hands out messages frame by frame without a copy.  It never
 * blocks.  A message that is not three frames is taken whole and reported with
 * its number of frames, so that the next one starts where it should.
 */
#ifndef IO_INLET_H
#define IO_INLET_H

#include "base/error.h"
#include "io/monitor.h"
#include "io/socket.h"
#include "relay/message.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { INLET_FRAMES_MAX = 16 };

struct inlet;

/*
 * Subscribes to the prefix `topic` and binds or connects.  `watch`: follow the
 * connections too; the caller must then read inlet_monitor now and then.  NULL
 * and `error` when that fails.  Caller closes.
 */
struct inlet *inlet_open(void *context, const struct socket_options *options,
                         const char *topic, bool watch, struct error *error);
void inlet_close(struct inlet *inlet);

/* Take over a higher queue bound, see socket_raise_hwm, and another topic
 * prefix. */
void inlet_configure(struct inlet *inlet, const struct socket_options *options,
                     const char *topic);

/* The queue bound that it has. */
int inlet_hwm(const struct inlet *inlet);

/* Try again after the peer has said no. */
void inlet_reconnect(struct inlet *inlet);

/* Give its address up for another socket; and, if that came to nothing, take
 * it again. */
void inlet_unbind(struct inlet *inlet);
bool inlet_rebind(struct inlet *inlet, const struct socket_options *options,
                  struct error *error);

/* Where it really is.  Borrowed. */
const char *inlet_endpoint(const struct inlet *inlet);

/* NULL when opened without `watch`.  Borrowed. */
struct monitor *inlet_monitor(struct inlet *inlet);

/* To poll on once inlet_receive said false, see socket_descriptor. */
int inlet_descriptor(const struct inlet *inlet);

/*
 * The next message, if one is there.  Its frames are borrowed until
 * inlet_release or the next call.
 */
bool inlet_receive(struct inlet *inlet, struct message *message);

/* Frame 0 of the message in hand. */
const uint8_t *inlet_topic(struct inlet *inlet, size_t *size);

/* Hold on to frames past the third from now on, up to INLET_FRAMES_MAX. */
void inlet_keep_frames(struct inlet *inlet);

/* How many frames of the message in hand are held, and one of them. */
size_t inlet_frame_count(const struct inlet *inlet);
const uint8_t *inlet_frame(struct inlet *inlet, size_t index, size_t *size);

/* Let go of the message in hand. */
void inlet_release(struct inlet *inlet);

#endif

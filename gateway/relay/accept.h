/*
 * accept - which streams an event may enter, by equality tests
 *
 * All streams' tests at once: per tested field one table from value to the set
 * of streams that want it, so that an event costs one look-up a field however
 * many streams there are.  Sets are bit masks of `words` 64-bit words.
 *
 * A `cleared` event passes a test on a field that it does not carry (nil or
 * absent): it retracts what lies under every value of that field.
 */
#ifndef RELAY_ACCEPT_H
#define RELAY_ACCEPT_H

#include "base/config.h"
#include "codec/event.h"

struct accept;

/* The tests of all streams of a configuration. */
struct accept *accept_new(const struct config *config, uint32_t words);
void accept_free(struct accept *accept);

/* Take from `mask` the streams whose tests the event fails. */
void accept_apply(const struct accept *accept, const struct event *event,
                  uint64_t *mask);

#endif

/*
 * eager - events as plain Lua tables, the way most embeddings do it
 *
 * Every event becomes a Lua table, the filter sees that, and what it kept is
 * turned back into msgpack: the approach of Fluent Bit's Lua filter, with
 * msgpack-c on both sides.  It stands here to be compared with the gateway's
 * views; what it cannot keep (order of keys, integers above 2^53) is part of
 * the comparison.
 */
#ifndef BENCH_EAGER_H
#define BENCH_EAGER_H

#include <msgpack.h>

#include <stdbool.h>

struct eager;

/* Load a filter file and make its filter for `streams` streams s0, s1, … */
struct eager *eager_new(const char *path, int streams);

/*
 * Run the filter on one event.  Returns the stream that it goes to, with the
 * event appended to that one's `out`; -1 when it was dropped.
 */
int eager_filter(struct eager *eager, const msgpack_object *event,
                 msgpack_sbuffer *out);

#endif

/*
 * metrics - write Prometheus text (exposition format 0.0.4) into a buffer
 *
 *   metrics_family(&m, "kvgate_source_events_total", "counter",
 *                  "Events received from a source.");
 *   metrics_u64(&m, received, "source", name, NULL);
 *
 * Label values are escaped here.  Counters live in the structs that they
 * count; this only renders.
 */
#ifndef BASE_METRICS_H
#define BASE_METRICS_H

#include "base/buffer.h"

#include <stdint.h>

struct metrics {
    struct buffer *out;
    const char *family; /* name of the family being written */
};

void metrics_family(struct metrics *metrics, const char *name, const char *type,
                    const char *help);

struct metrics_label {
    const char *name;
    const char *value;
};

enum { METRICS_LABELS = 8 }; /* the most that a sample may have */

/* One sample; label names and values in pairs, closed by NULL. */
void metrics_u64(struct metrics *metrics, uint64_t value, ...)
    __attribute__((sentinel));
void metrics_double(struct metrics *metrics, double value, ...)
    __attribute__((sentinel));

/* The same with labels as a list. */
void metrics_u64_of(struct metrics *metrics, uint64_t value,
                    const struct metrics_label *labels, size_t count);
void metrics_double_of(struct metrics *metrics, double value,
                       const struct metrics_label *labels, size_t count);

#endif

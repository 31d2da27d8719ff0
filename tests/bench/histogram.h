/*
 * histogram - many durations, few percentiles
 *
 * Buckets of equal width inside each power of two: a percentile is exact to
 * 1/32 of its value, from a nanosecond to a minute, without allocation.
 */
#ifndef BENCH_HISTOGRAM_H
#define BENCH_HISTOGRAM_H

#include <stdint.h>

enum { HISTOGRAM_SPLIT = 32, HISTOGRAM_BUCKETS = 37 * HISTOGRAM_SPLIT };

struct histogram {
    uint64_t buckets[HISTOGRAM_BUCKETS];
    uint64_t count;
};

void histogram_add(struct histogram *histogram, uint64_t value);

/* The value that `share` (0 to 1) of all values do not exceed; 0: no values. */
uint64_t histogram_percentile(const struct histogram *histogram, double share);

#endif

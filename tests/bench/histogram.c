#include "histogram.h"

/* Values below the split have a bucket each; above, the top six bits decide. */
static uint32_t bucket_of(uint64_t value)
{
    uint32_t shift;
    uint64_t bucket;

    if (value < HISTOGRAM_SPLIT)
        return (uint32_t)value;
    shift = 58 - (uint32_t)__builtin_clzll(value);
    bucket = (uint64_t)shift * HISTOGRAM_SPLIT + (value >> shift);
    return bucket < HISTOGRAM_BUCKETS ? (uint32_t)bucket
                                      : HISTOGRAM_BUCKETS - 1;
}

static uint64_t middle_of(uint32_t bucket)
{
    uint32_t shift =
        bucket < 2 * HISTOGRAM_SPLIT ? 0 : bucket / HISTOGRAM_SPLIT - 1;
    uint64_t top = bucket - (uint64_t)shift * HISTOGRAM_SPLIT;

    return (top << shift) + (UINT64_C(1) << shift) / 2;
}

void histogram_add(struct histogram *histogram, uint64_t value)
{
    histogram->buckets[bucket_of(value)]++;
    histogram->count++;
}

uint64_t histogram_percentile(const struct histogram *histogram, double share)
{
    double wanted = share * (double)histogram->count;
    uint64_t seen = 0;

    for (uint32_t i = 0; i < HISTOGRAM_BUCKETS; i++) {
        seen += histogram->buckets[i];
        if (seen > 0 && (double)seen >= wanted)
            return middle_of(i);
    }
    return 0;
}

/*
 * metric_abi - counters and gauges as lua/kvgate/metrics.lua reaches them
 *
 * Read twice, as script/border_abi.h.  The functions hang in border.metrics;
 * none of them raises.  Values lie in C, so that compiled code counts with a
 * load, an addition and a store.
 */
#ifndef SCRIPT_METRIC_ABI_H
#define SCRIPT_METRIC_ABI_H
#include "script/border_abi.h"
/* cdef begins */

enum metric_limit {
    METRIC_MAX = 64,       /* metrics of a generation */
    METRIC_SERIES = 10000, /* the most series of one */
    METRIC_LABELS = 4,     /* the most labels of one */
    METRIC_VALUE = 128,    /* bytes of a label's value */
    METRIC_TEXT = 4 << 20  /* bytes of all label values of a generation, with 64
                              for each series */
};

enum metric_kind { METRIC_COUNTER = 0, METRIC_GAUGE };

/* How a declaration ended. */
enum metric_found {
    METRIC_DONE = 0,
    METRIC_TWICE,   /* this filter has it already */
    METRIC_OTHER,   /* another filter's of that name is of the other kind */
    METRIC_TOO_MANY /* METRIC_MAX are declared */
};

/* Values by series.  That of series 0 is for label values that have none of
 * their own, or it is the only one, of a metric without labels. */
struct metric {
    uint64_t *counts; /* of a counter */
    double *levels;   /* of a gauge */
};

/* What a filter wants; all is copied. */
struct metric_wanted {
    const char *name, *help;
    const char *labels[4]; /* METRIC_LABELS */
    uint32_t label_count;
    uint32_t kind;
    uint32_t limit; /* series */
};

struct metric_border {
    /* Declare for border.owner.  Returns enum metric_found; the metric lives as
     * long as the state. */
    uint32_t (*declare)(struct border *border,
                        const struct metric_wanted *wanted,
                        struct metric **metric);
    /* A series for these values, one for each label, which have none so far;
     * 0: they get none. */
    uint32_t (*series)(struct border *border, struct metric *metric,
                       const char *const *values, const size_t *sizes);
};

/* cdef ends */
#endif

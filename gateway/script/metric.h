/*
 * metric - counters and gauges that filters declare
 *
 * Their number, their series and the texts of those are bounded: what does not
 * fit is counted under "_other", and the log says so once.
 */
#ifndef SCRIPT_METRIC_H
#define SCRIPT_METRIC_H

#include "base/metrics.h"
#include "script/metric_abi.h"

struct metric_list;

extern const struct metric_border metric_border;

struct metric_list *metric_list_new(void);
void metric_list_free(struct metric_list *list);

/* Append all of them, a family a name: kvgate_filter_NAME{filter=, stream=,
 * position=, labels of its own}. */
void metric_list_print(const struct metric_list *list, struct metrics *out);

#endif

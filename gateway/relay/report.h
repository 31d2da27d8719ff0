/*
 * report - what the relay counted, as text
 */
#ifndef RELAY_REPORT_H
#define RELAY_REPORT_H

#include "base/buffer.h"
#include "relay/relay.h"

/* Prometheus text: every family of README's table. */
void report_metrics(const struct relay *relay, struct buffer *out);

/* The same facts as one JSON object. */
void report_status(const struct relay *relay, struct buffer *out);

#endif

/*
 * wire - what the sockets of one gateway are made with
 */
#ifndef IO_WIRE_H
#define IO_WIRE_H

#include "io/pool.h"
#include "io/zap.h"

/* Must outlive the sockets. */
struct wire {
    void *context;
    struct pool *blocks; /* of payloads that were built */
    struct pool *frames; /* frames that are sent as they came */
    struct zap *zap;
};

#endif

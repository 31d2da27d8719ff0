#include "middle.h"

#include "check.h"

#include <stdint.h>

/* Bits of ZMQ_AFFINITY: which I/O thread. */
static const uint64_t ingress = 1, egress = 2;

void *middle_context(void)
{
    void *context = zmq_ctx_new();

    check(zmq_ctx_set(context, ZMQ_IO_THREADS, 2) == 0, "ZMQ_IO_THREADS");
    return context;
}

static void *connected(void *context, int type, uint64_t thread,
                       const char *queue, const char *endpoint)
{
    void *socket = zmq_socket(context, type);
    int hwm = (int)strtol(queue, NULL, 10);

    check(zmq_setsockopt(socket, ZMQ_AFFINITY, &thread, sizeof thread) == 0,
          "ZMQ_AFFINITY");
    check(hwm > 0 &&
              zmq_setsockopt(socket, ZMQ_RCVHWM, &hwm, sizeof hwm) == 0 &&
              zmq_setsockopt(socket, ZMQ_SNDHWM, &hwm, sizeof hwm) == 0,
          "QUEUE");
    if (type == ZMQ_SUB)
        check(zmq_setsockopt(socket, ZMQ_SUBSCRIBE, "", 0) == 0,
              "ZMQ_SUBSCRIBE");
    check(zmq_connect(socket, endpoint) == 0, endpoint);
    return socket;
}

void *middle_source(void *context, int type, const char *queue,
                    const char *endpoint)
{
    return connected(context, type, ingress, queue, endpoint);
}

void *middle_stream(void *context, int type, const char *queue,
                    const char *endpoint)
{
    return connected(context, type, egress, queue, endpoint);
}

/*
 * eager_loop - the gateway's job with msgpack-c and a Lua table for each event
 *
 *   eager_loop FILTER QUEUE SOURCE STREAM...
 *
 * The same filter file, the same streams with numbers of their own.  Messages
 * are merged as the gateway does it: a stream's is sent when it holds 64
 * events, or when nothing more is waiting, or when the timestamp changes.
 */
#include "check.h"
#include "eager.h"
#include "middle.h"

#include <endian.h>
#include <string.h>

enum { STREAMS_MAX = 64, EVENTS_MAX = 64 };

struct stream {
    void *socket;
    uint64_t sequence;
    unsigned events;
};

struct loop {
    struct eager *eager;
    void *source;
    struct stream streams[STREAMS_MAX];
    msgpack_sbuffer events[STREAMS_MAX]; /* what each has open */
    int stream_count;
    uint64_t timestamp; /* of all that is open */
    msgpack_sbuffer payload;
    msgpack_unpacked unpacked;
};

static void send_frames(struct stream *stream, const msgpack_sbuffer *payload)
{
    uint64_t sequence = htobe64(++stream->sequence);

    check(zmq_send(stream->socket, "", 0, ZMQ_SNDMORE) >= 0, "send");
    check(zmq_send(stream->socket, &sequence, sizeof sequence, ZMQ_SNDMORE) >=
              0,
          "send");
    check(zmq_send(stream->socket, payload->data, payload->size, 0) >= 0,
          "send");
}

static void flush(struct loop *loop, int index)
{
    struct stream *stream = &loop->streams[index];
    msgpack_sbuffer *events = &loop->events[index];
    msgpack_packer to;

    if (stream->events == 0)
        return;
    msgpack_sbuffer_clear(&loop->payload);
    msgpack_packer_init(&to, &loop->payload, msgpack_sbuffer_write);
    msgpack_pack_array(&to, 3);
    msgpack_pack_uint64(&to, loop->timestamp);
    msgpack_pack_array(&to, stream->events);
    msgpack_sbuffer_write(&loop->payload, events->data, events->size);
    msgpack_pack_uint64(&to, 0);
    send_frames(stream, &loop->payload);
    msgpack_sbuffer_clear(events);
    stream->events = 0;
}

static void flush_all(struct loop *loop)
{
    for (int i = 0; i < loop->stream_count; i++)
        flush(loop, i);
}

static void take_event(struct loop *loop, const msgpack_object *event)
{
    int stream = eager_filter(loop->eager, event, loop->events);

    if (stream >= 0 && ++loop->streams[stream].events == EVENTS_MAX)
        flush(loop, stream);
}

static void take_payload(struct loop *loop, const char *payload, size_t size)
{
    const msgpack_object_array *batch, *events;

    check(msgpack_unpack_next(&loop->unpacked, payload, size, NULL) ==
              MSGPACK_UNPACK_SUCCESS,
          "msgpack");
    batch = &loop->unpacked.data.via.array;
    if (batch->ptr[0].via.u64 != loop->timestamp)
        flush_all(loop);
    loop->timestamp = batch->ptr[0].via.u64;
    events = &batch->ptr[1].via.array;
    for (uint32_t i = 0; i < events->size; i++)
        take_event(loop, &events->ptr[i]);
}

/* One message, if need be after a wait; sends what is open before it waits. */
static void receive(struct loop *loop)
{
    zmq_msg_t frame;

    zmq_msg_init(&frame);
    if (zmq_msg_recv(&frame, loop->source, ZMQ_DONTWAIT) < 0) {
        flush_all(loop);
        check(zmq_msg_recv(&frame, loop->source, 0) >= 0, "receive");
    }
    while (zmq_msg_more(&frame))
        check(zmq_msg_recv(&frame, loop->source, 0) >= 0, "receive");
    take_payload(loop, zmq_msg_data(&frame), zmq_msg_size(&frame));
    zmq_msg_close(&frame);
}

int main(int count, char **arguments)
{
    static struct loop loop;
    void *context = middle_context();

    loop.stream_count = count - 4;
    check(loop.stream_count >= 1 && loop.stream_count <= STREAMS_MAX,
          "endpoints");
    loop.eager = eager_new(arguments[1], loop.stream_count);
    loop.source = middle_source(context, ZMQ_SUB, arguments[2], arguments[3]);
    for (int i = 0; i < loop.stream_count; i++)
        loop.streams[i].socket =
            middle_stream(context, ZMQ_PUB, arguments[2], arguments[i + 4]);
    msgpack_unpacked_init(&loop.unpacked);
    for (;;)
        receive(&loop);
}

/*
 * hand_loop - receive and send, nothing else
 *
 *   hand_loop QUEUE SOURCE STREAM...
 *
 * What a gateway costs that decodes nothing: whole messages go to the streams
 * in turn, frame by frame, without a copy.
 */
#include "check.h"
#include "middle.h"

enum { STREAMS_MAX = 64 };

static void pass_message(void *source, void *stream)
{
    zmq_msg_t frame;
    int more = 1;

    zmq_msg_init(&frame);
    while (more) {
        check(zmq_msg_recv(&frame, source, 0) >= 0, "receive");
        more = zmq_msg_more(&frame);
        check(zmq_msg_send(&frame, stream, more ? ZMQ_SNDMORE : 0) >= 0,
              "send");
    }
}

int main(int count, char **arguments)
{
    void *context = middle_context();
    void *streams[STREAMS_MAX];
    int stream_count = count - 3;
    void *source;

    check(stream_count >= 1 && stream_count <= STREAMS_MAX, "endpoints");
    source = middle_source(context, ZMQ_SUB, arguments[1], arguments[2]);
    for (int i = 0; i < stream_count; i++)
        streams[i] =
            middle_stream(context, ZMQ_PUB, arguments[1], arguments[i + 3]);
    for (int i = 0;; i = (i + 1) % stream_count)
        pass_message(source, streams[i]);
}

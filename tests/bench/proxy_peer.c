/*
 * proxy_peer - libzmq's own proxy between the same two sockets
 *
 *   proxy_peer QUEUE SOURCE STREAM
 */
#include "check.h"
#include "middle.h"

int main(int count, char **arguments)
{
    void *context = middle_context();

    check(count == 4, "three arguments");
    return zmq_proxy(
        middle_source(context, ZMQ_XSUB, arguments[1], arguments[2]),
        middle_stream(context, ZMQ_XPUB, arguments[1], arguments[3]), NULL);
}

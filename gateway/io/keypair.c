#include "io/keypair.h"

#include "io/socket.h"

#include <errno.h>
#include <zmq.h>

bool keypair_make(struct keypair *pair, struct error *error)
{
    if (!socket_has_curve())
        error_set(error, "this libzmq is built without CURVE");
    else if (zmq_curve_keypair(pair->public_key, pair->secret_key) != 0)
        error_set(error, "cannot make a key: %s", zmq_strerror(errno));
    return !error_is_set(error);
}

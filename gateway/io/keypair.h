/*
 * keypair - keys for CURVE, as Z85 text
 */
#ifndef IO_KEYPAIR_H
#define IO_KEYPAIR_H

#include "base/error.h"
#include "base/security.h"

#include <stdbool.h>

struct keypair {
    char public_key[Z85_KEY + 1];
    char secret_key[Z85_KEY + 1]; /* the caller wipes it */
};

/* A new pair; false and `error` when this libzmq has no CURVE. */
bool keypair_make(struct keypair *pair, struct error *error);

#endif

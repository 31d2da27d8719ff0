/*
 * curve_options - the options of tap and sim that encrypt a socket
 */
#ifndef CLI_CURVE_OPTIONS_H
#define CLI_CURVE_OPTIONS_H

#include "base/error.h"
#include "base/security.h"
#include "cli/arguments.h"

#include <stdbool.h>

/* Texts are borrowed from argv. */
struct curve_options {
    const char *key_file;   /* our secret key */
    const char *server_key; /* the server's public key, or a file of it */
};

/* Rows of a table of options; `place` is the struct's offset in its target. */
#define CURVE_ARGUMENTS(place)                                                 \
    {.name = "curve-key",                                                      \
     .value = "FILE",                                                          \
     .kind = ARGUMENT_TEXT,                                                    \
     .offset = (place) + offsetof(struct curve_options, key_file),             \
     .help = "our secret key, as kvgate keygen writes it; without a server "   \
             "key we are the server"},                                         \
    {                                                                          \
        .name = "curve-server-key", .value = "KEY|FILE",                       \
        .kind = ARGUMENT_TEXT,                                                 \
        .offset = (place) + offsetof(struct curve_options, server_key),        \
        .help = "the server's public key: we are its client, with a key made " \
                "up unless --curve-key says one"                               \
    }

/* Make `security` of them, which stays empty where there are none.  Its owner
 * clears it. */
bool curve_options_read(const struct curve_options *options, bool bind,
                        struct security *security, struct error *error);

#endif

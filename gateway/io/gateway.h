/*
 * gateway - a relay with its sockets, admin server and configuration
 *
 *   draft ─ gateway_open ─ (loop) ─ gateway_close
 *                             └─ gateway_reload: all or nothing
 */
#ifndef IO_GATEWAY_H
#define IO_GATEWAY_H

#include "base/buffer.h"
#include "base/error.h"
#include "io/admin.h"
#include "io/draft.h"
#include "io/ports.h"
#include "io/reload.h"
#include "relay/relay.h"

#include <stdbool.h>
#include <stdint.h>

struct gateway {
    struct relay *relay;               /* owned */
    const char *path;                  /* of the configuration; borrowed */
    const struct installed *installed; /* borrowed */
    struct config *config;             /* in force */
    struct wire wire;
    struct ports *ports;
    struct admin *admin; /* NULL: none configured */
    uint64_t generation; /* 1 after the start, one more each reload */
};

/*
 * Open all sockets and put `draft` into force.  Takes it when it succeeds;
 * `path` and `installed` are what a reload reads again.  NULL and `error` when
 * an address can't be had.
 */
struct gateway *gateway_open(struct draft *draft, const char *path,
                             const struct installed *installed,
                             struct error *error);

/* Send what is in hand and close everything, in less than a second. */
void gateway_close(struct gateway *gateway);

/* Read the configuration again, between two messages.  `reload`, of which
 * `force` is set, and the log say what came of it. */
void gateway_reload(struct gateway *gateway, struct reload *reload);

/* Read what happened to the connections of a source. */
void gateway_watch(struct gateway *gateway, size_t source);

/* Answer who may come in. */
void gateway_let_in(struct gateway *gateway);

/* Every few milliseconds: see that no subscriber holds more than it may.  True:
 * one does, and is to be looked at again soon. */
bool gateway_relieve(struct gateway *gateway, uint64_t now_ms);

/* Once a second: look after what nothing else wakes. */
void gateway_service(struct gateway *gateway);

#endif

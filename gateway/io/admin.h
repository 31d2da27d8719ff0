/*
 * admin - the HTTP server for operators
 *
 *   GET  /healthz  ok, as long as the loop turns
 *   GET  /readyz   ok, or 503 and what is missing
 *   GET  /metrics  Prometheus text
 *   GET  /status   JSON
 *   POST /reload   reads the configuration again; 200, or 409 or 422 and what
 *                  is wrong
 *
 * GET is free.  POST wants `Authorization: Bearer TOKEN` when there is a token;
 * and a browser's only from a page of this server itself.
 *
 * No threads: the loop polls admin_descriptor and calls admin_run, which never
 * blocks.  Connections, how long they last and the size of requests are
 * bounded.
 */
#ifndef IO_ADMIN_H
#define IO_ADMIN_H

#include "base/buffer.h"
#include "base/error.h"
#include "io/reload.h"

#include <stdbool.h>
#include <stdint.h>

struct admin;

/* Where the answers come from.  Each appends its text. */
struct admin_pages {
    void *context;
    void (*metrics)(void *context, struct buffer *out);
    void (*status)(void *context, struct buffer *out);
    bool (*ready)(void *context, struct buffer *out);
    void (*reload)(void *context, struct reload *reload); /* does it */
};

/* NULL and `error` when the address cannot be had.  Caller closes. */
struct admin *admin_open(const char *host, uint16_t port,
                         const struct admin_pages *pages, struct error *error);
void admin_close(struct admin *admin);

/* What a POST must bring from now on; NULL: nothing.  Copied. */
void admin_set_token(struct admin *admin, const char *token);

/* "127.0.0.1:9480", as it really is.  Borrowed. */
const char *admin_address(const struct admin *admin);

/* To poll for reading, for admin_timeout at the most. */
int admin_descriptor(const struct admin *admin);

/* Milliseconds until admin_run must be called anyway; -1: no need. */
int admin_timeout(const struct admin *admin);

/* Serve what is due. */
void admin_run(struct admin *admin);

#endif

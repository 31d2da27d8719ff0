/*
 * zap - who is let in: ZeroMQ's authentication protocol (RFC 27)
 *
 *   libzmq ─ who comes, with which key, to which door ─► zap
 *          ◄─ 200, or 400 ──────────────────────────────
 *
 * A door is one socket that is a CURVE or PLAIN server.  libzmq asks about
 * each connection once, at its handshake: who is in stays in when the list
 * changes, until it comes again.  Served by the loop's thread, which never
 * waits here.
 */
#ifndef IO_ZAP_H
#define IO_ZAP_H

#include "base/error.h"
#include "base/security.h"

#include <stdint.h>

struct zap;

/* One for a context, before its sockets.  NULL and `error` when libzmq gives
 * none.  Caller frees, before the context. */
struct zap *zap_new(void *context, struct error *error);
void zap_free(struct zap *zap);

/* To poll on once zap_serve came back, see socket_descriptor. */
int zap_descriptor(const struct zap *zap);

/* Answer all that is asked. */
void zap_serve(struct zap *zap);

enum { ZAP_DOMAIN = 24 };

/*
 * A new door for the socket of `owner` (source "store").  Returns its number,
 * of which zap_domain makes the socket's ZMQ_ZAP_DOMAIN.  `security` is
 * borrowed until zap_set_door or zap_close_door.
 */
uint64_t zap_open_door(struct zap *zap, const char *owner,
                       const struct security *security);
void zap_set_door(struct zap *zap, uint64_t number, const char *owner,
                  const struct security *security);
/* 0 is no door. */
void zap_close_door(struct zap *zap, uint64_t number);

void zap_domain(uint64_t number, char domain[ZAP_DOMAIN]);

#endif

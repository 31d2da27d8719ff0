/*
 * config_parts - the readers of the configuration's larger parts
 *
 * Each has a file: config_source.c, config_stream.c, config_filter.c,
 * config_accept.c, config_limits.c, config_letters.c, config_security.c;
 * config_whole.c and config_addresses.c look at what no part can see alone.
 */
#ifndef BASE_CONFIG_PARTS_H
#define BASE_CONFIG_PARTS_H

#include "base/config_judge.h"

/* Into judge->config; `field` is not used. */
void config_read_sources(struct config_judge *judge,
                         const struct config_value *value, void *field);
void config_read_streams(struct config_judge *judge,
                         const struct config_value *value, void *field);

/* Into config->dead_letters. */
void config_read_dead_letters(struct config_judge *judge,
                              const struct config_value *value, void *field);

/* struct config_limits, which has its defaults already */
void config_read_limits(struct config_judge *judge,
                        const struct config_value *value, void *field);

/* enum config_jit */
void config_read_jit(struct config_judge *judge,
                     const struct config_value *value, void *field);

/* struct config_filters */
void config_read_filters(struct config_judge *judge,
                         const struct config_value *value, void *field);

/* struct config_stream, whose accept it fills */
void config_read_accept(struct config_judge *judge,
                        const struct config_value *value, void *field);

/* struct config_socket, whose security they make */
void config_read_curve(struct config_judge *judge,
                       const struct config_value *value, void *field);
void config_read_plain(struct config_judge *judge,
                       const struct config_value *value, void *field);

/* Behind the other keys of the socket: which end is the server, and what it
 * must have. */
void config_check_security(struct config_judge *judge,
                           struct config_socket *socket);

/* Names, and which source feeds which stream. */
void config_check_whole(struct config_judge *judge);

/* A filter that wants dead letters where there are none, a stream that has
 * their name. */
void config_check_letters(struct config_judge *judge);

/* Sockets bound twice, and loops. */
void config_check_addresses(struct config_judge *judge);

/* What lies under it. */
void config_socket_clear(struct config_socket *socket);
void config_source_clear(struct config_source *source);
void config_stream_clear(struct config_stream *stream);
void config_filters_clear(struct config_filters *filters);
void config_accept_clear(struct config_stream *stream);

#endif

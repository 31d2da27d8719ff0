/*
 * try_keys - what an event's object key says, by the conventions at hand
 *
 * Asks the ready filter explain_key.lua, in a gateway's heart of its own.
 */
#ifndef CLI_TRY_KEYS_H
#define CLI_TRY_KEYS_H

#include "cli/try_core.h"

/* `config`: of the subject; the conventions that the options of its filters
 * name are asked for, or all common ones.  False with a line for each mistake;
 * free it all the same. */
bool try_keys_open(struct try_core *keys, const struct config *config,
                   struct buffer *mistakes);

/* A msgpack map, borrowed until the next call; NULL: the event has no key. */
const uint8_t *try_keys_read(struct try_core *keys, const uint8_t *event,
                             size_t size);

#endif

/*
 * config_scalar - one scalar: its ${VARIABLES}, its kind
 *
 * A plain scalar means what YAML 1.2's core schema says: null, true, 42, 0x2a,
 * 1.5, else a string.  A quoted one is a string.  Integers are exact up to 64
 * bits.  Variables are put in before the kind is looked at, so that
 * `hwm: ${HWM}` can be a number.
 */
#ifndef BASE_CONFIG_SCALAR_H
#define BASE_CONFIG_SCALAR_H

#include "base/config.h"
#include "base/error.h"

/*
 * Append `text` with ${NAME} and ${NAME:-default} replaced from the
 * environment; $${ stands for ${ itself.  False and `error` when a variable is
 * not set or the form is wrong.
 */
bool config_expand(struct buffer *out, const char *text, size_t size,
                   struct error *error);

/* Give `value` the kind that the plain scalar `text` has; takes a copy of it
 * when it is a string.  False: an integer that no 64 bits hold. */
bool config_resolve(struct config_value *value, const char *text, size_t size);

#endif

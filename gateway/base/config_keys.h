/*
 * config_keys - what every map of the file must hold to
 *
 * A key is a scalar with one place in a Lua table, and stands there once.
 */
#ifndef BASE_CONFIG_KEYS_H
#define BASE_CONFIG_KEYS_H

#include "base/config_mistakes.h"

/* Tell what is wrong with the keys of `map`, and mark those as broken. */
void config_check_keys(struct config_value *map,
                       struct config_mistakes *mistakes);

#endif

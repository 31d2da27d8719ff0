/*
 * key_border - the functions that border.keys points to
 */
#ifndef SCRIPT_KEY_BORDER_H
#define SCRIPT_KEY_BORDER_H

#include "script/keys/key_abi.h"

extern const struct key_border key_border;

#endif

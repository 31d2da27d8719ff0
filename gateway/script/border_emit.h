/*
 * border_emit - events that a filter makes, as lua/kvgate/emit.lua wants them
 */
#ifndef SCRIPT_BORDER_EMIT_H
#define SCRIPT_BORDER_EMIT_H

#include "script/border_abi.h"

/* Fill border->make and border->emit. */
void border_emit_init(struct border *border);

#endif

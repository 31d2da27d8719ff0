/*
 * border_log - lines that scripts write into the log
 */
#ifndef SCRIPT_BORDER_LOG_H
#define SCRIPT_BORDER_LOG_H

#include "script/border_abi.h"

void border_log_init(struct border *border);

#endif

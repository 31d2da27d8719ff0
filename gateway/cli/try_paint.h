/*
 * try_paint - words of kvgate try in their colour, on terminals that want any
 */
#ifndef CLI_TRY_PAINT_H
#define CLI_TRY_PAINT_H

#include "cli/try_print.h"

enum try_paint {
    PAINT_PLAIN = 0,
    PAINT_DIM,
    PAINT_BOLD,
    PAINT_GOOD,    /* kept */
    PAINT_LITTLE,  /* dropped */
    PAINT_SEVERAL, /* split, emitted */
    PAINT_BAD,     /* lost */
    PAINT_OLD,     /* a field as it was */
    PAINT_NEW,     /* and as it is */
};

void try_paint(const struct try_print *print, enum try_paint paint,
               const char *format, ...) __attribute__((format(printf, 3, 4)));

#endif

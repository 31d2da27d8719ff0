#include "cli/try_paint.h"

#include <stdarg.h>

void try_paint(const struct try_print *print, enum try_paint paint,
               const char *format, ...)
{
    static const char *const codes[] = {
        [PAINT_DIM] = "2",        [PAINT_BOLD] = "1",
        [PAINT_GOOD] = "1;32",    [PAINT_LITTLE] = "1;33",
        [PAINT_SEVERAL] = "1;36", [PAINT_BAD] = "1;31",
        [PAINT_OLD] = "31",       [PAINT_NEW] = "32",
    };
    bool coloured = print->colour && paint != PAINT_PLAIN;
    va_list args;

    if (coloured)
        buffer_print(print->out, "\033[%sm", codes[paint]);
    va_start(args, format);
    buffer_vprint(print->out, format, args);
    va_end(args);
    if (coloured)
        buffer_print(print->out, "\033[0m");
}

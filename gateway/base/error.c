#include "base/error.h"

#include <stdio.h>
#include <string.h>

static void mark_cut(struct error *error)
{
    memcpy(error->text + sizeof error->text - 4, "...", 4);
}

void error_set(struct error *error, const char *format, ...)
{
    va_list args;
    int length;

    if (error_is_set(error))
        return;
    va_start(args, format);
    length = vsnprintf(error->text, sizeof error->text, format, args);
    va_end(args);
    if (length >= (int)sizeof error->text)
        mark_cut(error);
}

void error_prefix(struct error *error, const char *format, ...)
{
    struct error old = *error;
    va_list args;
    size_t used;
    int length;

    va_start(args, format);
    length = vsnprintf(error->text, sizeof error->text, format, args);
    va_end(args);
    used = strlen(error->text);
    if (length >= 0)
        length = snprintf(error->text + used, sizeof error->text - used, ": %s",
                          old.text);
    if (length >= (int)(sizeof error->text - used))
        mark_cut(error);
}

bool error_is_set(const struct error *error)
{
    return error->text[0] != '\0';
}

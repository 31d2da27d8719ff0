#include "base/memory.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Out of memory is no place for stdio: it may want to allocate. */
_Noreturn void memory_exhausted(void)
{
    static const char line[] = "kvgate: out of memory\n";
    ssize_t written = write(STDERR_FILENO, line, sizeof line - 1);

    (void)written;
    abort();
}

void *memory_new(size_t size)
{
    void *block = calloc(1, size > 0 ? size : 1);

    if (block == NULL)
        memory_exhausted();
    return block;
}

void *memory_resize(void *block, size_t size)
{
    void *moved = realloc(block, size > 0 ? size : 1);

    if (moved == NULL)
        memory_exhausted();
    return moved;
}

char *memory_text(const char *text, size_t size)
{
    char *copy;

    if (size == SIZE_MAX)
        memory_exhausted();
    copy = memory_new(size + 1);
    if (size > 0)
        memcpy(copy, text, size);
    return copy;
}

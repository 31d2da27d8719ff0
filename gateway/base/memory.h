/*
 * memory - allocation that cannot fail quietly
 *
 * Every size asked for here is bounded by the caller, so running out means
 * that the machine is out of memory: the process says so in one line and ends
 * (a supervisor restarts it; the loss shows as a gap).  Callers never test.
 */
#ifndef BASE_MEMORY_H
#define BASE_MEMORY_H

#include <stddef.h>

/* `size` zeroed bytes.  Caller frees with free(). */
void *memory_new(size_t size);

/* Grow or shrink `block` (may be NULL); new bytes are not initialised. */
void *memory_resize(void *block, size_t size);

/* A copy of `size` bytes of `text`, NUL-terminated.  Caller frees. */
char *memory_text(const char *text, size_t size);

/* Say that there is no more, and end. */
_Noreturn void memory_exhausted(void);

#endif

/*
 * buffer - bytes that grow
 *
 * Plain and open: `data[0 .. size)` is what was written.  A zeroed struct is an
 * empty buffer.  Memory is kept by buffer_clear and released by buffer_free.
 */
#ifndef BASE_BUFFER_H
#define BASE_BUFFER_H

#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

struct buffer {
    uint8_t *data;
    size_t size;
    size_t capacity;
};

/* Make room for `more` bytes behind `size`; returns where they start. */
uint8_t *buffer_reserve(struct buffer *buffer, size_t more);

void buffer_put(struct buffer *buffer, const void *bytes, size_t size);

/* printf into the buffer, without the closing NUL. */
void buffer_print(struct buffer *buffer, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
void buffer_vprint(struct buffer *buffer, const char *format, va_list args);

/* The content as a C string, borrowed until the next change. */
const char *buffer_text(struct buffer *buffer);

void buffer_clear(struct buffer *buffer);
void buffer_free(struct buffer *buffer);

#endif

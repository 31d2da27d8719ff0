#include "base/buffer.h"
#include "base/memory.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { BUFFER_FIRST = 256 };

/* At least half as much again, so that a run of small writes stays linear. */
static size_t grown(size_t capacity, size_t needed)
{
    size_t more = capacity + capacity / 2;

    if (more < BUFFER_FIRST)
        more = BUFFER_FIRST;
    return more > needed ? more : needed;
}

uint8_t *buffer_reserve(struct buffer *buffer, size_t more)
{
    /* A wrapped sum asks for memory that no machine has: see memory.h. */
    size_t needed =
        more > SIZE_MAX - buffer->size ? SIZE_MAX : buffer->size + more;

    if (needed > buffer->capacity || buffer->data == NULL) {
        buffer->capacity = grown(buffer->capacity, needed);
        buffer->data = memory_resize(buffer->data, buffer->capacity);
    }
    return buffer->data + buffer->size;
}

void buffer_put(struct buffer *buffer, const void *bytes, size_t size)
{
    if (size == 0)
        return;
    memcpy(buffer_reserve(buffer, size), bytes, size);
    buffer->size += size;
}

void buffer_print(struct buffer *buffer, const char *format, ...)
{
    va_list args;

    va_start(args, format);
    buffer_vprint(buffer, format, args);
    va_end(args);
}

void buffer_vprint(struct buffer *buffer, const char *format, va_list args)
{
    va_list again;
    int length;

    va_copy(again, args);
    length = vsnprintf(NULL, 0, format, again);
    va_end(again);
    if (length <= 0)
        return;
    buffer_reserve(buffer, (size_t)length + 1);
    vsnprintf((char *)buffer->data + buffer->size, (size_t)length + 1, format,
              args);
    buffer->size += (size_t)length;
}

const char *buffer_text(struct buffer *buffer)
{
    *buffer_reserve(buffer, 1) = '\0';
    return (const char *)buffer->data;
}

void buffer_clear(struct buffer *buffer)
{
    buffer->size = 0;
}

void buffer_free(struct buffer *buffer)
{
    free(buffer->data);
    *buffer = (struct buffer){0};
}

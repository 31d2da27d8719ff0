#include "base/recording.h"

#include "base/recording_format.h"

#include <string.h>

static void put_integer(struct buffer *out, uint64_t value, size_t size)
{
    uint8_t bytes[8];

    for (size_t i = 0; i < size; i++)
        bytes[i] = (uint8_t)(value >> 8 * (size - 1 - i));
    buffer_put(out, bytes, size);
}

void recording_put_head(struct buffer *out, uint64_t began_ms,
                        const char *const *names, size_t count)
{
    buffer_put(out, recording_magic, RECORDING_MAGIC_SIZE);
    put_integer(out, RECORDING_VERSION, 4);
    put_integer(out, began_ms, 8);
    put_integer(out, count, 2);
    for (size_t i = 0; i < count; i++) {
        size_t size = strnlen(names[i], RECORDING_NAME_MAX);

        put_integer(out, size, 2);
        buffer_put(out, names[i], size);
    }
}

/* Bytes of the body; more than RECORDING_BODY_MAX is any number above it. */
static size_t body_size(const struct recording_message *message)
{
    size_t size = RECORDING_BODY_HEAD;

    for (size_t i = 0; i < message->frame_count; i++) {
        if (message->frames[i].size > RECORDING_BODY_MAX)
            return (size_t)RECORDING_BODY_MAX + 1;
        size += 4 + message->frames[i].size;
    }
    return size;
}

bool recording_put(struct buffer *out, const struct recording_message *message)
{
    size_t size = body_size(message), start;

    if (size > RECORDING_BODY_MAX)
        return false;
    put_integer(out, size, 4);
    start = out->size;
    put_integer(out, message->time_ns, 8);
    put_integer(out, message->stream, 2);
    put_integer(out, message->frame_count, 2);
    for (size_t i = 0; i < message->frame_count; i++) {
        put_integer(out, message->frames[i].size, 4);
        buffer_put(out, message->frames[i].data, message->frames[i].size);
    }
    put_integer(out, recording_crc(out->data + start, size), 4);
    return true;
}

#include "base/recording.h"

#include "base/memory.h"
#include "base/recording_format.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { STEP = 1 << 20, HEAD_MAX = 8 };

struct recording {
    FILE *file;
    char *path;
    uint64_t began_ms;
    char *names[RECORDING_STREAMS_MAX];
    size_t count;
    long first; /* where the messages begin */
    uint64_t messages;
    struct buffer body;
};

/* ---- bytes ---- */

static uint64_t integer_at(const uint8_t *bytes, size_t size)
{
    uint64_t value = 0;

    for (size_t i = 0; i < size; i++)
        value = value << 8 | bytes[i];
    return value;
}

/* Append the next bytes to `body`, a step at a time: what a size claims may
 * not be there.  Returns how many came. */
static size_t read_bytes(struct recording *recording, size_t size)
{
    size_t done = 0;

    while (done < size) {
        size_t step = size - done < STEP ? size - done : STEP;
        uint8_t *place = buffer_reserve(&recording->body, step);
        size_t came = fread(place, 1, step, recording->file);

        recording->body.size += came;
        done += came;
        if (came < step)
            break;
    }
    return done;
}

static bool read_integer(struct recording *recording, size_t size,
                         uint64_t *value)
{
    uint8_t bytes[HEAD_MAX];

    if (fread(bytes, 1, size, recording->file) != size)
        return false;
    *value = integer_at(bytes, size);
    return true;
}

/* ---- the head ---- */

static bool refuse(const struct recording *recording, struct error *error,
                   const char *why)
{
    error_set(error, "%s: %s", recording->path, why);
    return false;
}

static bool read_magic(struct recording *recording, struct error *error)
{
    uint8_t bytes[RECORDING_MAGIC_SIZE];
    uint64_t version;

    if (fread(bytes, 1, sizeof bytes, recording->file) != sizeof bytes ||
        memcmp(bytes, recording_magic, sizeof bytes) != 0)
        return refuse(recording, error,
                      ferror(recording->file)
                          ? strerror(errno)
                          : "this is no recording of kvgate tap --record");
    if (!read_integer(recording, 4, &version))
        return refuse(recording, error, "the file ends in its head");
    if (version == RECORDING_VERSION)
        return true;
    error_set(error,
              "%s: a recording of version %" PRIu64
              ", this program reads version %d",
              recording->path, version, RECORDING_VERSION);
    return false;
}

static bool read_name(struct recording *recording, struct error *error)
{
    uint64_t size;

    buffer_clear(&recording->body);
    if (!read_integer(recording, 2, &size))
        return refuse(recording, error, "the file ends in its head");
    if (size > RECORDING_NAME_MAX)
        return refuse(recording, error,
                      "damaged: the name of a stream is "
                      "longer than it can be");
    if (read_bytes(recording, size) < size)
        return refuse(recording, error, "the file ends in its head");
    recording->names[recording->count++] =
        memory_text(buffer_text(&recording->body), size);
    return true;
}

static bool read_head(struct recording *recording, struct error *error)
{
    uint64_t count;

    if (!read_magic(recording, error))
        return false;
    if (!read_integer(recording, 8, &recording->began_ms) ||
        !read_integer(recording, 2, &count))
        return refuse(recording, error, "the file ends in its head");
    if (count == 0 || count > RECORDING_STREAMS_MAX)
        return refuse(recording, error,
                      "damaged: it has no stream, or more "
                      "than it can have");
    for (uint64_t i = 0; i < count; i++)
        if (!read_name(recording, error))
            return false;
    recording->first = ftell(recording->file);
    return true;
}

struct recording *recording_open(const char *path, struct error *error)
{
    struct recording *recording = memory_new(sizeof *recording);

    recording->path = memory_text(path, strlen(path));
    recording->file = fopen(path, "rb");
    if (recording->file == NULL)
        refuse(recording, error, strerror(errno));
    else if (read_head(recording, error))
        return recording;
    recording_close(recording);
    return NULL;
}

void recording_close(struct recording *recording)
{
    if (recording == NULL)
        return;
    if (recording->file != NULL)
        fclose(recording->file);
    for (size_t i = 0; i < recording->count; i++)
        free(recording->names[i]);
    buffer_free(&recording->body);
    free(recording->path);
    free(recording);
}

uint64_t recording_began_ms(const struct recording *recording)
{
    return recording->began_ms;
}

size_t recording_stream_count(const struct recording *recording)
{
    return recording->count;
}

const char *recording_stream_name(const struct recording *recording,
                                  size_t index)
{
    return recording->names[index];
}

/* ---- messages ---- */

static bool refuse_message(const struct recording *recording,
                           struct error *error, const char *why)
{
    error_set(error, "%s: message %" PRIu64 ": %s", recording->path,
              recording->messages + 1, why);
    return false;
}

/* Cut the body into frames; false when they are not what the body holds. */
static bool cut_frames(const struct recording *recording,
                       struct recording_message *message)
{
    const uint8_t *at = recording->body.data + RECORDING_BODY_HEAD;
    size_t left = recording->body.size - RECORDING_BODY_HEAD;

    for (size_t i = 0; i < message->frame_count; i++) {
        struct recording_frame *frame = &message->frames[i];

        if (left < 4)
            return false;
        frame->size = integer_at(at, 4);
        frame->data = at + 4;
        left -= 4;
        if (frame->size > left)
            return false;
        at += 4 + frame->size;
        left -= frame->size;
    }
    return left == 0;
}

static bool cut_body(const struct recording *recording,
                     struct recording_message *message)
{
    const uint8_t *bytes = recording->body.data;

    *message = (struct recording_message){
        .time_ns = integer_at(bytes, 8),
        .stream = integer_at(bytes + 8, 2),
        .frame_count = integer_at(bytes + 10, 2),
    };
    return message->stream < recording->count && message->frame_count > 0 &&
           message->frame_count <= RECORDING_FRAMES_MAX &&
           cut_frames(recording, message);
}

/* Read and check the body behind its size. */
static bool read_body(struct recording *recording, size_t size,
                      struct error *error)
{
    uint64_t crc;

    buffer_clear(&recording->body);
    if (read_bytes(recording, size) < size || !read_integer(recording, 4, &crc))
        return refuse_message(recording, error,
                              "the file ends in it; the recording was cut off, "
                              "or is still being written");
    if (recording_crc(recording->body.data, size) != crc)
        return refuse_message(recording, error,
                              "damaged: its checksum does not fit");
    return true;
}

/* The size of the next body.  False at the end, too. */
static bool read_size(struct recording *recording, uint64_t *size,
                      struct error *error)
{
    uint8_t bytes[4];
    size_t came = fread(bytes, 1, sizeof bytes, recording->file);

    if (ferror(recording->file))
        return refuse_message(recording, error, strerror(errno));
    if (came == 0)
        return false;
    if (came < sizeof bytes)
        return refuse_message(recording, error, "the file ends in it");
    *size = integer_at(bytes, sizeof bytes);
    if (*size >= RECORDING_BODY_HEAD && *size <= RECORDING_BODY_MAX)
        return true;
    return refuse_message(recording, error,
                          "damaged: it has a size that none can have");
}

bool recording_next(struct recording *recording,
                    struct recording_message *message, struct error *error)
{
    uint64_t size;

    if (!read_size(recording, &size, error) ||
        !read_body(recording, size, error))
        return false;
    if (!cut_body(recording, message))
        return refuse_message(recording, error,
                              "damaged: its frames are not what it says");
    recording->messages++;
    return true;
}

bool recording_rewind(struct recording *recording, struct error *error)
{
    recording->messages = 0;
    if (fseek(recording->file, recording->first, SEEK_SET) == 0)
        return true;
    return refuse(recording, error, strerror(errno));
}

/*
 * recording - messages of streams in a file, with the time of each
 *
 *   file     "\x89KVGREC\n"  u32 version  u64 began_ms  u16 streams  name…
 *   name     u16 size  bytes
 *   message  u32 size  body  u32 crc
 *   body     u64 time_ns  u16 stream  u16 frames  (u32 size  bytes)…
 *
 * All integers are big endian.  `began_ms` is wall-clock time; `time_ns` counts
 * from there by a clock that never jumps.  `size` is that of the body and `crc`
 * its CRC-32 as in zip files.  Frames are as they came, right or wrong.
 *
 * Nothing that a file says is believed: sizes are bounded, and memory grows
 * with what is really there.
 */
#ifndef BASE_RECORDING_H
#define BASE_RECORDING_H

#include "base/buffer.h"
#include "base/error.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    RECORDING_VERSION = 1,
    RECORDING_STREAMS_MAX = 64,
    RECORDING_NAME_MAX = 1024,   /* bytes */
    RECORDING_FRAMES_MAX = 16,   /* of a message */
    RECORDING_BODY_MAX = 1 << 28 /* bytes of one message */
};

struct recording_frame {
    const uint8_t *data;
    size_t size;
};

/* Pointers are borrowed until the next message is read. */
struct recording_message {
    uint64_t time_ns;
    size_t stream;
    struct recording_frame frames[RECORDING_FRAMES_MAX];
    size_t frame_count;
};

/* ---- writing ---- */

/* Names longer than RECORDING_NAME_MAX are cut. */
void recording_put_head(struct buffer *out, uint64_t began_ms,
                        const char *const *names, size_t count);

/* False, and nothing is put, when the message is larger than a body may be. */
bool recording_put(struct buffer *out, const struct recording_message *message);

/* ---- reading ---- */

struct recording;

/* NULL and `error` when the file is none that can be read.  Caller closes. */
struct recording *recording_open(const char *path, struct error *error);
void recording_close(struct recording *recording);

uint64_t recording_began_ms(const struct recording *recording);
size_t recording_stream_count(const struct recording *recording);
const char *recording_stream_name(const struct recording *recording,
                                  size_t index);

/* The next message.  False at the end, or with `error` where it is damaged. */
bool recording_next(struct recording *recording,
                    struct recording_message *message, struct error *error);

/* Start over with the first message. */
bool recording_rewind(struct recording *recording, struct error *error);

#endif

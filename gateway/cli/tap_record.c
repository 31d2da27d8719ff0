#include "cli/tap_record.h"

#include "base/recording.h"

#include <errno.h>
#include <string.h>
#include <time.h>

enum {
    NS_PER_S = 1000000000,
    NS_PER_MS = 1000000,
    GATHER_MAX = 1 << 20 /* bytes that gather before they are written */
};

_Static_assert((int)INLET_FRAMES_MAX == (int)RECORDING_FRAMES_MAX &&
                   (int)TAP_STREAMS_MAX == (int)RECORDING_STREAMS_MAX,
               "a recording takes what tap receives");

static uint64_t clock_ns(clockid_t clock)
{
    struct timespec now;

    clock_gettime(clock, &now);
    return (uint64_t)now.tv_sec * NS_PER_S + (uint64_t)now.tv_nsec;
}

bool tap_record_open(struct tap_record *record,
                     const struct tap_options *options, struct error *error)
{
    const char *names[TAP_STREAMS_MAX];

    if (options->record == NULL)
        return true;
    record->file = fopen(options->record, "wb");
    if (record->file == NULL) {
        error_set(error, "tap: --record %s: %s", options->record,
                  strerror(errno));
        return false;
    }
    for (size_t i = 0; i < options->endpoint_count; i++) {
        const struct tap_endpoint *endpoint = &options->endpoints[i];

        names[i] = endpoint->name != NULL ? endpoint->name : endpoint->endpoint;
    }
    recording_put_head(&record->bytes, clock_ns(CLOCK_REALTIME) / NS_PER_MS,
                       names, options->endpoint_count);
    record->began_ns = clock_ns(CLOCK_MONOTONIC);
    return true;
}

void tap_record_close(struct tap_record *record)
{
    if (record->file != NULL)
        fclose(record->file);
    buffer_free(&record->bytes);
}

void tap_record_message(struct tap_record *record, struct inlet *inlet,
                        size_t stream)
{
    struct recording_message message = {.stream = stream};

    if (record->file == NULL || record->failure != 0)
        return;
    message.time_ns = clock_ns(CLOCK_MONOTONIC) - record->began_ns;
    message.frame_count = inlet_frame_count(inlet);
    for (size_t i = 0; i < message.frame_count; i++)
        message.frames[i].data = inlet_frame(inlet, i, &message.frames[i].size);
    if (!recording_put(&record->bytes, &message))
        record->failure = EFBIG;
    else if (record->bytes.size >= GATHER_MAX)
        tap_record_flush(record);
}

bool tap_record_flush(struct tap_record *record)
{
    const struct buffer *bytes = &record->bytes;

    if (bytes->size == 0 || record->failure != 0)
        return record->failure == 0;
    if (fwrite(bytes->data, 1, bytes->size, record->file) != bytes->size ||
        fflush(record->file) != 0)
        record->failure = errno;
    buffer_clear(&record->bytes);
    return record->failure == 0;
}

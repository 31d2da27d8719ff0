#include "cli/sim_replay.h"

#include "base/buffer.h"

#include <string.h>

static void list_streams(const struct sim_replay *replay, struct error *error)
{
    struct buffer names = {0};

    for (size_t i = 0; i < recording_stream_count(replay->recording); i++)
        buffer_print(&names, "%s%s", i > 0 ? ", " : "",
                     recording_stream_name(replay->recording, i));
    error_set(error, "%s: --stream must name one of its streams: %s",
              replay->options->from, buffer_text(&names));
    buffer_free(&names);
}

static bool find_stream(struct sim_replay *replay, struct error *error)
{
    const char *wanted = replay->options->stream;
    size_t count = recording_stream_count(replay->recording);

    if (wanted == NULL && count == 1)
        return true;
    for (size_t i = 0; i < count && wanted != NULL; i++) {
        if (strcmp(recording_stream_name(replay->recording, i), wanted) == 0) {
            replay->stream = i;
            return true;
        }
    }
    list_streams(replay, error);
    return false;
}

bool sim_replay_open(struct sim_replay *replay,
                     const struct sim_options *options, struct error *error)
{
    *replay = (struct sim_replay){.options = options};
    replay->recording = recording_open(options->from, error);
    return replay->recording != NULL && find_stream(replay, error);
}

void sim_replay_close(struct sim_replay *replay)
{
    recording_close(replay->recording);
}

/* The next message of the stream. */
static bool next_message(const struct sim_replay *replay,
                         struct recording_message *message, struct error *error)
{
    do
        if (!recording_next(replay->recording, message, error))
            return false;
    while (message->stream != replay->stream);
    return true;
}

static void send_message(struct sim_replay *replay, struct publisher *publisher,
                         const struct recording_message *message)
{
    struct publisher_frame frames[RECORDING_FRAMES_MAX];

    for (size_t i = 0; i < message->frame_count; i++)
        frames[i] = (struct publisher_frame){message->frames[i].data,
                                             message->frames[i].size};
    publisher_send(publisher, frames, message->frame_count);
    replay->messages++;
}

/* Sleep until the message is due, `first_ns` being the time of the first. */
static bool wait_for(struct sim_replay *replay, uint64_t first_ns,
                     uint64_t time_ns, int stop)
{
    uint64_t offset = time_ns > first_ns ? time_ns - first_ns : 0;
    double speed = replay->options->speed;

    if (speed == 0)
        return sim_pace_wait(&replay->pace, 0, stop);
    return sim_pace_wait_until(&replay->pace,
                               (uint64_t)((double)offset / speed), stop);
}

/* Once from the first to the last. */
static bool run_round(struct sim_replay *replay, struct publisher *publisher,
                      int stop, struct error *error)
{
    struct recording_message message;
    uint64_t first_ns = 0;

    sim_pace_start(&replay->pace, 0);
    for (bool first = true; next_message(replay, &message, error);
         first = false) {
        if (first)
            first_ns = message.time_ns;
        if (!wait_for(replay, first_ns, message.time_ns, stop))
            return false;
        send_message(replay, publisher, &message);
    }
    return !error_is_set(error);
}

bool sim_replay_run(struct sim_replay *replay, struct publisher *publisher,
                    int stop, struct error *error)
{
    do {
        replay->rounds++;
        if (!recording_rewind(replay->recording, error) ||
            !run_round(replay, publisher, stop, error))
            return false;
        if (replay->messages == 0)
            error_set(error, "%s: there is no message of the stream in it",
                      replay->options->from);
    } while (replay->options->loop && !error_is_set(error));
    return !error_is_set(error);
}

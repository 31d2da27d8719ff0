#include "cli/try_feed.h"

#include "base/recording.h"
#include "base/recording_format.h"
#include "cli/tap_body.h"
#include "cli/try_diff.h"
#include "cli/try_keys.h"
#include "codec/cursor.h"
#include "codec/json_read.h"
#include "relay/sequence.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    MISTAKES_MAX = 10, /* wrong lines of a file that is given up then */
    NS_PER_MS = 1000000
};

/* ---- what is told ---- */

static void write_out(const struct try_feed *feed)
{
    fwrite(feed->print->out->data, 1, feed->print->out->size, stdout);
    fflush(stdout);
    buffer_clear(feed->print->out);
}

/* The name of a source, where there are several. */
static const char *name_of(const struct try_feed *feed, size_t source)
{
    const struct config *config = feed->core->config;

    return config->source_count > 1 ? config->sources[source].name : NULL;
}

/* What came, and what went out. */
static void see_fields(struct try_feed *feed, const uint8_t *event)
{
    const struct try_core *core = feed->core;

    try_reads_see(&feed->reads, event);
    for (size_t i = 0; i < core->out_count; i++)
        for (uint32_t j = 0; j < core->outs[i].events; j++)
            try_reads_see(&feed->reads, try_out_event(&core->outs[i], j));
}

static void run_event(struct try_feed *feed, size_t source,
                      const struct try_moment *moment, const uint8_t *event)
{
    size_t size = (size_t)(cursor_skip(event) - event);
    struct try_told told = {.source = name_of(feed, source), .event = event};

    told.verdict = try_core_send(feed->core, source, moment, event, size);
    see_fields(feed, event);
    if (feed->keys != NULL)
        told.key = try_keys_read(feed->keys, event, size);
    try_print_event(feed->print, &told);
    write_out(feed);
}

static void tell_mark(struct try_feed *feed, size_t source, const char *kind,
                      uint64_t missing, const char *reason)
{
    try_print_mark(
        feed->print,
        &(struct try_mark){.kind = kind,
                           .source = feed->core->config->sources[source].name,
                           .missing = missing,
                           .reason = reason});
    write_out(feed);
}

static void run_gap(struct try_feed *feed, size_t source, uint64_t missing)
{
    try_core_gap(feed->core, source, missing);
    tell_mark(feed, source, "gap", missing, NULL);
}

static void run_restart(struct try_feed *feed, size_t source)
{
    try_core_restart(feed->core, source);
    tell_mark(feed, source, "restart", 0, NULL);
}

/* Did anything come of what the core did last? */
static bool is_worth_a_word(const struct try_core *core)
{
    bool any = core->log.size > 0;

    for (size_t i = 0; i < core->out_count; i++)
        any = any || core->outs[i].events > 0;
    for (size_t i = 0; i < core->step_count; i++)
        any = any || core->steps[i].did.errors > 0;
    return any;
}

/* It is that time now: timers run. */
static void pass_time(struct try_feed *feed, uint64_t wall_ms)
{
    if (feed->began_ms == 0)
        feed->began_ms = wall_ms;
    if (wall_ms <= feed->wall_ms)
        return;
    feed->wall_ms = wall_ms;
    try_core_tick(feed->core, wall_ms - feed->began_ms, wall_ms);
    if (!is_worth_a_word(feed->core))
        return;
    try_print_mark(feed->print, &(struct try_mark){.kind = "tick"});
    write_out(feed);
}

/* The source that is called like that stream, or the first one. */
static size_t find_source(const struct try_feed *feed, const void *name,
                          size_t size)
{
    const struct config *config = feed->core->config;

    for (size_t i = 0; i < config->source_count; i++)
        if (strlen(config->sources[i].name) == size &&
            memcmp(config->sources[i].name, name, size) == 0)
            return i;
    return 0;
}

/* ---- lines ---- */

static bool is_text(const uint8_t *at, const char *text)
{
    return cursor_is_text(at, text, strlen(text));
}

/* What tap writes beside the event's own fields. */
static bool is_place(const uint8_t *name)
{
    return is_text(name, "seq") || is_text(name, "position") ||
           is_text(name, "stream") || is_text(name, "topic");
}

/* The event's own fields of a line. */
static void take_fields(const uint8_t *line, struct buffer *event)
{
    struct buffer fields = {0};
    uint32_t count = 0;
    uint8_t header[] = {0xdf, 0, 0, 0, 0};

    for (uint32_t left = cursor_enter(&line); left > 0; left--) {
        const uint8_t *end = cursor_skip(cursor_skip(line));

        if (!is_place(line)) {
            buffer_put(&fields, line, (size_t)(end - line));
            count++;
        }
        line = end;
    }
    for (size_t i = 0; i < 4; i++)
        header[4 - i] = (uint8_t)(count >> 8 * i);
    buffer_put(event, header, sizeof header);
    buffer_put(event, fields.data, fields.size);
    buffer_free(&fields);
}

/* A member of a mark as a number; 0: there is none. */
static uint64_t number_in(const uint8_t *mark, const char *name)
{
    const uint8_t *value = try_field(mark, name);
    uint64_t number = 0;

    return value != NULL && cursor_u64(value, &number) ? number : 0;
}

/* What tap writes between events; false: the line is none of it. */
static bool run_mark(struct try_feed *feed, size_t source, const uint8_t *line)
{
    const uint8_t *gap = try_field(line, "gap");

    if (gap != NULL && number_in(gap, "missing") > 0)
        run_gap(feed, source, number_in(gap, "missing"));
    else if (try_field(line, "restart") != NULL)
        run_restart(feed, source);
    else
        return try_field(line, "announcement") != NULL ||
               try_field(line, "malformed") != NULL;
    return true;
}

static const uint8_t *integer_field(const uint8_t *event, const char *name)
{
    const uint8_t *value = try_field(event, name);
    int64_t number;

    return value != NULL && cursor_i64(value, &number) ? value : NULL;
}

/* The source that is called as the field says. */
static size_t source_in(const struct try_feed *feed, const uint8_t *map,
                        const char *field)
{
    const uint8_t *name = try_field(map, field);
    uint32_t size;

    if (name == NULL || cursor_kind(name) != CURSOR_STR)
        return 0;
    name = cursor_bytes(name, &size);
    return find_source(feed, name, size);
}

static void run_alone(struct try_feed *feed, size_t source,
                      const uint8_t *event)
{
    struct try_moment moment = {.timestamp = integer_field(event, "timestamp"),
                                .rank = integer_field(event, "dp_rank")};
    uint64_t wall_ms;

    if (moment.timestamp != NULL && cursor_u64(moment.timestamp, &wall_ms))
        pass_time(feed, wall_ms);
    run_event(feed, source, &moment, event);
}

/* Run the event that a dead letter is about; false: it is no letter. */
static bool run_letter(struct try_feed *feed, const uint8_t *letter)
{
    const uint8_t *event = try_field(letter, "event");

    if (event == NULL || cursor_kind(event) != CURSOR_MAP ||
        try_field(letter, "filter") == NULL ||
        try_field(letter, "error") == NULL)
        return false;
    run_alone(feed, source_in(feed, letter, "source"), event);
    return true;
}

static void run_map(struct try_feed *feed, const uint8_t *line)
{
    size_t source = source_in(feed, line, "stream");
    struct buffer event = {0};

    if (run_letter(feed, line) || run_mark(feed, source, line))
        return;
    take_fields(line, &event);
    run_alone(feed, source, event.data);
    buffer_free(&event);
}

static bool run_line(struct try_feed *feed, const char *line, size_t size,
                     size_t *column, struct error *error)
{
    struct buffer value = {0};
    bool done = json_read(&value, line, size, column, error);

    if (done && cursor_kind(value.data) != CURSOR_MAP) {
        error_set(error, "expected an event, {\"event_type\": …}, not %s",
                  cursor_kind_name(cursor_kind(value.data)));
        *column = strspn(line, " \t") + 1;
        done = false;
    }
    if (done)
        run_map(feed, value.data);
    buffer_free(&value);
    return done;
}

static bool run_lines(struct try_feed *feed, FILE *file, const char *path)
{
    char *line = NULL;
    size_t room = 0;
    ssize_t size;
    int mistakes = 0;

    errno = 0;
    for (unsigned long number = 1;
         mistakes < MISTAKES_MAX && (size = getline(&line, &room, file)) >= 0;
         number++) {
        struct error error = {0};
        size_t column = 0;

        /* A line's end is no part of it. */
        if (size > 0 && line[size - 1] == '\n')
            size--;
        if (strspn(line, " \t\r\n") >= (size_t)size ||
            run_line(feed, line, (size_t)size, &column, &error))
            continue;
        fprintf(stderr, "%s:%lu:%zu: %s\n", path, number, column, error.text);
        mistakes++;
    }
    free(line);
    if (ferror(file))
        fprintf(stderr, "%s: cannot be read: %s\n", path, strerror(errno));
    if (mistakes == MISTAKES_MAX)
        fprintf(stderr, "%s: given up after %d wrong lines\n", path, mistakes);
    return mistakes == 0 && !ferror(file);
}

/* ---- recordings ---- */

static void run_spoilt(struct try_feed *feed, size_t source,
                       const struct recording_message *recorded,
                       const char *reason)
{
    const struct recording_frame *frames = recorded->frames;
    struct message message = {.frames = recorded->frame_count};

    if (recorded->frame_count == 3) {
        message.sequence = frames[1].data;
        message.sequence_size = frames[1].size;
        message.payload = frames[2].data;
        message.payload_size = frames[2].size;
    }
    try_core_spoilt(feed->core, source, message);
    tell_mark(feed, source, "malformed", 0, reason);
}

/* What the numbers tell, as tap tells it. */
static void run_number(struct try_feed *feed, size_t source,
                       struct seq_tracker *tracker, uint64_t number,
                       const struct tap_body *body)
{
    struct seq_judgement judgement =
        seq_track(tracker, number, body->first_id, body->last_id);

    if (judgement.verdict == SEQ_GAP)
        run_gap(feed, source, judgement.missing);
    if (judgement.verdict == SEQ_RESTART)
        run_restart(feed, source);
}

static void run_message(struct try_feed *feed, size_t source,
                        struct seq_tracker *tracker,
                        const struct recording_message *message)
{
    const struct recording_frame *frames = message->frames;
    struct tap_body body;
    const char *reason = "it has not three frames with a number of 8 bytes";
    struct try_moment moment;

    if (message->frame_count != 3 || frames[1].size != 8) {
        run_spoilt(feed, source, message, reason);
        return;
    }
    reason = tap_body_open(&body, frames[2].data, frames[2].size);
    run_number(feed, source, tracker, seq_read(frames[1].data), &body);
    if (reason != NULL) {
        run_spoilt(feed, source, message, reason);
        return;
    }
    moment = (struct try_moment){body.timestamp, body.rank};
    for (const uint8_t *at = body.events; body.count > 0; body.count--) {
        if (!run_letter(feed, at))
            run_event(feed, source, &moment, at);
        at = cursor_skip(at);
    }
}

static bool run_recording(struct try_feed *feed, const char *path)
{
    struct error error = {0};
    struct recording *recording = recording_open(path, &error);
    struct seq_tracker trackers[RECORDING_STREAMS_MAX] = {0};
    struct recording_message message;

    while (recording != NULL && recording_next(recording, &message, &error)) {
        const char *name = recording_stream_name(recording, message.stream);

        pass_time(feed,
                  recording_began_ms(recording) + message.time_ns / NS_PER_MS);
        run_message(feed, find_source(feed, name, strlen(name)),
                    &trackers[message.stream], &message);
    }
    if (recording != NULL)
        recording_close(recording);
    if (error_is_set(&error))
        fprintf(stderr, "kvgate try: %s\n", error.text);
    return !error_is_set(&error);
}

bool try_feed_file(struct try_feed *feed, const char *path)
{
    bool is_input = strcmp(path, "-") == 0;
    FILE *file = is_input ? stdin : fopen(path, "rb");
    int first;
    bool done;

    if (file == NULL) {
        fprintf(stderr, "%s: %s\n", path, strerror(errno));
        return false;
    }
    first = ungetc(getc(file), file);
    if (ferror(file))
        done = fprintf(stderr, "%s: cannot be read: %s\n", path,
                       strerror(errno)) < 0;
    else if (first != recording_magic[0])
        done = run_lines(feed, file, is_input ? "standard input" : path);
    else if (!is_input)
        done = run_recording(feed, path);
    else
        done =
            fputs("standard input: a recording must be a FILE\n", stderr) < 0;
    if (!is_input)
        fclose(file);
    return done;
}

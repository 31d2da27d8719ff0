#include "cli/try.h"

#include "base/recording.h"
#include "base/recording_format.h"
#include "cli/arguments.h"
#include "cli/tap_body.h"
#include "cli/try_core.h"
#include "cli/try_print.h"
#include "cli/usage.h"
#include "codec/cursor.h"
#include "codec/json_read.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

struct try_options {
    const char *subject, *file; /* operands */
    const char *options;        /* of a filter, YAML */
    bool help;
};

struct try_run {
    struct try_options options;
    struct try_core core;
    struct try_print print;
    struct buffer out;
};

#define PLACE(field) offsetof(struct try_options, field)

static const struct argument table[] = {
    {.name = "options",
     .value = "YAML",
     .kind = ARGUMENT_TEXT,
     .offset = PLACE(options),
     .help = "of the FILTER, in one line: '{ keep: cpu }'"},
    {.name = "help",
     .kind = ARGUMENT_FLAG,
     .offset = PLACE(help),
     .help = "this page"},
    {0},
};

static bool read_options(struct try_options *options, int argc, char **argv,
                         struct error *error)
{
    int operand = arguments_read(argc, argv, table, options, error);

    if (operand < 0)
        return false;
    if (options->help)
        return true;
    if (argc - operand != 2) {
        error_set(error, "expected a CONFIG or FILTER, and a FILE of events");
        return false;
    }
    options->subject = argv[operand];
    options->file = argv[operand + 1];
    return true;
}

void try_help(void)
{
    printf("usage: kvgate try CONFIG|FILTER FILE [OPTION]...\n"
           "\n"
           "Say what becomes of each event of FILE: JSON lines, one event a\n"
           "line as kvgate tap prints them, or a recording of kvgate tap\n"
           "--record.  A FILTER is a *.lua.  Each event gives a line\n"
           "\n"
           "  {\"event\":1,\"verdict\":\"kept\",\"out\":[{\"stream\":…,\n"
           "   \"changes\":{FIELD:{\"old\":…,\"new\":…}}}]}\n"
           "\n"
           "its verdict kept, dropped, split or lost; the last line counts\n"
           "them.  Exit code 1 when an event was lost.\n"
           "\n");
    arguments_help(stdout, table);
}

/* ---- events ---- */

static void run_event(struct try_run *run, size_t source, const uint8_t *event,
                      size_t size)
{
    enum try_verdict verdict = try_core_send(&run->core, source, event, size);

    try_print_event(&run->print, &run->core, verdict, event);
    fwrite(run->out.data, 1, run->out.size, stdout);
    buffer_clear(&run->out);
}

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

/* What tap writes between events. */
static bool is_mark(const uint8_t *name)
{
    return is_text(name, "gap") || is_text(name, "restart") ||
           is_text(name, "announcement") || is_text(name, "malformed");
}

/* Copy the event's own fields of a line; false when it is a mark. */
static bool take_fields(const uint8_t *line, struct buffer *event)
{
    struct buffer fields = {0};
    uint32_t count = 0;
    uint8_t header[] = {0xdf, 0, 0, 0, 0};
    bool mark = false;

    for (uint32_t left = cursor_enter(&line); left > 0; left--) {
        const uint8_t *end = cursor_skip(cursor_skip(line));

        mark = mark || is_mark(line);
        if (!is_place(line)) {
            buffer_put(&fields, line, (size_t)(end - line));
            count++;
        }
        line = end;
    }
    for (size_t i = 0; i < 4; i++)
        header[4 - i] = (uint8_t)(count >> 8 * i);
    buffer_clear(event);
    buffer_put(event, header, sizeof header);
    buffer_put(event, fields.data, fields.size);
    buffer_free(&fields);
    return !mark;
}

static bool run_line(struct try_run *run, const char *line, size_t size,
                     struct error *error)
{
    struct buffer value = {0}, event = {0};
    bool done = json_read(&value, line, size, error);

    if (done && cursor_kind(value.data) != CURSOR_MAP) {
        error_set(error, "an event is an object");
        done = false;
    }
    if (done && take_fields(value.data, &event))
        run_event(run, 0, event.data, event.size);
    buffer_free(&value);
    buffer_free(&event);
    return done;
}

static bool run_lines(struct try_run *run, FILE *file, struct error *error)
{
    char *line = NULL;
    size_t room = 0;
    ssize_t size;
    bool done = true;

    for (unsigned long number = 1;
         done && (size = getline(&line, &room, file)) >= 0; number++) {
        if (strspn(line, " \t\r\n") == (size_t)size)
            continue;
        done = run_line(run, line, (size_t)size, error);
        if (!done)
            error_prefix(error, "%s:%lu", run->options.file, number);
    }
    free(line);
    if (done && ferror(file))
        error_set(error, "%s: %s", run->options.file, strerror(errno));
    return done && !error_is_set(error);
}

/* The source that is called as the recorded stream, or the first one. */
static size_t find_source(const struct try_run *run, const char *name)
{
    for (size_t i = 0; i < run->core.config->source_count; i++)
        if (strcmp(run->core.config->sources[i].name, name) == 0)
            return i;
    return 0;
}

static void run_message(struct try_run *run, size_t source,
                        const struct recording_message *message)
{
    struct tap_body body;
    const uint8_t *at;

    if (message->frame_count != 3 ||
        tap_body_open(&body, message->frames[2].data,
                      message->frames[2].size) != NULL)
        return;
    at = body.events;
    for (uint32_t i = 0; i < body.count; i++) {
        const uint8_t *end = cursor_skip(at);

        if (cursor_kind(at) == CURSOR_MAP)
            run_event(run, source, at, (size_t)(end - at));
        at = end;
    }
}

static bool run_recording(struct try_run *run, struct error *error)
{
    struct recording *recording = recording_open(run->options.file, error);
    struct recording_message message;

    if (recording == NULL)
        return false;
    while (recording_next(recording, &message, error))
        run_message(
            run,
            find_source(run, recording_stream_name(recording, message.stream)),
            &message);
    recording_close(recording);
    return !error_is_set(error);
}

static bool run_file(struct try_run *run, struct error *error)
{
    FILE *file = fopen(run->options.file, "rb");
    int first;
    bool done;

    if (file == NULL) {
        error_set(error, "%s: %s", run->options.file, strerror(errno));
        return false;
    }
    first = ungetc(getc(file), file);
    done = first == recording_magic[0] ? run_recording(run, error)
                                       : run_lines(run, file, error);
    fclose(file);
    return done;
}

static int run_opened(struct try_run *run)
{
    struct error error = {0};
    bool done = run_file(run, &error);

    try_print_summary(&run->print);
    fwrite(run->out.data, 1, run->out.size, stdout);
    if (!done)
        fprintf(stderr, "kvgate try: %s\n", error.text);
    return done && run->print.verdicts[TRY_LOST] == 0 ? EXIT_FINE : EXIT_FAILED;
}

static int run_options(struct try_run *run)
{
    struct buffer mistakes = {0};
    int code = EXIT_CONFIG;

    run->print.out = &run->out;
    if (try_core_open(&run->core, run->options.subject, run->options.options,
                      &mistakes))
        code = run_opened(run);
    else
        fputs(buffer_text(&mistakes), stderr);
    buffer_free(&mistakes);
    buffer_free(&run->out);
    try_core_free(&run->core);
    return code;
}

int try_main(int argc, char **argv)
{
    struct try_run run = {0};
    struct error error = {0};

    if (!read_options(&run.options, argc, argv, &error)) {
        fprintf(stderr, "kvgate try: %s\nkvgate try --help says how.\n",
                error.text);
        return EXIT_USAGE;
    }
    if (run.options.help) {
        try_help();
        return EXIT_FINE;
    }
    return run_options(&run);
}

#include "cli/tap.h"

#include "base/log.h"
#include "base/memory.h"
#include "cli/tap_options.h"
#include "cli/tap_output.h"
#include "cli/tap_print.h"
#include "cli/tap_record.h"
#include "cli/usage.h"
#include "codec/field.h"
#include "io/clock.h"
#include "io/inlet.h"
#include "io/signals.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
    MESSAGES_A_TURN = 64, /* of one stream before the next is looked at */
    OUTPUT_MAX = 1 << 16, /* bytes that gather before they are written */
    POLLED = 2,           /* descriptors besides those of the streams */
    POLLED_A_STREAM = 2,
    COLOURS = 6,
    PATIENCE_MS = 2000, /* until a publisher that is not there is told of */
    LOOK_MS = 250       /* between two looks at the clock until then */
};

struct tap_stream {
    struct inlet *inlet;
    struct tap_printer printer;
};

struct tap {
    struct tap_options options;
    struct tap_output output;
    struct tap_record record;
    struct tap_stream streams[TAP_STREAMS_MAX];
    uint64_t printed;
    void *context;
    struct security security;
    struct log_gate refusals; /* of those that are tried again and again */
    uint64_t began_ms;
    bool waited; /* PATIENCE_MS are over, and who was not there was told */
};

/* ---- open and close ---- */

static bool wants_colours(const struct tap *tap)
{
    const char *refused = getenv("NO_COLOR");

    return tap->options.endpoint_count > 1 && isatty(STDOUT_FILENO) &&
           (refused == NULL || *refused == '\0');
}

static bool open_stream(struct tap *tap, size_t index, struct error *error)
{
    const struct tap_endpoint *endpoint = &tap->options.endpoints[index];
    struct tap_stream *stream = &tap->streams[index];
    struct socket_options options = {
        .owner = endpoint->name != NULL ? endpoint->name : "tap",
        .endpoint = endpoint->endpoint,
        .bind = tap->options.bind,
        .hwm = (int)tap->options.hwm,
        .security = &tap->security,
    };

    stream->printer = (struct tap_printer){
        .options = &tap->options,
        .out = &tap->output.lines,
        .printed = &tap->printed,
        .name = endpoint->name,
        .colour = wants_colours(tap) ? 1 + (unsigned)index % COLOURS : 0,
    };
    stream->inlet =
        inlet_open(tap->context, &options, tap->options.topic, true, error);
    if (stream->inlet != NULL && tap->options.record != NULL)
        inlet_keep_frames(stream->inlet);
    return stream->inlet != NULL;
}

static bool open_all(struct tap *tap, struct error *error)
{
    if (!signals_open(error) ||
        !curve_options_read(&tap->options.curve, tap->options.bind,
                            &tap->security, error) ||
        !tap_record_open(&tap->record, &tap->options, error))
        return false;
    tap->output.stop = signals_descriptor();
    tap->context = socket_context_new(error);
    if (tap->context == NULL)
        return false;
    for (size_t i = 0; i < tap->options.endpoint_count; i++)
        if (!open_stream(tap, i, error))
            return false;
    return true;
}

static void close_all(struct tap *tap)
{
    for (size_t i = 0; i < tap->options.endpoint_count; i++)
        inlet_close(tap->streams[i].inlet);
    tap_record_close(&tap->record);
    security_clear(&tap->security);
    socket_context_free(tap->context);
    buffer_free(&tap->output.lines);
}

/* ---- run ---- */

/* Print what is there, a bounded number of messages.  False when the program
 * shall end; `more` is set when something may be left. */
static bool drain(struct tap *tap, struct tap_stream *stream, bool *more)
{
    struct message message;

    for (int i = 0; i < MESSAGES_A_TURN; i++) {
        const uint8_t *topic;
        size_t topic_size;

        if (tap_print_done(&stream->printer))
            return false;
        if (!inlet_receive(stream->inlet, &message))
            return true;
        tap_record_message(&tap->record, stream->inlet,
                           (size_t)(stream - tap->streams));
        topic = inlet_topic(stream->inlet, &topic_size);
        tap_print_message(&stream->printer, topic, topic_size, &message);
        inlet_release(stream->inlet);
        if (tap->output.lines.size >= OUTPUT_MAX &&
            !tap_output_flush(&tap->output))
            return false;
    }
    *more = true;
    return true;
}

static bool drain_all(struct tap *tap, bool *more)
{
    *more = false;
    for (size_t i = 0; i < tap->options.endpoint_count; i++)
        if (!drain(tap, &tap->streams[i], more))
            return false;
    return true;
}

static void tell_change(struct tap *tap, struct inlet *inlet,
                        enum monitor_change change)
{
    if (change == MONITOR_REFUSED)
        log_gated(&tap->refusals, LOG_WARN,
                  "tap: a handshake with %s came to nothing: %s",
                  inlet_endpoint(inlet), monitor_reason(inlet_monitor(inlet)));
    else
        log_line(LOG_INFO, "tap: %s %s",
                 change == MONITOR_CONNECTED ? "connected to" : "lost",
                 inlet_endpoint(inlet));
}

/* A stream that stays silent raises the question whether it is there. */
static void tell_connections(struct tap *tap)
{
    for (size_t i = 0; i < tap->options.endpoint_count; i++) {
        struct inlet *inlet = tap->streams[i].inlet;
        enum monitor_change change;
        const char *endpoint;

        while ((change = monitor_read(inlet_monitor(inlet), &endpoint)) !=
               MONITOR_NOTHING)
            tell_change(tap, inlet, change);
    }
}

/* Once, when all had their time to connect. */
static void tell_absent(struct tap *tap)
{
    if (tap->waited || clock_now().steady_ms - tap->began_ms < PATIENCE_MS)
        return;
    tap->waited = true;
    for (size_t i = 0; i < tap->options.endpoint_count; i++) {
        struct inlet *inlet = tap->streams[i].inlet;

        if (monitor_live(inlet_monitor(inlet)) == 0)
            log_line(LOG_INFO, "tap: waiting for a publisher at %s",
                     inlet_endpoint(inlet));
    }
}

/* Sleep until something happens.  False when it is the end: a signal, or a
 * reader that is gone. */
static bool wait_for_news(const struct tap *tap)
{
    struct pollfd items[POLLED + POLLED_A_STREAM * TAP_STREAMS_MAX] = {
        {.fd = tap->output.stop, .events = POLLIN}, {.fd = STDOUT_FILENO}};
    nfds_t count = POLLED;

    for (size_t i = 0; i < tap->options.endpoint_count; i++) {
        struct inlet *inlet = tap->streams[i].inlet;

        items[count++] =
            (struct pollfd){.fd = inlet_descriptor(inlet), .events = POLLIN};
        items[count++] = (struct pollfd){
            .fd = monitor_descriptor(inlet_monitor(inlet)), .events = POLLIN};
    }
    if (poll(items, count, tap->waited ? -1 : LOOK_MS) < 0)
        return errno == EINTR;
    return items[0].revents == 0 && items[1].revents == 0;
}

static void run(struct tap *tap)
{
    bool more;

    tap->began_ms = clock_now().steady_ms;
    while (drain_all(tap, &more)) {
        tell_connections(tap);
        tell_absent(tap);
        if (!tap_record_flush(&tap->record) || !tap_output_flush(&tap->output))
            return;
        if (!more && !wait_for_news(tap))
            return;
    }
    tap_output_flush(&tap->output);
}

static int run_opened(struct tap *tap)
{
    run(tap);
    if (!tap_record_flush(&tap->record)) {
        log_line(LOG_ERROR, "tap: %s: cannot write: %s", tap->options.record,
                 strerror(tap->record.failure));
        return EXIT_FAILED;
    }
    if (tap->output.failure == 0 || tap->output.failure == EPIPE)
        return EXIT_FINE;
    log_line(LOG_ERROR, "tap: cannot write: %s", strerror(tap->output.failure));
    return EXIT_FAILED;
}

static int run_options(struct tap *tap)
{
    struct error error = {0};
    int code = EXIT_FAILED;

    if (open_all(tap, &error))
        code = run_opened(tap);
    else
        log_line(LOG_ERROR, "%s", error.text);
    close_all(tap);
    return code;
}

/* Fields may be called anything, but hardly nearly as a known one. */
static void warn_of_field(const char *name)
{
    const char *meant = field_meant(name);

    if (meant != NULL)
        log_line(LOG_WARN,
                 "tap: --fields: \"%s\" is no field that publishers write; "
                 "did you mean \"%s\"?",
                 name, meant);
}

int tap_main(int argc, char **argv)
{
    struct tap *tap = memory_new(sizeof *tap);
    struct error error = {0};
    int code = EXIT_FINE;

    if (!tap_options_read(&tap->options, argc, argv, &error)) {
        fprintf(stderr, "kvgate tap: %s\nkvgate tap --help says how.\n",
                error.text);
        code = EXIT_USAGE;
    } else if (tap->options.help) {
        tap_options_help();
    } else {
        for (size_t i = 0; i < tap->options.fields.count; i++)
            warn_of_field(tap->options.fields.items[i]);
        code = run_options(tap);
    }
    free(tap);
    return code;
}

#include "base/log.h"
#include "base/text.h"

#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static const char *const level_names[] = {"error", "warn", "info", "debug"};

static atomic_int log_level = LOG_INFO;
static atomic_bool log_muted;
static struct buffer *redirected; /* see log_redirect */

void log_set_level(enum log_level level)
{
    atomic_store(&log_level, (int)level);
}

void log_mute(bool mute)
{
    atomic_store(&log_muted, mute);
}

void log_redirect(struct buffer *lines)
{
    redirected = lines;
}

bool log_level_parse(const char *name, enum log_level *level)
{
    for (int i = LOG_ERROR; i <= LOG_DEBUG; i++) {
        if (strcmp(name, level_names[i]) != 0)
            continue;
        *level = (enum log_level)i;
        return true;
    }
    return false;
}

static bool is_written(enum log_level level)
{
    return redirected != NULL ||
           ((int)level <= atomic_load(&log_level) && !atomic_load(&log_muted));
}

static int64_t clock_ms(clockid_t clock)
{
    struct timespec now;

    clock_gettime(clock, &now);
    return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

static uint64_t monotonic_ms(void)
{
    return (uint64_t)clock_ms(CLOCK_MONOTONIC);
}

/* "2026-11-30T23:01:02.345Z warn  " */
static void format_head(struct buffer *line, int64_t unix_ms,
                        enum log_level level)
{
    time_t seconds = (time_t)(unix_ms / 1000);
    struct tm when = {0};

    gmtime_r(&seconds, &when);
    buffer_print(line, "%04d-%02d-%02dT%02d:%02d:%02d.%03dZ %-5s ",
                 when.tm_year + 1900, when.tm_mon + 1, when.tm_mday,
                 when.tm_hour, when.tm_min, when.tm_sec, (int)(unix_ms % 1000),
                 level_names[level]);
}

void log_format(struct buffer *line, int64_t unix_ms, enum log_level level,
                const char *text, size_t size)
{
    format_head(line, unix_ms, level);
    text_escape(line, text, size < LOG_TEXT_MAX ? size : LOG_TEXT_MAX);
    if (size > LOG_TEXT_MAX)
        buffer_put(line, "...", 3);
    buffer_put(line, "\n", 1);
}

static void write_line(const struct buffer *line)
{
    ssize_t written;

    do
        written = write(STDERR_FILENO, line->data, line->size);
    while (written < 0 && errno == EINTR);
}

static void log_vline(enum log_level level, const char *format, va_list args)
{
    struct buffer text = {0};
    struct buffer line = {0};

    buffer_vprint(&text, format, args);
    if (redirected != NULL) {
        buffer_print(redirected, "%-5s ", level_names[level]);
        text_escape(redirected, buffer_text(&text), text.size);
        buffer_put(redirected, "\n", 1);
        buffer_free(&text);
        return;
    }
    log_format(&line, clock_ms(CLOCK_REALTIME), level, buffer_text(&text),
               text.size);
    write_line(&line);
    buffer_free(&line);
    buffer_free(&text);
}

void log_line(enum log_level level, const char *format, ...)
{
    va_list args;

    if (!is_written(level))
        return;
    va_start(args, format);
    log_vline(level, format, args);
    va_end(args);
}

bool log_gate_admit(struct log_gate *gate, uint64_t now_ms)
{
    if (gate->written == 0)
        gate->opened_ms = now_ms;
    if (gate->written >= LOG_GATE_LINES) {
        gate->suppressed++;
        return false;
    }
    gate->written++;
    return true;
}

uint64_t log_gate_close(struct log_gate *gate, uint64_t now_ms)
{
    uint64_t held = gate->suppressed;

    if (gate->written == 0 || now_ms - gate->opened_ms < LOG_GATE_MS)
        return 0;
    gate->written = 0;
    gate->suppressed = 0;
    return held;
}

static void tell_held(const struct log_gate *gate, uint64_t held)
{
    if (held > 0)
        log_line(gate->level, "%s: %" PRIu64 " more lines held back",
                 gate->about, held);
}

static void close_gate(struct log_gate *gate, uint64_t now_ms)
{
    tell_held(gate, log_gate_close(gate, now_ms));
}

void log_gate_end(struct log_gate *gate)
{
    tell_held(gate, gate->suppressed);
    gate->written = 0;
    gate->suppressed = 0;
}

void log_gated(struct log_gate *gate, enum log_level level, const char *format,
               ...)
{
    uint64_t now_ms = monotonic_ms();
    va_list args;

    if (gate->silent || !is_written(level))
        return;
    close_gate(gate, now_ms);
    gate->level = level;
    if (redirected == NULL && !log_gate_admit(gate, now_ms))
        return;
    va_start(args, format);
    log_vline(level, format, args);
    va_end(args);
}

void log_gate_tick(struct log_gate *gate)
{
    close_gate(gate, monotonic_ms());
}

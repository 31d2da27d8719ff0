/*
 * log - lines for the operator, on standard error
 *
 * A leaf: anybody may call it, it calls nobody.  One line is one write, so
 * that lines of two threads never mix.  Control characters and bytes that are
 * not UTF-8 are escaped: what a peer sends can't forge a line or a colour.
 *
 *   2026-11-30T23:01:02.345Z warn  source "store": 3 numbers missing (7 to 9)
 */
#ifndef BASE_LOG_H
#define BASE_LOG_H

#include "base/buffer.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum log_level { LOG_ERROR = 0, LOG_WARN, LOG_INFO, LOG_DEBUG };

/* What may repeat without end goes through a gate: the first lines of a window
 * are written in full, the rest counted and told when the window ends. */
struct log_gate {
    uint64_t opened_ms;   /* when the current window began */
    uint32_t written;     /* lines written in it */
    uint64_t suppressed;  /* lines counted in it */
    enum log_level level; /* of the last line counted: the summary's too */
    bool silent;          /* the owner's choice: nothing passes */
    char about[96];       /* how the summary calls them, set by the caller */
};

enum { LOG_GATE_LINES = 10, LOG_GATE_MS = 10000 };

/* Lines above `level` are not written.  The default is LOG_INFO. */
void log_set_level(enum log_level level);
bool log_level_parse(const char *name, enum log_level *level);

/* Write nothing, whatever the level, until it is taken back. */
void log_mute(bool mute);

/*
 * From now on lines go behind `lines` (borrowed; NULL: to standard error
 * again), without their time and whatever their level, and gates hold nothing
 * back.  For a tool of one thread that has its own way to show them.
 */
void log_redirect(struct buffer *lines);

void log_line(enum log_level level, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* The same through a gate. */
void log_gated(struct log_gate *gate, enum log_level level, const char *format,
               ...) __attribute__((format(printf, 3, 4)));

/* Close the gate's window if it is over, and tell what it held back. */
void log_gate_tick(struct log_gate *gate);

/* Tell it now: the gate goes. */
void log_gate_end(struct log_gate *gate);

/* ---- the parts, with time as an argument ---- */

enum { LOG_TEXT_MAX = 8192 };

/* Append one whole line, newline included; text past LOG_TEXT_MAX is "...". */
void log_format(struct buffer *line, int64_t unix_ms, enum log_level level,
                const char *text, size_t size);

/* Whether one more line may be written at `now_ms`; if not, it is counted. */
bool log_gate_admit(struct log_gate *gate, uint64_t now_ms);

/* Close the window if it is over at `now_ms`; returns the lines it held back.
 */
uint64_t log_gate_close(struct log_gate *gate, uint64_t now_ms);

#endif

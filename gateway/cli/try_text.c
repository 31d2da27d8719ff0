#include "base/text.h"
#include "cli/try_diff.h"
#include "cli/try_print.h"
#include "codec/cursor.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

enum { VALUE_MAX = 200 };

static const char indent[] = "    ";

/* ANSI: what to write in front of a word. */
static const char plain[] = "", dim[] = "2", bold[] = "1", good[] = "1;32",
                  little[] = "1;33", several[] = "1;36", bad[] = "1;31",
                  old[] = "31", new[] = "32";

static const char *const verdict_styles[TRY_VERDICTS] = {good, little, several,
                                                         bad};

__attribute__((format(printf, 3, 4))) static void
put(const struct try_print *print, const char *style, const char *format, ...)
{
    bool coloured = print->colour && *style != '\0';
    va_list args;

    if (coloured)
        buffer_print(print->out, "\033[%sm", style);
    va_start(args, format);
    buffer_vprint(print->out, format, args);
    va_end(args);
    if (coloured)
        buffer_print(print->out, "\033[0m");
}

/* ---- values ---- */

/* As JSON, cut where it is too long for the eye. */
static void put_value(const struct try_print *print, const char *style,
                      const uint8_t *value)
{
    struct buffer text = {0};
    struct json json = {.out = &text};
    size_t size;

    try_write_value(&json, value);
    for (size = text.size < VALUE_MAX ? text.size : VALUE_MAX;
         size < text.size && (text.data[size] & 0xc0) == 0x80;)
        size--;
    put(print, style, "%.*s%s", (int)size, (const char *)text.data,
        size < text.size ? "…" : "");
    buffer_free(&text);
}

/* A text without quotes, anything else as JSON. */
static void put_word(const struct try_print *print, const uint8_t *value)
{
    uint32_t size;
    const uint8_t *bytes;

    if (cursor_kind(value) != CURSOR_STR) {
        put_value(print, plain, value);
        return;
    }
    bytes = cursor_bytes(value, &size);
    text_escape(print->out, bytes, size);
}

static void put_named(const struct try_print *print, const char *name,
                      const uint8_t *value)
{
    if (value == NULL || cursor_kind(value) == CURSOR_NIL)
        return;
    put(print, dim, " %s=", name);
    put_word(print, value);
}

/* What an event is, in one line and its key. */
static void put_event(const struct try_print *print, const char *source,
                      const uint8_t *event)
{
    static const char *const names[] = {"tenant_id", "medium", "backend_id"};
    const uint8_t *type = try_field(event, "event_type");
    const uint8_t *key = try_field(event, "object_key");

    if (type == NULL || cursor_kind(type) == CURSOR_NIL)
        type = try_field(event, "type");
    if (type != NULL)
        put_word(print, type);
    else
        put_value(print, plain, event);
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        put_named(print, names[i], try_field(event, names[i]));
    if (source != NULL)
        put(print, dim, " from %s", source);
    buffer_print(print->out, "\n");
    if (key == NULL || cursor_kind(key) == CURSOR_NIL)
        return;
    put(print, dim, "%sobject_key=", indent);
    put_word(print, key);
    buffer_print(print->out, "\n");
}

static void put_side(const struct try_print *print, char sign,
                     const char *style, const uint8_t *name,
                     const uint8_t *value)
{
    put(print, style, "%s%c ", indent, sign);
    put_word(print, name);
    buffer_print(print->out, ": ");
    put_value(print, style, value);
    buffer_print(print->out, "\n");
}

static void put_change(void *context, const struct try_change *change)
{
    const struct try_print *print = context;

    if (change->old != NULL)
        put_side(print, '-', old, change->name, change->old);
    if (change->new != NULL)
        put_side(print, '+', new, change->name, change->new);
}

/* ---- names of streams that have something in common ---- */

struct names {
    const struct try_print *print;
    const char *before; /* what to write in front of the next one */
};

/* A single filter's own stream goes without saying. */
static bool is_told(const struct try_core *core)
{
    return !core->is_filter || core->out_count > 1;
}

static void put_name(struct names *names, const char *stream)
{
    if (!is_told(names->print->core))
        return;
    buffer_print(names->print->out, "%s%s", names->before, stream);
    names->before = ", ";
}

/* ---- what streams got ---- */

static bool is_same_event(const uint8_t *a, const uint8_t *b)
{
    size_t size = (size_t)(cursor_skip(a) - a);

    return b != NULL && (size_t)(cursor_skip(b) - b) == size &&
           memcmp(a, b, size) == 0;
}

/* The first stream that got the same at that place. */
static size_t first_with(const struct try_core *core, uint32_t index,
                         const uint8_t *event)
{
    size_t i = 0;

    while (!is_same_event(event, try_out_event(&core->outs[i], index)))
        i++;
    return i;
}

static void put_receivers(const struct try_print *print, uint32_t index,
                          const uint8_t *event)
{
    struct names names = {print, " → "};

    for (size_t i = 0; i < print->core->out_count; i++) {
        const struct try_out *out = &print->core->outs[i];

        if (is_same_event(event, try_out_event(out, index)))
            put_name(&names, out->stream);
    }
    buffer_print(print->out, "\n");
}

static void put_result(const struct try_print *print,
                       const struct try_told *told, uint32_t index,
                       const uint8_t *event)
{
    bool same = is_same_event(told->event, event);

    buffer_print(print->out, "%s", indent);
    if (told->verdict == TRY_SPLIT)
        put(print, several, "%u", index + 1);
    else
        put(print, good, "kept");
    if (same)
        put(print, dim, " unchanged");
    put_receivers(print, index, event);
    if (try_diff(told->event, event, put_change, (void *)print) == 0 && !same)
        put(print, dim, "%sthe same fields in other bytes\n", indent);
}

static void put_results(const struct try_print *print,
                        const struct try_told *told)
{
    const struct try_core *core = print->core;
    uint32_t most = 0;

    for (size_t i = 0; i < core->out_count; i++)
        most = core->outs[i].events > most ? core->outs[i].events : most;
    if (told->verdict == TRY_SPLIT)
        put(print, several, "%ssplit into %u\n", indent, most);
    for (uint32_t index = 0; index < most; index++) {
        for (size_t i = 0; i < core->out_count; i++) {
            const uint8_t *event = try_out_event(&core->outs[i], index);

            if (event != NULL && first_with(core, index, event) == i)
                put_result(print, told, index, event);
        }
    }
}

/* ---- what it was lost or dropped for ---- */

static void put_loss(const struct try_print *print, const struct try_out *first)
{
    const struct try_core *core = print->core;
    const struct try_step *step = try_blame(core, first);
    struct names names = {print, " on "};

    put(print, bad, "%slost", indent);
    for (size_t i = 0; i < core->out_count; i++) {
        const struct try_out *out = &core->outs[i];

        if (out->lost > 0 && out->cause == first->cause &&
            try_blame(core, out) == step)
            put_name(&names, out->stream);
    }
    if (step != NULL)
        buffer_print(print->out, " in %s: %s\n", step->script, step->failure);
    else
        buffer_print(print->out, ": %s\n", try_cause(core, first));
}

static void put_losses(const struct try_print *print)
{
    const struct try_core *core = print->core;

    for (size_t i = 0; i < core->out_count; i++) {
        const struct try_out *out = &core->outs[i];
        size_t first = 0;

        while (core->outs[first].lost == 0 ||
               core->outs[first].cause != out->cause ||
               try_blame(core, &core->outs[first]) != try_blame(core, out)) {
            if (++first > i)
                break;
        }
        if (out->lost > 0 && first == i)
            put_loss(print, out);
    }
}

static void put_failure(const struct try_print *print,
                        const struct try_step *step)
{
    const char *fate = step->on_error == CONFIG_ON_ERROR_DROP
                           ? "dropped by on_error"
                           : "passed on by on_error";

    put(print, little, "%s%s", indent, fate);
    if (step->stream != NULL)
        buffer_print(print->out, " on %s", step->stream);
    buffer_print(print->out, ": %s: %s\n", step->script, step->failure);
}

/* Returns whether any filter said so. */
static bool put_drops(const struct try_print *print)
{
    const struct try_core *core = print->core;
    bool any = false;

    for (size_t i = 0; i < core->step_count; i++) {
        const struct try_step *step = &core->steps[i];

        if (step->did.dropped > 0) {
            put(print, little, "%sdropped", indent);
            if (step->stream != NULL)
                buffer_print(print->out, " on %s", step->stream);
            buffer_print(print->out, " by %s\n", step->script);
        }
        if (step->did.errors > 0 && step->on_error != CONFIG_ON_ERROR_LOSE)
            put_failure(print, step);
        any = any || step->did.dropped > 0 || step->did.errors > 0;
    }
    return any;
}

/* ---- blocks ---- */

static void put_key_field(void *context, const struct try_change *change)
{
    const struct try_print *print = context;

    if (cursor_is_text(change->name, "convention", 10) ||
        cursor_is_text(change->name, "version", 7))
        return;
    buffer_print(print->out, " ");
    if (print->colour)
        buffer_print(print->out, "\033[%sm", dim);
    put_word(print, change->name);
    put(print, dim, "=");
    put_word(print, change->new);
}

static void put_list(const struct try_print *print, const uint8_t *list)
{
    const char *before = "";

    for (uint32_t left = cursor_enter(&list); left > 0; left--) {
        buffer_print(print->out, "%s", before);
        put_word(print, list);
        list = cursor_skip(list);
        before = ", ";
    }
}

static void put_key(const struct try_print *print, const uint8_t *key)
{
    static const uint8_t no_fields[] = {0x80};
    const uint8_t *convention = try_field(key, "convention");

    buffer_print(print->out, "%s", indent);
    if (convention == NULL) {
        buffer_print(print->out, "matches none of: ");
        put_list(print, try_field(key, "matches_none_of"));
    } else {
        put_word(print, convention);
        buffer_print(print->out, ", ");
        put_word(print, try_field(key, "version"));
        buffer_print(print->out, ":");
        try_diff(no_fields, key, put_key_field, (void *)print);
    }
    buffer_print(print->out, "\n");
}

void try_text_event(const struct try_print *print, const struct try_told *told)
{
    put(print, bold, "#%" PRIu64 " ", print->events);
    put_event(print, told->source, told->event);
    if (told->key != NULL)
        put_key(print, told->key);
    put_results(print, told);
    put_losses(print);
    if (!put_drops(print) && told->verdict == TRY_DROPPED) {
        put(print, little, "%sdropped", indent);
        buffer_print(print->out, ": no stream is left that takes it\n");
    }
    buffer_print(print->out, "\n");
}

/* Streams that leave as many numbers out as this one, if it is the first. */
static void put_left_out(const struct try_print *print, size_t first)
{
    const struct try_out *outs = print->core->outs;
    const char *before = indent;
    uint64_t lost = outs[first].lost;
    size_t count = 0;

    for (size_t i = 0; i < first; i++)
        if (outs[i].lost == lost)
            return;
    for (size_t i = first; i < print->core->out_count; i++) {
        if (outs[i].lost != lost)
            continue;
        buffer_print(print->out, "%s%s", before, outs[i].stream);
        before = ", ";
        count++;
    }
    buffer_print(print->out, " leave%s %" PRIu64 " number%s out\n",
                 count == 1 ? "s" : "", lost, lost == 1 ? "" : "s");
}

static void put_arrivals(const struct try_print *print,
                         const struct try_out *out)
{
    for (uint32_t index = 0; index < out->events; index++) {
        buffer_print(print->out, "%s%s gets ", indent, out->stream);
        put_event(print, NULL, try_out_event(out, index));
    }
}

void try_text_mark(const struct try_print *print, const struct try_mark *mark)
{
    put(print, bold, "— %s", mark->kind);
    if (mark->source != NULL)
        buffer_print(print->out, " of %s", mark->source);
    if (mark->missing > 0)
        buffer_print(print->out, ": %" PRIu64 " missing", mark->missing);
    if (mark->reason != NULL)
        buffer_print(print->out, ": %s", mark->reason);
    buffer_print(print->out, "\n");
    for (size_t i = 0; i < print->core->out_count; i++)
        if (print->core->outs[i].lost > 0)
            put_left_out(print, i);
    for (size_t i = 0; i < print->core->out_count; i++)
        put_arrivals(print, &print->core->outs[i]);
    put_drops(print);
    buffer_print(print->out, "\n");
}

/* ---- the end ---- */

static void put_counts(const struct try_print *print)
{
    put(print, bold, "%" PRIu64 " event%s", print->events,
        print->events == 1 ? "" : "s");
    for (size_t i = 0; i < TRY_VERDICTS; i++) {
        buffer_print(print->out, i == 0 ? ": " : ", ");
        put(print, print->verdicts[i] > 0 ? verdict_styles[i] : dim,
            "%" PRIu64 " %s", print->verdicts[i], try_verdict_names[i]);
    }
    buffer_print(print->out, "\n");
}

/* How a table calls a filter. */
static void name_step(const struct try_step *step, char *name, size_t room)
{
    snprintf(name, room, "%s%s%s", step->script,
             step->stream != NULL ? " on " : "",
             step->stream != NULL ? step->stream : "");
}

static void put_filter(const struct try_print *print,
                       const struct try_step *step, int width)
{
    char name[128];

    name_step(step, name, sizeof name);
    buffer_print(print->out,
                 "%-*s %7" PRIu64 " %8" PRIu64 " %10" PRIu64 " %6" PRIu64,
                 width, name, step->all.kept, step->all.dropped,
                 step->all.rewritten, step->all.split);
    put(print, step->all.errors > 0 ? bad : plain, " %7" PRIu64,
        step->all.errors);
    buffer_print(print->out, "\n");
    if (step->first_failure != NULL)
        buffer_print(print->out, "  first error: %s\n", step->first_failure);
}

static void put_stream(const struct try_print *print, const struct try_out *out,
                       int width)
{
    buffer_print(print->out, "%-*s %7" PRIu64, width, out->stream,
                 out->total_events);
    put(print, out->total_lost > 0 ? bad : plain, " %8" PRIu64,
        out->total_lost);
    buffer_print(print->out, "\n");
}

/* Of the first column of both tables. */
static int find_width(const struct try_core *core)
{
    size_t width = sizeof "filter" - 1;
    char name[128];

    for (size_t i = 0; i < core->step_count; i++) {
        name_step(&core->steps[i], name, sizeof name);
        width = strlen(name) > width ? strlen(name) : width;
    }
    for (size_t i = 0; i < core->out_count; i++)
        if (strlen(core->outs[i].stream) > width)
            width = strlen(core->outs[i].stream);
    return (int)width;
}

void try_text_summary(const struct try_print *print)
{
    const struct try_core *core = print->core;
    int width = find_width(core);

    put_counts(print);
    buffer_print(print->out, "\n");
    if (core->step_count > 0)
        put(print, dim, "%-*s %7s %8s %10s %6s %7s\n", width, "filter", "kept",
            "dropped", "rewritten", "split", "errors");
    for (size_t i = 0; i < core->step_count; i++)
        put_filter(print, &core->steps[i], width);
    put(print, dim, "%-*s %7s %8s\n", width, "stream", "events", "left out");
    for (size_t i = 0; i < core->out_count; i++)
        put_stream(print, &core->outs[i], width);
}

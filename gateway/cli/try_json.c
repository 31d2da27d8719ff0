#include "base/json.h"
#include "cli/try_diff.h"
#include "cli/try_print.h"
#include "codec/cursor.h"

#include <string.h>

static void name_text(struct json *json, const char *name, const char *text)
{
    json_key(json, name);
    json_text(json, text);
}

static void name_u64(struct json *json, const char *name, uint64_t value)
{
    json_key(json, name);
    json_u64(json, value);
}

static void end_line(struct json *json)
{
    json_end(json);
    buffer_put(json->out, "\n", 1);
}

/* ---- what streams got ---- */

static void write_change(void *context, const struct try_change *change)
{
    struct json *json = context;

    try_write_name(json, change->name);
    json_object(json);
    if (change->old != NULL) {
        json_key(json, "old");
        try_write_value(json, change->old);
    }
    if (change->new != NULL) {
        json_key(json, "new");
        try_write_value(json, change->new);
    }
    json_end(json);
}

/* An entry for each event that a stream got: what changed in `event`, or all
 * of it when it comes of none. */
static void write_out(struct json *json, const struct try_core *core,
                      const struct try_out *out, const uint8_t *event)
{
    const uint8_t *at = out->bytes.data;

    for (uint32_t left = out->events; left > 0; left--, at = cursor_skip(at)) {
        json_object(json);
        name_text(json, "stream", out->stream);
        if (event != NULL && !try_core_is_emitted(core, event, at)) {
            json_key(json, "changes");
            json_object(json);
            try_diff(event, at, write_change, json);
            json_end(json);
        } else {
            json_key(json, "event");
            try_write_value(json, at);
        }
        json_end(json);
    }
}

static void write_outs(struct json *json, const struct try_core *core,
                       const uint8_t *event)
{
    json_key(json, "out");
    json_array(json);
    for (size_t i = 0; i < core->out_count; i++)
        write_out(json, core, &core->outs[i], event);
    json_end(json);
}

/* ---- what filters did ---- */

static void write_place(struct json *json, const struct try_step *step)
{
    name_text(json, "filter", step->script);
    if (step->stream != NULL)
        name_text(json, "stream", step->stream);
}

static void write_drops(struct json *json, const struct try_core *core)
{
    bool any = false;

    for (size_t i = 0; i < core->step_count; i++) {
        if (core->steps[i].did.dropped == 0)
            continue;
        if (!any) {
            json_key(json, "dropped_by");
            json_array(json);
            any = true;
        }
        json_object(json);
        write_place(json, &core->steps[i]);
        json_end(json);
    }
    if (any)
        json_end(json);
}

static const char *fate(const struct try_step *step)
{
    switch (step->on_error) {
    case CONFIG_ON_ERROR_DROP:
        return "drop";
    case CONFIG_ON_ERROR_PASS:
        return "pass";
    case CONFIG_ON_ERROR_DEAD_LETTER:
        return "dead_letter";
    default:
        return "lose";
    }
}

static void write_failures(struct json *json, const struct try_core *core)
{
    json_key(json, "failures");
    json_array(json);
    for (size_t i = 0; i < core->step_count; i++) {
        if (core->steps[i].did.errors == 0)
            continue;
        json_object(json);
        write_place(json, &core->steps[i]);
        name_text(json, "error", core->steps[i].failure);
        name_text(json, "on_error", fate(&core->steps[i]));
        json_end(json);
    }
    json_end(json);
}

/* Why it is lost, of the first stream that it is lost on. */
static void write_error(struct json *json, const struct try_core *core)
{
    for (size_t i = 0; i < core->out_count; i++) {
        const struct try_out *out = &core->outs[i];
        const struct try_step *step;

        if (out->lost == 0)
            continue;
        step = try_blame(core, out);
        name_text(json, "error",
                  step != NULL ? step->failure : try_cause(core, out));
        return;
    }
}

static void write_losses(struct json *json, const struct try_core *core)
{
    json_key(json, "lost_on");
    json_array(json);
    for (size_t i = 0; i < core->out_count; i++)
        if (core->outs[i].lost > 0)
            json_text(json, core->outs[i].stream);
    json_end(json);
}

/* As they are published. */
static void write_letters(struct json *json, const struct try_core *core)
{
    const uint8_t *at = core->letters.bytes.data;

    if (core->letters.events == 0)
        return;
    json_key(json, "dead_letters");
    json_array(json);
    for (uint32_t left = core->letters.events; left > 0; left--) {
        try_write_value(json, at);
        at = cursor_skip(at);
    }
    json_end(json);
}

/* A list of the lines of a text. */
static void name_lines(struct json *json, const char *name,
                       const struct buffer *text)
{
    const char *at = (const char *)text->data;
    size_t left = text->size;

    if (left == 0)
        return;
    json_key(json, name);
    json_array(json);
    while (left > 0) {
        size_t size = (size_t)((const char *)memchr(at, '\n', left) - at);

        json_string(json, at, size);
        at += size + 1;
        left -= size + 1;
    }
    json_end(json);
}

static void write_samples(struct json *json, const struct try_core *core)
{
    struct buffer samples = {0};

    try_put_samples(core, &samples);
    name_lines(json, "metrics", &samples);
    buffer_free(&samples);
}

static bool has_failures(const struct try_core *core)
{
    for (size_t i = 0; i < core->step_count; i++)
        if (core->steps[i].did.errors > 0)
            return true;
    return false;
}

/* ---- lines ---- */

void try_json_event(const struct try_print *print, const struct try_told *told)
{
    struct json json = {.out = print->out};

    json_object(&json);
    name_u64(&json, "event", print->events);
    if (told->source != NULL)
        name_text(&json, "source", told->source);
    name_text(&json, "verdict", try_verdict_names[told->verdict]);
    write_drops(&json, print->core);
    if (try_is_lost(told->verdict)) {
        write_error(&json, print->core);
        write_losses(&json, print->core);
    }
    if (has_failures(print->core))
        write_failures(&json, print->core);
    write_letters(&json, print->core);
    if (told->key != NULL) {
        json_key(&json, "key");
        try_write_value(&json, told->key);
    }
    name_lines(&json, "log", &print->core->log);
    write_outs(&json, print->core, told->event);
    end_line(&json);
}

void try_json_mark(const struct try_print *print, const struct try_mark *mark)
{
    struct json json = {.out = print->out};

    json_object(&json);
    name_text(&json, "mark", mark->kind);
    if (mark->source != NULL)
        name_text(&json, "source", mark->source);
    if (mark->missing > 0)
        name_u64(&json, "missing", mark->missing);
    if (mark->reason != NULL)
        name_text(&json, "reason", mark->reason);
    write_losses(&json, print->core);
    if (has_failures(print->core))
        write_failures(&json, print->core);
    write_letters(&json, print->core);
    name_lines(&json, "log", &print->core->log);
    write_outs(&json, print->core, NULL);
    end_line(&json);
}

static void write_filter(struct json *json, const struct try_step *step)
{
    json_object(json);
    write_place(json, step);
    name_u64(json, "kept", step->all.kept);
    name_u64(json, "dropped", step->all.dropped);
    name_u64(json, "rewritten", step->all.rewritten);
    name_u64(json, "split", step->all.split);
    name_u64(json, "errors", step->all.errors);
    name_u64(json, "emitted", step->all.emitted);
    if (step->first_failure != NULL)
        name_text(json, "first_error", step->first_failure);
    json_end(json);
}

void try_json_summary(const struct try_print *print)
{
    const struct try_core *core = print->core;
    struct json json = {.out = print->out};

    json_object(&json);
    json_key(&json, "summary");
    json_object(&json);
    name_u64(&json, "events", print->events);
    for (size_t i = 0; i < TRY_VERDICTS; i++)
        name_u64(&json, try_verdict_names[i], print->verdicts[i]);
    json_key(&json, "filters");
    json_array(&json);
    for (size_t i = 0; i < core->step_count; i++)
        write_filter(&json, &core->steps[i]);
    json_end(&json);
    json_key(&json, "streams");
    json_array(&json);
    for (size_t i = 0; i < core->out_count; i++) {
        json_object(&json);
        name_text(&json, "stream", core->outs[i].stream);
        name_u64(&json, "events", core->outs[i].total_events);
        name_u64(&json, "left_out", core->outs[i].total_lost);
        json_end(&json);
    }
    json_end(&json);
    write_samples(&json, core);
    json_end(&json);
    end_line(&json);
}

#include "base/nearest.h"
#include "base/text.h"
#include "cli/try_diff.h"
#include "cli/try_paint.h"
#include "cli/try_print.h"
#include "codec/cursor.h"
#include "codec/event.h"

#include <inttypes.h>
#include <string.h>

enum { VALUE_MAX = 200 };

static const char indent[] = "    ";

/* ---- values ---- */

/* As JSON, cut where it is too long for the eye. */
static void put_value(const struct try_print *print, enum try_paint style,
                      const uint8_t *value)
{
    struct buffer text = {0};
    struct json json = {.out = &text};
    size_t size;

    try_write_value(&json, value);
    for (size = text.size < VALUE_MAX ? text.size : VALUE_MAX;
         size < text.size && (text.data[size] & 0xc0) == 0x80;)
        size--;
    try_paint(print, style, "%.*s%s", (int)size, (const char *)text.data,
              size < text.size ? "…" : "");
    buffer_free(&text);
}

/* A text without quotes, anything else as JSON. */
static void put_word(const struct try_print *print, const uint8_t *value)
{
    uint32_t size;
    const uint8_t *bytes;

    if (cursor_kind(value) != CURSOR_STR) {
        put_value(print, PAINT_PLAIN, value);
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
    try_paint(print, PAINT_DIM, " %s=", name);
    put_word(print, value);
}

/* What an event is, in a few words. */
static void put_kind(const struct try_print *print, const uint8_t *event)
{
    static const char *const names[] = {"tenant_id", "medium", "backend_id"};
    const uint8_t *type = try_field(event, "event_type");

    if (type == NULL || cursor_kind(type) == CURSOR_NIL)
        type = try_field(event, "type");
    if (type == NULL) { /* all of it, then */
        put_value(print, PAINT_PLAIN, event);
        return;
    }
    put_word(print, type);
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        put_named(print, names[i], try_field(event, names[i]));
}

static void put_object_key(const struct try_print *print, const uint8_t *event)
{
    const uint8_t *key = try_field(event, "object_key");

    if (key == NULL || cursor_kind(key) == CURSOR_NIL)
        return;
    try_paint(print, PAINT_DIM, "%sobject_key=", indent);
    put_word(print, key);
    buffer_print(print->out, "\n");
}

/* A type that nobody publishes may be meant so; what is nearly one is not. */
static void put_type_note(const struct try_print *print, const uint8_t *type)
{
    char word[32] = "";
    struct nearest nearest = {.word = word};
    uint32_t size;
    const uint8_t *bytes = cursor_bytes(type, &size);

    if (size >= sizeof word)
        return;
    memcpy(word, bytes, size);
    for (size_t i = 0; event_type_name(i) != NULL; i++)
        nearest_offer(&nearest, event_type_name(i));
    if (nearest.known == NULL || nearest.distance == 0)
        return;
    try_paint(print, PAINT_LITTLE, "%snote", indent);
    buffer_print(print->out, ": \"");
    put_word(print, type);
    buffer_print(print->out,
                 "\" is no type that publishers write; did you mean \"%s\"?\n",
                 nearest.known);
}

/* What passes as it is, and is hardly what was meant. */
static void put_notes(const struct try_print *print, const uint8_t *event)
{
    const uint8_t *type = try_field(event, "event_type");
    const uint8_t *rank = try_field(event, "dp_rank");
    int64_t number;

    if (type != NULL && cursor_kind(type) == CURSOR_STR)
        put_type_note(print, type);
    if (rank == NULL || cursor_kind(rank) == CURSOR_NIL ||
        cursor_i64(rank, &number))
        return;
    try_paint(print, PAINT_LITTLE, "%snote", indent);
    buffer_print(print->out, ": dp_rank is ");
    put_value(print, PAINT_PLAIN, rank);
    buffer_print(print->out, ", not an integer\n");
}

static void put_side(const struct try_print *print, char sign,
                     enum try_paint style, const uint8_t *name,
                     const uint8_t *value)
{
    try_paint(print, style, "%s%c ", indent, sign);
    put_word(print, name);
    buffer_print(print->out, ": ");
    put_value(print, style, value);
    buffer_print(print->out, "\n");
}

static void put_change(void *context, const struct try_change *change)
{
    const struct try_print *print = context;

    if (change->old != NULL)
        put_side(print, '-', PAINT_OLD, change->name, change->old);
    if (change->new != NULL)
        put_side(print, '+', PAINT_NEW, change->name, change->new);
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

static bool is_at(const struct try_out *out, uint32_t index,
                  const uint8_t *event)
{
    const uint8_t *found = try_out_event(out, index);

    return found != NULL && try_is_same(found, event);
}

/* The first stream that got the same at that place. */
static size_t first_with(const struct try_core *core, uint32_t index,
                         const uint8_t *event)
{
    size_t i = 0;

    while (!is_at(&core->outs[i], index, event))
        i++;
    return i;
}

static void put_receivers(const struct try_print *print, uint32_t index,
                          const uint8_t *event)
{
    struct names names = {print, " → "};

    for (size_t i = 0; i < print->core->out_count; i++) {
        const struct try_out *out = &print->core->outs[i];

        if (is_at(out, index, event))
            put_name(&names, out->stream);
    }
    buffer_print(print->out, "\n");
}

static void put_result(const struct try_print *print,
                       const struct try_told *told, uint32_t index,
                       const uint8_t *event)
{
    bool same = try_is_same(told->event, event);

    buffer_print(print->out, "%s", indent);
    if (try_core_is_emitted(print->core, told->event, event)) {
        try_paint(print, PAINT_SEVERAL, "emitted ");
        put_kind(print, event);
        put_receivers(print, index, event);
        put_object_key(print, event);
        return;
    }
    if (told->verdict == TRY_SPLIT)
        try_paint(print, PAINT_SEVERAL, "%u", index + 1);
    else
        try_paint(print, PAINT_GOOD, "kept");
    if (same)
        try_paint(print, PAINT_DIM, " unchanged");
    put_receivers(print, index, event);
    if (try_diff(told->event, event, put_change, (void *)print) == 0 && !same)
        try_paint(print, PAINT_DIM, "%sthe same fields in other bytes\n",
                  indent);
}

static void put_results(const struct try_print *print,
                        const struct try_told *told)
{
    const struct try_core *core = print->core;
    uint32_t most = 0;

    for (size_t i = 0; i < core->out_count; i++)
        most = core->outs[i].events > most ? core->outs[i].events : most;
    if (told->verdict == TRY_SPLIT)
        try_paint(print, PAINT_SEVERAL, "%ssplit into %u\n", indent, most);
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

    try_paint(print, PAINT_BAD, "%slost", indent);
    for (size_t i = 0; i < core->out_count; i++) {
        const struct try_out *out = &core->outs[i];

        if (out->lost > 0 && out->cause == first->cause &&
            try_blame(core, out) == step)
            put_name(&names, out->stream);
    }
    if (step == NULL)
        buffer_print(print->out, ": %s\n", try_cause(core, first));
    else
        buffer_print(print->out, "%s in %s: %s\n",
                     step->on_error == CONFIG_ON_ERROR_DEAD_LETTER
                         ? ", with a dead letter,"
                         : "",
                     step->script, step->failure);
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

/* Has its failure been told as what an event was lost for? */
static bool is_blamed(const struct try_core *core, const struct try_step *step)
{
    for (size_t i = 0; i < core->out_count; i++)
        if (core->outs[i].lost > 0 && try_blame(core, &core->outs[i]) == step)
            return true;
    return false;
}

static void put_failure(const struct try_print *print,
                        const struct try_step *step)
{
    const char *fate = "failed";

    if (step->on_error == CONFIG_ON_ERROR_DROP)
        fate = "dropped by on_error";
    if (step->on_error == CONFIG_ON_ERROR_PASS)
        fate = "passed on by on_error";
    try_paint(print, PAINT_LITTLE, "%s%s", indent, fate);
    if (step->stream != NULL)
        buffer_print(print->out, " on %s", step->stream);
    buffer_print(print->out, " in %s: %s\n", step->script, step->failure);
}

/* Returns whether any filter said so. */
static bool put_drops(const struct try_print *print)
{
    const struct try_core *core = print->core;
    bool any = false;

    for (size_t i = 0; i < core->step_count; i++) {
        const struct try_step *step = &core->steps[i];

        if (step->did.dropped > 0) {
            try_paint(print, PAINT_LITTLE, "%sdropped", indent);
            if (step->stream != NULL)
                buffer_print(print->out, " on %s", step->stream);
            buffer_print(print->out, " by %s\n", step->script);
        }
        if (step->did.errors > 0 && !is_blamed(core, step))
            put_failure(print, step);
        any = any || step->did.dropped > 0 || step->did.errors > 0;
    }
    return any;
}

/* What filters wrote with kvgate.log. */
static void put_log(const struct try_print *print)
{
    const char *at = (const char *)print->core->log.data;
    size_t left = print->core->log.size;

    while (left > 0) {
        size_t size = (size_t)((const char *)memchr(at, '\n', left) - at) + 1;

        try_paint(print, PAINT_DIM, "%slog ", indent);
        buffer_put(print->out, at, size);
        at += size;
        left -= size;
    }
}

/* ---- blocks ---- */

/* What a person looks for first, in this order. */
static const char *const key_fields[] = {"model", "prefix", "salt",  "tp",
                                         "pp",    "hash",   "digest"};

enum { KEY_FIELDS = sizeof key_fields / sizeof *key_fields };

static void put_other_field(void *context, const struct try_change *change)
{
    const struct try_print *print = context;
    bool told = cursor_is_text(change->name, "convention", 10) ||
                cursor_is_text(change->name, "version", 7);

    for (size_t i = 0; i < KEY_FIELDS; i++)
        told = told || cursor_is_text(change->name, key_fields[i],
                                      strlen(key_fields[i]));
    if (told)
        return;
    buffer_print(print->out, " ");
    put_word(print, change->name);
    try_paint(print, PAINT_DIM, "=");
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
        for (size_t i = 0; i < KEY_FIELDS; i++) {
            const uint8_t *value = try_field(key, key_fields[i]);

            if (value != NULL)
                put_named(print, key_fields[i], value);
        }
        try_diff(no_fields, key, put_other_field, (void *)print);
    }
    buffer_print(print->out, "\n");
}

void try_text_event(const struct try_print *print, const struct try_told *told)
{
    try_paint(print, PAINT_BOLD, "#%" PRIu64 " ", print->events);
    put_kind(print, told->event);
    if (told->source != NULL)
        try_paint(print, PAINT_DIM, " from %s", told->source);
    buffer_print(print->out, "\n");
    put_object_key(print, told->event);
    if (told->key != NULL)
        put_key(print, told->key);
    put_notes(print, told->event);
    put_log(print);
    put_results(print, told);
    put_losses(print);
    if (!put_drops(print) && told->verdict == TRY_DROPPED) {
        try_paint(print, PAINT_LITTLE, "%sdropped", indent);
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
        const uint8_t *event = try_out_event(out, index);

        buffer_print(print->out, "%s%s gets ", indent, out->stream);
        put_kind(print, event);
        buffer_print(print->out, "\n");
        put_object_key(print, event);
    }
}

void try_text_mark(const struct try_print *print, const struct try_mark *mark)
{
    try_paint(print, PAINT_BOLD, "— %s", mark->kind);
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
    put_log(print);
    buffer_print(print->out, "\n");
}

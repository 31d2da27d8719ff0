#include "cli/try_print.h"

#include "base/json.h"
#include "cli/tap_value.h"
#include "codec/cursor.h"
#include "relay/stream.h"

#include <string.h>

/* ---- JSON ---- */

static void write_value(struct json *json, const uint8_t *value)
{
    msgpack_unpacked decoded;
    const char *reason =
        tap_value_decode(&decoded, value, (size_t)(cursor_skip(value) - value));

    if (reason == NULL)
        tap_value_write(json, &decoded.data);
    else
        json_text(json, reason);
    msgpack_unpacked_destroy(&decoded);
}

static bool is_same(const uint8_t *a, const uint8_t *b)
{
    size_t size = (size_t)(cursor_skip(a) - a);

    return (size_t)(cursor_skip(b) - b) == size && memcmp(a, b, size) == 0;
}

/* The value of the first field of that name; NULL: there is none. */
static const uint8_t *find(const uint8_t *map, const uint8_t *name)
{
    for (uint32_t left = cursor_enter(&map); left > 0; left--) {
        const uint8_t *value = cursor_skip(map);

        if (is_same(map, name))
            return value;
        map = cursor_skip(value);
    }
    return NULL;
}

static void write_key(struct json *json, const uint8_t *name)
{
    uint32_t size = 0;
    const uint8_t *text = name;

    if (cursor_kind(name) == CURSOR_STR)
        text = cursor_bytes(name, &size);
    json_key_bytes(json, (const char *)text, size);
}

static void write_change(struct json *json, const uint8_t *name,
                         const uint8_t *old, const uint8_t *new)
{
    write_key(json, name);
    json_object(json);
    if (old != NULL) {
        json_key(json, "old");
        write_value(json, old);
    }
    if (new != NULL) {
        json_key(json, "new");
        write_value(json, new);
    }
    json_end(json);
}

/* Fields that changed, came or went; what is not there has no "old", no "new".
 */
static void write_changes(struct json *json, const uint8_t *old,
                          const uint8_t *new)
{
    const uint8_t *at = old;

    json_key(json, "changes");
    json_object(json);
    for (uint32_t left = cursor_enter(&at); left > 0; left--) {
        const uint8_t *value = cursor_skip(at), *now = find(new, at);

        if (now == NULL || !is_same(value, now))
            write_change(json, at, value, now);
        at = cursor_skip(value);
    }
    at = new;
    for (uint32_t left = cursor_enter(&at); left > 0; left--) {
        const uint8_t *value = cursor_skip(at);

        if (find(old, at) == NULL)
            write_change(json, at, NULL, value);
        at = cursor_skip(value);
    }
    json_end(json);
}

/* One entry for each event that a stream got. */
static void write_out(struct json *json, const char *stream,
                      const struct try_out *out, const uint8_t *event)
{
    const uint8_t *at = out->payload.data;

    cursor_enter(&at);
    at = cursor_skip(at);
    for (uint32_t left = cursor_enter(&at); left > 0; left--) {
        json_object(json);
        json_key(json, "stream");
        json_text(json, stream);
        write_changes(json, event, at);
        json_end(json);
        at = cursor_skip(at);
    }
}

static void write_event(struct json *json, const struct try_print *print,
                        const struct try_core *core, enum try_verdict verdict,
                        const uint8_t *event)
{
    json_object(json);
    json_key(json, "event");
    json_u64(json, print->events);
    json_key(json, "verdict");
    json_text(json, try_verdict_names[verdict]);
    if (verdict == TRY_LOST) {
        json_key(json, "error");
        json_text(json, try_core_error(core));
    }
    json_key(json, "out");
    json_array(json);
    for (size_t i = 0; i < relay_stream_count(core->relay); i++)
        if (core->outs[i].events > 0)
            write_out(json, relay_stream(core->relay, i)->name, &core->outs[i],
                      event);
    json_end(json);
    json_end(json);
    buffer_put(json->out, "\n", 1);
}

void try_print_event(struct try_print *print, const struct try_core *core,
                     enum try_verdict verdict, const uint8_t *event)
{
    struct json json = {.out = print->out};

    print->events++;
    print->verdicts[verdict]++;
    write_event(&json, print, core, verdict, event);
}

void try_print_summary(struct try_print *print)
{
    struct json json = {.out = print->out};

    json_object(&json);
    json_key(&json, "summary");
    json_object(&json);
    json_key(&json, "events");
    json_u64(&json, print->events);
    for (size_t i = 0; i < TRY_VERDICTS; i++) {
        json_key(&json, try_verdict_names[i]);
        json_u64(&json, print->verdicts[i]);
    }
    json_end(&json);
    json_end(&json);
    buffer_put(print->out, "\n", 1);
}

#include "cli/tap_print.h"

#include "base/json.h"
#include "cli/tap_body.h"
#include "cli/tap_value.h"
#include "codec/cursor.h"

#include <stdio.h>
#include <string.h>

enum { SEQUENCE_SIZE = 8, FRAMES = 3 };

struct topic {
    const uint8_t *bytes;
    size_t size;
};

bool tap_print_done(const struct tap_printer *printer)
{
    return printer->options->count > 0 &&
           *printer->printed >= printer->options->count;
}

/* ---- a line ---- */

static struct json begin_unnamed(const struct tap_printer *printer)
{
    struct json json = {.out = printer->out};

    if (printer->colour > 0)
        buffer_print(printer->out, "\033[%um", 30 + printer->colour);
    json_object(&json);
    return json;
}

static void write_name(const struct tap_printer *printer, struct json *json)
{
    if (printer->name == NULL)
        return;
    json_key(json, "stream");
    json_text(json, printer->name);
}

static struct json begin_line(const struct tap_printer *printer)
{
    struct json json = begin_unnamed(printer);

    write_name(printer, &json);
    return json;
}

static void end_line(const struct tap_printer *printer, struct json *json)
{
    json_end(json);
    if (printer->colour > 0)
        buffer_print(printer->out, "\033[0m");
    buffer_put(printer->out, "\n", 1);
}

static void write_number(struct json *json, const char *name, uint64_t value)
{
    json_key(json, name);
    json_u64(json, value);
}

static void write_topic(struct json *json, const struct topic *topic)
{
    if (topic->size == 0)
        return;
    json_key(json, "topic");
    json_string(json, (const char *)topic->bytes, topic->size);
}

/* `number` and `position` are NULL where there is none to tell. */
static void write_malformed(struct json *json, const uint64_t *number,
                            const uint32_t *position, const char *reason)
{
    json_object(json);
    if (number != NULL)
        write_number(json, "seq", *number);
    if (position != NULL)
        write_number(json, "position", *position);
    json_key(json, "reason");
    json_text(json, reason);
    json_end(json);
}

static void write_bytes(struct json *json, const uint8_t *bytes)
{
    msgpack_unpacked value;
    const char *reason =
        tap_value_decode(&value, bytes, (size_t)(cursor_skip(bytes) - bytes));

    if (reason == NULL)
        tap_value_write(json, &value.data);
    else
        write_malformed(json, NULL, NULL, reason);
    msgpack_unpacked_destroy(&value);
}

/* ---- marks ---- */

static void print_gap(const struct tap_printer *printer, uint64_t last,
                      uint64_t number, uint64_t missing)
{
    struct json json = begin_line(printer);

    json_key(&json, "gap");
    json_object(&json);
    write_number(&json, "after", last);
    write_number(&json, "before", number);
    write_number(&json, "missing", missing);
    json_end(&json);
    end_line(printer, &json);
}

/* `before` is the tracker as it was; the event_id is told when it alone shows
 * that the publisher started over. */
static void print_restart(const struct tap_printer *printer,
                          const struct seq_tracker *before, uint64_t number,
                          uint64_t first_id)
{
    struct json json = begin_line(printer);

    json_key(&json, "restart");
    json_object(&json);
    write_number(&json, "last", before->last);
    write_number(&json, "now", number);
    if (number > before->last) {
        json_key(&json, "event_id");
        json_object(&json);
        write_number(&json, "last", before->last_id);
        write_number(&json, "now", first_id);
        json_end(&json);
    }
    json_end(&json);
    end_line(printer, &json);
}

static void print_malformed(const struct tap_printer *printer,
                            const uint64_t *number, const uint32_t *position,
                            const char *reason)
{
    struct json json = begin_line(printer);

    json_key(&json, "malformed");
    write_malformed(&json, number, position, reason);
    end_line(printer, &json);
}

static void print_wrong_frames(const struct tap_printer *printer,
                               const struct message *message)
{
    char reason[64];

    if (message->frames != FRAMES)
        snprintf(reason, sizeof reason, "frames: %zu instead of %d",
                 message->frames, FRAMES);
    else
        snprintf(reason, sizeof reason, "bytes of the sequence: %zu, not %d",
                 message->sequence_size, SEQUENCE_SIZE);
    print_malformed(printer, NULL, NULL, reason);
}

/* Say what the numbers tell. */
static void print_loss(struct tap_printer *printer, uint64_t number,
                       const struct tap_body *body)
{
    struct seq_tracker before = printer->tracker;
    struct seq_judgement judgement =
        seq_track(&printer->tracker, number, body->first_id, body->last_id);

    /* A restart that only the event_id shows may leave out numbers as well. */
    if (judgement.verdict != SEQ_FIRST && number > before.last &&
        number - before.last > 1)
        print_gap(printer, before.last, number, number - before.last - 1);
    if (judgement.verdict == SEQ_RESTART)
        print_restart(printer, &before, number, body->first_id);
}

/* ---- events and messages ---- */

/* Decode the event at `at` and step behind it; NULL or why it is none. */
static const char *take_event(msgpack_unpacked *event, const uint8_t **at)
{
    const uint8_t *start = *at;
    const char *reason;

    *at = cursor_skip(start);
    reason = tap_value_decode(event, start, (size_t)(*at - start));
    if (reason == NULL && event->data.type != MSGPACK_OBJECT_MAP &&
        event->data.type != MSGPACK_OBJECT_ARRAY)
        return "the event is neither a map nor an array";
    return reason;
}

static bool is_wanted(const struct argument_list *fields,
                      const msgpack_object *key)
{
    if (fields->count == 0)
        return true;
    if (key->type != MSGPACK_OBJECT_STR)
        return false;
    for (size_t i = 0; i < fields->count; i++) {
        size_t size = strlen(fields->items[i]);

        if (size == key->via.str.size &&
            memcmp(fields->items[i], key->via.str.ptr, size) == 0)
            return true;
    }
    return false;
}

static void write_fields(const struct tap_printer *printer, struct json *json,
                         const msgpack_object_map *event)
{
    for (uint32_t i = 0; i < event->size; i++) {
        const msgpack_object_kv *field = &event->ptr[i];

        if (!is_wanted(&printer->options->fields, &field->key))
            continue;
        tap_value_key(json, &field->key);
        tap_value_write(json, &field->val);
    }
}

/* An event that is an array, as some publishers send, has no fields to mingle
 * with ours. */
static void write_event(const struct tap_printer *printer, struct json *json,
                        const msgpack_object *event)
{
    if (event->type == MSGPACK_OBJECT_MAP) {
        write_fields(printer, json, &event->via.map);
        return;
    }
    json_key(json, "event");
    tap_value_write(json, event);
}

/* Will the event's own field of that name be in the line? */
static bool has_field(const struct tap_printer *printer,
                      const msgpack_object *event, const char *name)
{
    const msgpack_object_map *map = &event->via.map;
    size_t size = strlen(name);

    if (event->type != MSGPACK_OBJECT_MAP)
        return false;
    for (uint32_t i = 0; i < map->size; i++) {
        const msgpack_object *key = &map->ptr[i].key;

        if (key->type == MSGPACK_OBJECT_STR && key->via.str.size == size &&
            memcmp(key->via.str.ptr, name, size) == 0)
            return is_wanted(&printer->options->fields, key);
    }
    return false;
}

/* What the event has itself (a dead letter has a position) is said once. */
static void print_event(struct tap_printer *printer, const struct topic *topic,
                        uint64_t number, uint32_t position,
                        const msgpack_object *event)
{
    struct json json = begin_unnamed(printer);

    if (!has_field(printer, event, "stream"))
        write_name(printer, &json);
    if (!has_field(printer, event, "topic"))
        write_topic(&json, topic);
    if (!has_field(printer, event, "seq"))
        write_number(&json, "seq", number);
    if (!has_field(printer, event, "position"))
        write_number(&json, "position", position);
    write_event(printer, &json, event);
    end_line(printer, &json);
    ++*printer->printed;
}

static void print_events(struct tap_printer *printer, const struct topic *topic,
                         uint64_t number, const struct tap_body *body)
{
    const uint8_t *at = body->events;

    for (uint32_t i = 0; i < body->count && !tap_print_done(printer); i++) {
        msgpack_unpacked event;
        const char *reason = take_event(&event, &at);

        if (reason == NULL)
            print_event(printer, topic, number, i, &event.data);
        else
            print_malformed(printer, &number, &i, reason);
        msgpack_unpacked_destroy(&event);
    }
}

static void write_header(struct json *json, const struct topic *topic,
                         uint64_t number, const struct tap_body *body)
{
    write_topic(json, topic);
    write_number(json, "seq", number);
    json_key(json, "timestamp");
    write_bytes(json, body->timestamp);
    if (body->rank != NULL) {
        json_key(json, "dp_rank");
        write_bytes(json, body->rank);
    }
}

static void write_whole_event(const struct tap_printer *printer,
                              struct json *json, const msgpack_object *event)
{
    if (event->type != MSGPACK_OBJECT_MAP) {
        tap_value_write(json, event);
        return;
    }
    json_object(json);
    write_fields(printer, json, &event->via.map);
    json_end(json);
}

static void write_events(const struct tap_printer *printer, struct json *json,
                         const struct tap_body *body)
{
    const uint8_t *at = body->events;

    json_key(json, "events");
    json_array(json);
    for (uint32_t i = 0; i < body->count; i++) {
        msgpack_unpacked event;
        const char *reason = take_event(&event, &at);

        if (reason == NULL)
            write_whole_event(printer, json, &event.data);
        else
            write_malformed(json, NULL, NULL, reason);
        msgpack_unpacked_destroy(&event);
    }
    json_end(json);
}

static void print_batch(struct tap_printer *printer, const struct topic *topic,
                        uint64_t number, const struct tap_body *body)
{
    struct json json = begin_line(printer);

    write_header(&json, topic, number, body);
    write_events(printer, &json, body);
    end_line(printer, &json);
    ++*printer->printed;
}

static void print_announcement(const struct tap_printer *printer,
                               const struct topic *topic, uint64_t number,
                               const struct tap_body *body)
{
    struct json json = begin_line(printer);

    json_key(&json, "announcement");
    json_object(&json);
    write_header(&json, topic, number, body);
    json_end(&json);
    end_line(printer, &json);
}

void tap_print_message(struct tap_printer *printer, const uint8_t *topic_bytes,
                       size_t topic_size, const struct message *message)
{
    struct topic topic = {topic_bytes, topic_size};
    struct tap_body body;
    const char *reason;
    uint64_t number;

    if (message->frames != FRAMES || message->sequence_size != SEQUENCE_SIZE) {
        print_wrong_frames(printer, message);
        return;
    }
    number = seq_read(message->sequence);
    reason = tap_body_open(&body, message->payload, message->payload_size);
    print_loss(printer, number, &body);
    if (reason != NULL)
        print_malformed(printer, &number, NULL, reason);
    else if (body.count == 0)
        print_announcement(printer, &topic, number, &body);
    else if (printer->options->batches)
        print_batch(printer, &topic, number, &body);
    else
        print_events(printer, &topic, number, &body);
}

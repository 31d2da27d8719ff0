#include "cli/tap_body.h"

#include "codec/cursor.h"

#include <stdbool.h>

static uint64_t event_id(const uint8_t *event)
{
    static const char name[] = "event_id";
    uint64_t id = 0;
    uint32_t pairs;

    if (cursor_kind(event) != CURSOR_MAP)
        return 0;
    pairs = cursor_enter(&event);
    for (uint32_t i = 0; i < pairs; i++) {
        const uint8_t *value = cursor_skip(event);

        if (cursor_is_text(event, name, sizeof name - 1) &&
            cursor_u64(value, &id))
            return id;
        event = cursor_skip(value);
    }
    return 0;
}

static void find_ids(struct tap_body *body)
{
    const uint8_t *event = body->events;

    for (uint32_t i = 0; i < body->count; i++) {
        uint64_t id = event_id(event);

        if (body->first_id == 0)
            body->first_id = id;
        if (id != 0)
            body->last_id = id;
        event = cursor_skip(event);
    }
}

const char *tap_body_open(struct tap_body *body, const uint8_t *payload,
                          size_t size)
{
    const uint8_t *at = payload;
    uint32_t members;

    *body = (struct tap_body){0};
    if (size == 0 || cursor_check(payload, payload + size) != payload + size)
        return "the payload is not one msgpack value";
    if (cursor_kind(at) != CURSOR_ARRAY)
        return "the payload is not an array";
    members = cursor_enter(&at);
    if (members < 2)
        return "the payload has less than two members";
    body->timestamp = at;
    at = cursor_skip(at);
    if (cursor_kind(at) != CURSOR_ARRAY)
        return "the payload's second member is not an array";
    if (members > 2)
        body->rank = cursor_skip(at);
    body->count = cursor_enter(&at);
    body->events = at;
    find_ids(body);
    return NULL;
}

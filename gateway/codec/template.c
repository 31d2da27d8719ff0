#include "codec/template.h"
#include "codec/cursor.h"

#include <string.h>

/* ---- matching ---- */

/* The bits in which 8 bytes differ. */
static inline uint64_t differ8(const uint8_t *a, const uint8_t *b)
{
    uint64_t x;
    uint64_t y;

    memcpy(&x, a, sizeof x);
    memcpy(&y, b, sizeof y);
    return x ^ y;
}

static inline uint64_t differ16(const uint8_t *a, const uint8_t *b)
{
    return differ8(a, b) | differ8(a + 8, b + 8);
}

/* memcmp would do, but for a short run its call costs more than its work.  Two
 * steps may overlap, which is cheaper than a tail. */
static inline bool same(const uint8_t *a, const uint8_t *b, size_t size)
{
    if (size < 8 || size > 32)
        return memcmp(a, b, size) == 0;
    if (size < 16)
        return (differ8(a, b) | differ8(a + size - 8, b + size - 8)) == 0;
    return (differ16(a, b) | differ16(a + size - 16, b + size - 16)) == 0;
}

/* Bytes of the value in a hole, at most `left`; 0: it is cut or no value. */
static inline size_t hole_size(const uint8_t *at, size_t left)
{
    const uint8_t *end;
    size_t size;

    if (left < 2) /* only behind an event that is cut */
        return 0;
    size = at[0] == 0xd9 ? 2u + at[1] : cursor_forms[at[0]].size;
    if (size == 0) {
        end = cursor_check_inside(at, at + left, 1);
        return end != NULL ? (size_t)(end - at) : 0;
    }
    return size <= left ? size : 0;
}

/* The value in a hole has another size: the fields behind it have moved. */
static void move_fields(struct event *event, const struct template_run *run,
                        uint32_t by)
{
    for (int i = 0; i < EVENT_FIELDS; i++)
        event->at[i] += by & run->behind[i];
}

/* An id of the usual forms, or whatever event_judge says. */
static bool is_sound(const struct template *template, struct event *event)
{
    uint32_t id = event->at[FIELD_EVENT_ID];

    if (!template->type_varies &&
        (id == 0 || cursor_kind(event->bytes + id) == CURSOR_UINT))
        return true;
    return event_judge(event) == EVENT_OK;
}

const uint8_t *template_match(const struct template *template,
                              struct event *event, const uint8_t *bytes,
                              const uint8_t *end)
{
    const struct template_run *run = template->runs;
    const struct template_run *last = run + template->holes;
    const uint8_t *kept = template->bytes.data;
    const uint8_t *at = bytes;

    if (template->constant == 0 || template->constant > (size_t)(end - bytes))
        return NULL;
    event->bytes = bytes;
    event->edits = NULL;
    event->state = EVENT_LIVE;
    event->type = template->type;
    event->touched = 0;
    event->cause = 0;
    memcpy(event->at, template->at, sizeof event->at);
    for (; run < last; run++) {
        size_t size;

        if (!same(at, kept + run->start, run->size))
            return NULL;
        at += run->size;
        size = hole_size(at, (size_t)(end - at) - run->rest);
        if (size == 0)
            return NULL;
        if (size != run->hole)
            move_fields(event, run, (uint32_t)size - run->hole);
        at += size;
    }
    if (!same(at, kept + run->start, run->size))
        return NULL;
    at += run->size;
    event->size = (uint32_t)(at - bytes);
    return is_sound(template, event) ? at : NULL;
}

/* ---- learning ---- */

/* The pairs of an event; false when there are too many to keep. */
static bool lay_out(const struct event *event, struct template_pair *pairs,
                    uint32_t *count)
{
    const uint8_t *at = event->bytes;

    if (event->size > TEMPLATE_BYTES)
        return false;
    *count = cursor_enter(&at);
    if (*count > TEMPLATE_PAIRS)
        return false;
    for (uint32_t i = 0; i < *count; i++) {
        uint32_t size;
        const uint8_t *name = cursor_bytes(at, &size);

        pairs[i].key = (uint16_t)(at - event->bytes);
        pairs[i].field = (uint8_t)field_find(name, size);
        pairs[i].is_hole = false;
        pairs[i].value = (uint16_t)(name + size - event->bytes);
        at = cursor_skip(name + size);
        pairs[i].end = (uint16_t)(at - event->bytes);
    }
    return true;
}

static bool same_bytes(const uint8_t *a, uint32_t a_size, const uint8_t *b,
                       uint32_t b_size)
{
    return a_size == b_size && memcmp(a, b, a_size) == 0;
}

/* Everything but the values agrees: the map's header and every key. */
static bool same_shape(const struct template *template, const uint8_t *bytes,
                       const struct template_pair *pairs, uint32_t count)
{
    const uint8_t *kept = template->bytes.data;

    if (template->bytes.size == 0 || template->pair_count != count ||
        !same_bytes(kept, template->pairs[0].key, bytes, pairs[0].key))
        return false;
    for (uint32_t i = 0; i < count; i++) {
        const struct template_pair *mine = &template->pairs[i];

        if (!same_bytes(kept + mine->key, mine->value - mine->key,
                        bytes + pairs[i].key, pairs[i].value - pairs[i].key))
            return false;
    }
    return true;
}

static void mark_holes(struct template *template, const uint8_t *bytes,
                       const struct template_pair *pairs)
{
    for (uint32_t i = 0; i < template->pair_count; i++) {
        struct template_pair *mine = &template->pairs[i];

        if (!same_bytes(template->bytes.data + mine->value,
                        mine->end - mine->value, bytes + pairs[i].value,
                        pairs[i].end - pairs[i].value))
            mine->is_hole = true;
    }
}

static void divide_behind(struct template *template, struct template_run *run,
                          const struct template_pair *hole)
{
    run->hole = (uint16_t)(hole->end - hole->value);
    for (int i = 0; i < EVENT_FIELDS; i++)
        run->behind[i] = template->at[i] > hole->value ? UINT32_MAX : 0;
    if (hole->field == FIELD_EVENT_TYPE || hole->field == FIELD_TYPE)
        template->type_varies = true;
}

/* Runs anew from the pairs. */
static void divide(struct template *template)
{
    struct template_run *run = template->runs;
    uint32_t start = 0;

    template->type_varies = false;
    for (uint32_t i = 0; i < template->pair_count; i++) {
        const struct template_pair *pair = &template->pairs[i];

        if (!pair->is_hole)
            continue;
        run->start = (uint16_t)start;
        run->size = (uint16_t)(pair->value - start);
        divide_behind(template, run, pair);
        start = pair->end;
        run++;
    }
    run->start = (uint16_t)start;
    run->size = (uint16_t)(template->bytes.size - start);
    template->holes = (uint32_t)(run - template->runs);
    template->constant = run->size;
    while (run-- > template->runs) {
        run->rest = template->constant;
        template->constant += run->size;
    }
}

static void adopt(struct template *template, const struct event *event,
                  const struct template_pair *pairs, uint32_t count)
{
    buffer_clear(&template->bytes);
    buffer_put(&template->bytes, event->bytes, event->size);
    memcpy(template->pairs, pairs, count * sizeof *pairs);
    memcpy(template->at, event->at, sizeof template->at);
    template->pair_count = count;
    template->type = event->type;
    template->patience = TEMPLATE_PATIENCE;
}

void template_learn(struct template *template, const struct event *event)
{
    struct template_pair pairs[TEMPLATE_PAIRS];
    uint32_t count;

    if (!lay_out(event, pairs, &count))
        return;
    if (same_shape(template, event->bytes, pairs, count)) {
        mark_holes(template, event->bytes, pairs);
    } else if (template->patience > 0) {
        template->patience--;
        return;
    } else {
        adopt(template, event, pairs, count);
    }
    divide(template);
}

void template_deinit(struct template *template)
{
    buffer_free(&template->bytes);
}

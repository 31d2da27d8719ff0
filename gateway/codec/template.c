#include "codec/template.h"
#include "codec/cursor.h"

#include <string.h>

/* ---- matching ---- */

static inline uint64_t load(const uint8_t *at)
{
    uint64_t word;

    memcpy(&word, at, sizeof word);
    return word;
}

/* The last words may overlap the ones before: cheaper than a tail. */
static inline bool same(const uint8_t *a, const uint8_t *b, size_t size)
{
    uint64_t differ = 0;
    size_t i;

    if (size < sizeof differ)
        return memcmp(a, b, size) == 0;
    for (i = 0; i + 2 * sizeof differ <= size; i += 2 * sizeof differ)
        if (((load(a + i) ^ load(b + i)) | (load(a + i + 8) ^ load(b + i + 8))))
            return false;
    if (i + sizeof differ <= size)
        differ = load(a + i) ^ load(b + i);
    i = size - sizeof differ;
    return (differ | (load(a + i) ^ load(b + i))) == 0;
}

/* Behind the value in a hole, which is inside the event's map. */
static inline const uint8_t *behind_hole(const uint8_t *at, const uint8_t *end)
{
    size_t left = (size_t)(end - at);
    size_t size;

    if (left < 2) /* a hole is never the last byte of a payload */
        return NULL;
    size = at[0] == 0xd9 ? 2u + at[1] : cursor_sizes[at[0]];
    if (size == 0)
        return cursor_check_inside(at, end, 1);
    return size <= left ? at + size : NULL;
}

const uint8_t *template_match(const struct template *template,
                              struct event *event, const uint8_t *bytes,
                              const uint8_t *end)
{
    const struct template_run *run = template->runs;
    const struct template_run *last = run + template->holes;
    const struct template_place *place = template->places;
    const uint8_t *at = bytes;

    if (template->bytes.size == 0)
        return NULL;
    *event = (struct event){.bytes = bytes, .type = template->type};
    for (;; run++) {
        const struct template_place *stop = template->places + run->places_end;
        uint32_t shift = (uint32_t)(at - bytes) - run->start;

        if ((size_t)(end - at) < run->size ||
            !same(at, template->bytes.data + run->start, run->size))
            return NULL;
        for (; place < stop; place++)
            event->at[place->field] = place->at + shift;
        at += run->size;
        if (run == last)
            break;
        at = behind_hole(at, end);
        if (at == NULL)
            return NULL;
    }
    event->size = (uint32_t)(at - bytes);
    if (template->is_judged && event_judge(event) != EVENT_OK)
        return NULL;
    return at;
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

static bool is_judge_field(uint8_t field)
{
    return field == FIELD_EVENT_ID || field == FIELD_EVENT_TYPE ||
           field == FIELD_TYPE;
}

/* Runs and places anew from the pairs. */
static void divide(struct template *template)
{
    struct template_run *run = template->runs;
    uint32_t places = 0;

    *run = (struct template_run){0};
    template->is_judged = false;
    for (uint32_t i = 0; i < template->pair_count; i++) {
        const struct template_pair *pair = &template->pairs[i];

        if (pair->field != FIELD_NONE)
            template->places[places++] =
                (struct template_place){pair->value, pair->field};
        if (!pair->is_hole)
            continue;
        template->is_judged |= is_judge_field(pair->field);
        run->size = (uint16_t)(pair->value - run->start);
        run->places_end = places;
        *++run = (struct template_run){.start = pair->end};
    }
    run->size = (uint16_t)(template->bytes.size - run->start);
    run->places_end = places;
    template->holes = (uint32_t)(run - template->runs);
}

static void adopt(struct template *template, const struct event *event,
                  const struct template_pair *pairs, uint32_t count)
{
    buffer_clear(&template->bytes);
    buffer_put(&template->bytes, event->bytes, event->size);
    memcpy(template->pairs, pairs, count * sizeof *pairs);
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

#include "script/border.h"

#include "base/buffer.h"
#include "base/memory.h"
#include "codec/batch.h"
#include "codec/cursor.h"
#include "codec/field.h"
#include "codec/pack.h"
#include "script/border_emit.h"
#include "script/border_log.h"
#include "script/digest.h"
#include "script/keys/key_border.h"
#include "script/metric.h"
#include "script/shards/shards.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

_Static_assert((int)FIELD_NONE == (int)EVENT_NAMED, "see event_abi.h");
_Static_assert((int)BATCH_SLOTS <= (int)BORDER_SPLIT, "order holds a batch");

static const double exact_max = 9007199254740992.0; /* 2^53 */

/* The border with what only C sees of it. */
struct border_box {
    struct border border; /* first: a border is its box */
    struct buffer out;
    struct batch none; /* shown between runs: readers don't ask for NULL */
};

static struct buffer *out_of(struct border *border)
{
    return &((struct border_box *)border)->out;
}

/* ---- reading ---- */

static void take_unsigned(struct token *token, uint64_t value)
{
    token->u64 = value;
    token->i64 = (int64_t)value;
    token->number = (double)value;
    token->kind = value <= (uint64_t)exact_max ? TOKEN_NUMBER : TOKEN_UNSIGNED;
}

static void take_integer(struct token *token)
{
    int64_t value;
    uint64_t positive;

    if (cursor_u64(token->start, &positive)) {
        take_unsigned(token, positive);
        return;
    }
    if (!cursor_i64(token->start, &value))
        value = 0; /* can't be: a checked integer is one or the other */
    token->u64 = (uint64_t)value;
    token->i64 = value;
    token->number = (double)value;
    token->kind = value >= -(int64_t)exact_max ? TOKEN_NUMBER : TOKEN_SIGNED;
}

static void take_bytes(struct token *token, enum token_kind kind)
{
    token->kind = kind;
    token->bytes = cursor_bytes(token->start, &token->size);
    if (kind == TOKEN_EXT)
        token->ext = (int8_t)token->bytes[-1];
}

/* LuaJIT keeps types and pointers in NaNs and takes any that FFI reads for a
 * value of its own: a NaN off the wire must be the one that is a number. */
static void take_float(struct token *token, enum token_kind kind)
{
    double value = cursor_double(token->start);

    token->kind = kind;
    token->number = isnan(value) ? (double)NAN : value;
}

static void take_container(struct token *token, enum token_kind kind)
{
    token->kind = kind;
    token->at = token->start;
    token->size = cursor_enter(&token->at);
}

/* Take the value at `start` apart; everything but `at` of a scalar. */
static void take_value(struct token *token)
{
    switch (cursor_kind(token->start)) {
    case CURSOR_UINT:
    case CURSOR_INT:
        take_integer(token);
        break;
    case CURSOR_BOOL:
        token->kind = *token->start == 0xc3 ? TOKEN_TRUE : TOKEN_FALSE;
        break;
    case CURSOR_FLOAT32:
        take_float(token, TOKEN_FLOAT32);
        break;
    case CURSOR_FLOAT64:
        take_float(token, TOKEN_FLOAT64);
        break;
    case CURSOR_STR:
        take_bytes(token, TOKEN_STR);
        break;
    case CURSOR_BIN:
        take_bytes(token, TOKEN_BIN);
        break;
    case CURSOR_EXT:
        take_bytes(token, TOKEN_EXT);
        break;
    case CURSOR_ARRAY:
        take_container(token, TOKEN_ARRAY);
        break;
    case CURSOR_MAP:
        take_container(token, TOKEN_MAP);
        break;
    case CURSOR_NIL:
    case CURSOR_INVALID: /* can't be: the bytes are checked */
        token->kind = TOKEN_NIL;
        break;
    }
}

static uint32_t border_next(struct border *border)
{
    struct token *token = &border->token;

    token->start = token->at;
    take_value(token);
    if (token->kind != TOKEN_ARRAY && token->kind != TOKEN_MAP)
        token->at = cursor_skip(token->start);
    return token->kind;
}

static void border_skip(struct border *border)
{
    border->token.at = cursor_skip(border->token.at);
}

static uint32_t border_read(struct border *border, const struct event *event,
                            uint32_t field, const char *name, size_t name_size)
{
    struct token *token = &border->token;

    token->start =
        event_field(event, (enum field)field, (const uint8_t *)name, name_size);
    if (token->start == NULL)
        token->kind = TOKEN_ABSENT;
    else
        take_value(token);
    return token->kind;
}

/* ---- writing ---- */

static bool is_integral(double value)
{
    return value >= -0x1p63 && value < 0x1p64 && value == floor(value);
}

static uint8_t *pack_number(uint8_t *at, double value)
{
    if (!is_integral(value))
        return pack_float64(at, value);
    return value < 0 ? pack_i64(at, (int64_t)value)
                     : pack_u64(at, (uint64_t)value);
}

/* At most PACK_SCALAR bytes. */
static uint8_t *pack_token(uint8_t *at, const struct token *token)
{
    switch ((enum token_kind)token->kind) {
    case TOKEN_FALSE:
    case TOKEN_TRUE:
        return pack_bool(at, token->kind == TOKEN_TRUE);
    case TOKEN_NUMBER:
        return pack_number(at, token->number);
    case TOKEN_UNSIGNED:
        return pack_u64(at, token->u64);
    case TOKEN_SIGNED:
        return pack_i64(at, token->i64);
    case TOKEN_FLOAT32:
        return pack_float32(at, (float)token->number);
    case TOKEN_FLOAT64:
        return pack_float64(at, token->number);
    case TOKEN_ARRAY:
        return pack_array(at, token->size);
    case TOKEN_MAP:
        return pack_map(at, token->size);
    default:
        return pack_nil(at);
    }
}

static bool has_room(struct border *border, size_t size)
{
    return size <= BORDER_VALUE && out_of(border)->size <= BORDER_VALUE - size;
}

static void border_begin(struct border *border)
{
    buffer_clear(out_of(border));
}

static bool border_put(struct border *border)
{
    struct buffer *out = out_of(border);
    uint8_t *at;

    if (!has_room(border, PACK_SCALAR))
        return false;
    at = buffer_reserve(out, PACK_SCALAR);
    out->size += (size_t)(pack_token(at, &border->token) - at);
    return true;
}

enum { BYTES_HEADER = 6 }; /* ext32: tag, size, type */

static uint8_t *pack_ext_header(uint8_t *at, uint32_t size, int8_t type)
{
    static const uint8_t fixed[17] = {
        [1] = 0xd4, [2] = 0xd5, [4] = 0xd6, [8] = 0xd7, [16] = 0xd8};
    unsigned shift;

    if (size <= 16 && fixed[size] != 0) {
        *at++ = fixed[size];
    } else {
        *at++ = size < 1 << 8 ? 0xc7 : size < 1 << 16 ? 0xc8 : 0xc9;
        shift = size < 1 << 8 ? 8 : size < 1 << 16 ? 16 : 32;
        while (shift > 0) {
            shift -= 8;
            *at++ = (uint8_t)(size >> shift);
        }
    }
    *at++ = (uint8_t)type;
    return at;
}

static uint8_t *pack_bytes_header(const struct border *border, uint8_t *at,
                                  uint32_t kind, uint32_t size)
{
    switch (kind) {
    case TOKEN_BIN:
        return pack_bin_header(at, size);
    case TOKEN_EXT:
        return pack_ext_header(at, size, (int8_t)border->token.ext);
    default:
        return pack_str_header(at, size);
    }
}

static bool border_put_bytes(struct border *border, uint32_t kind,
                             const char *bytes, size_t size)
{
    struct buffer *out = out_of(border);
    uint8_t *at;

    if (!has_room(border, size) || !has_room(border, size + BYTES_HEADER))
        return false;
    at = buffer_reserve(out, BYTES_HEADER);
    at = pack_bytes_header(border, at, kind, (uint32_t)size);
    out->size = (size_t)(at - out->data);
    buffer_put(out, bytes, size);
    return true;
}

static bool border_put_raw(struct border *border, const char *bytes,
                           size_t size)
{
    if (!has_room(border, size))
        return false;
    buffer_put(out_of(border), bytes, size);
    return true;
}

static bool border_assign(struct border *border, struct event *event,
                          uint32_t field, const char *name, size_t name_size)
{
    const struct buffer *out = out_of(border);

    return event_assign(border->batch, event, (enum field)field,
                        (const uint8_t *)name, name_size, out->data, out->size);
}

/* A float stays a float of its width, though its new value is an integer. */
static void keep_float(struct token *token, const uint8_t *present)
{
    if (present == NULL || token->kind != TOKEN_NUMBER)
        return;
    if (cursor_kind(present) == CURSOR_FLOAT32)
        token->kind = TOKEN_FLOAT32;
    else if (cursor_kind(present) == CURSOR_FLOAT64)
        token->kind = TOKEN_FLOAT64;
}

static bool border_set(struct border *border, struct event *event,
                       uint32_t field, const char *name, size_t name_size,
                       bool wrap)
{
    uint8_t packed[1 + PACK_SCALAR];
    uint8_t *at = packed;

    if (wrap)
        at = pack_array(at, 1);
    else
        keep_float(&border->token,
                   event_field(event, (enum field)field, (const uint8_t *)name,
                               name_size));
    at = pack_token(at, &border->token);
    return event_assign(border->batch, event, (enum field)field,
                        (const uint8_t *)name, name_size, packed,
                        (size_t)(at - packed));
}

static bool border_set_hash(struct border *border, struct event *event,
                            uint32_t field, uint64_t hash)
{
    uint8_t packed[1 + PACK_SCALAR];
    uint8_t *at = pack_u64(pack_array(packed, 1), hash);

    return event_assign(border->batch, event, (enum field)field, NULL, 0,
                        packed, (size_t)(at - packed));
}

static bool border_set_text(struct border *border, struct event *event,
                            uint32_t field, const char *name, size_t name_size,
                            const char *text, size_t size)
{
    const uint8_t *present =
        event_field(event, (enum field)field, (const uint8_t *)name, name_size);
    uint32_t kind = TOKEN_STR;

    if (present != NULL && cursor_kind(present) == CURSOR_BIN)
        kind = TOKEN_BIN;
    border_begin(border);
    return border_put_bytes(border, kind, text, size) &&
           border_assign(border, event, field, name, name_size);
}

static bool border_remove(struct border *border, struct event *event,
                          uint32_t field, const char *name, size_t name_size)
{
    return event_remove(border->batch, event, (enum field)field,
                        (const uint8_t *)name, name_size);
}

/* ---- verdicts ---- */

static void border_narrow(struct border *border, uint32_t slot, uint32_t count)
{
    const struct batch *batch = border->batch;
    uint64_t *reach = batch->reach + (size_t)slot * batch->words;

    for (uint32_t word = 0; word < batch->words; word++) {
        uint64_t mask = 0;

        for (uint32_t i = 0; i < count; i++)
            if (border->order[i] / 64 == word)
                mask |= UINT64_C(1) << border->order[i] % 64;
        reach[word] &= mask;
    }
}

/* A script may copy an event that it kept of this batch and that was dropped or
 * lost since: the copy is neither. */
static uint32_t border_copy(struct border *border, uint32_t slot)
{
    struct batch *batch = border->batch;
    uint32_t copy = batch_copy(batch, slot);

    if (copy != EVENT_END) {
        batch->slots[copy].state = EVENT_LIVE;
        batch->slots[copy].cause = 0;
    }
    return copy;
}

/* The link that leads to `slot`. */
static uint32_t *link_to(struct batch *batch, uint32_t slot)
{
    uint32_t *link = &batch->head;

    while (*link != slot && *link != EVENT_END)
        link = &batch->slots[*link].next;
    return link;
}

static bool is_among(const uint32_t *slots, uint32_t count, uint32_t slot)
{
    for (uint32_t i = 0; i < count; i++)
        if (slots[i] == slot)
            return true;
    return false;
}

static void border_split(struct border *border, uint32_t count)
{
    struct batch *batch = border->batch;
    struct event *original = &batch->slots[batch->current];
    uint32_t *link = link_to(batch, batch->current);
    uint32_t rest = original->next;

    if (!is_among(border->order, count, batch->current)) {
        original->state = EVENT_DROPPED;
        link = &original->next;
    }
    for (uint32_t i = 0; i < count; i++) {
        *link = border->order[i];
        link = &batch->slots[border->order[i]].next;
    }
    *link = rest;
    batch->mark = batch->used; /* they are the batch's, whatever fails now */
}

/* ---- the struct ---- */

void border_show(struct border *border, struct batch *batch)
{
    border->batch =
        batch == NULL ? &((struct border_box *)border)->none : batch;
    border->base = (uint64_t)border->batch->serial << 32;
}

struct border *border_new(void)
{
    struct border_box *box = memory_new(sizeof *box);
    struct border *border = &box->border;

    border_show(border, NULL);
    border->keys = &key_border;
    border->digests = &digest_border;
    border->shards = &shard_border;
    border->metrics = &metric_border;
    border->metric_list = metric_list_new();
    border->read = border_read;
    border->next = border_next;
    border->skip = border_skip;
    border->set = border_set;
    border->set_hash = border_set_hash;
    border->set_text = border_set_text;
    border->begin = border_begin;
    border->put = border_put;
    border->put_bytes = border_put_bytes;
    border->put_raw = border_put_raw;
    border->assign = border_assign;
    border->remove = border_remove;
    border->narrow = border_narrow;
    border->copy = border_copy;
    border->split = border_split;
    border_emit_init(border);
    border_log_init(border);
    return border;
}

void border_free(struct border *border)
{
    if (border == NULL)
        return;
    metric_list_free(border->metric_list);
    buffer_free(out_of(border));
    free(border);
}

#include "relay/accept.h"

#include "base/memory.h"
#include "base/signature.h"
#include "codec/cursor.h"

#include <stdlib.h>
#include <string.h>

/* A comparable value: kind and bytes.  Integers compare by value, not width. */
struct key {
    enum cursor_kind kind; /* NIL, BOOL, UINT, INT (negative), STR */
    uint64_t number;       /* all but STR */
    const uint8_t *bytes;  /* STR */
    uint32_t size;
};

struct slot {
    struct key key;
    uint64_t *streams; /* that accept this value; NULL: free slot */
};

struct test {
    enum field field;
    uint64_t *untested; /* streams that do not test this field */
    struct slot *slots; /* open addressing, at most half full */
    uint32_t slot_mask;
};

struct accept {
    struct test tests[EVENT_FIELDS];
    uint32_t count;
    uint32_t words;
};

static uint64_t key_hash(const struct key *key)
{
    uint64_t hash = SIGNATURE_EMPTY ^ (uint64_t)key->kind;

    if (key->kind != CURSOR_STR)
        return (hash ^ key->number) * 0x9e3779b97f4a7c15u >> 20;
    hash = signature_add(hash, key->bytes, key->size);
    return hash ^ hash >> 32;
}

static bool key_equal(const struct key *a, const struct key *b)
{
    if (a->kind != b->kind)
        return false;
    if (a->kind != CURSOR_STR)
        return a->number == b->number;
    return a->size == b->size && memcmp(a->bytes, b->bytes, a->size) == 0;
}

/* The slot that holds `key`, or the free one where it would go. */
static struct slot *test_find(const struct test *test, const struct key *key)
{
    uint64_t at = key_hash(key) & test->slot_mask;

    while (test->slots[at].streams != NULL &&
           !key_equal(&test->slots[at].key, key))
        at = (at + 1) & test->slot_mask;
    return &test->slots[at];
}

static struct key key_of_config(const struct config_value *value)
{
    bool negative = value->kind == CONFIG_INTEGER && value->integer < 0;

    switch (value->kind) {
    case CONFIG_STRING:
        return (struct key){.kind = CURSOR_STR,
                            .bytes = (const uint8_t *)value->string,
                            .size = (uint32_t)value->size};
    case CONFIG_INTEGER:
        return (struct key){.kind = negative ? CURSOR_INT : CURSOR_UINT,
                            .number = (uint64_t)value->integer};
    case CONFIG_UINTEGER:
        return (struct key){.kind = CURSOR_UINT, .number = value->uinteger};
    case CONFIG_BOOL:
        return (struct key){.kind = CURSOR_BOOL, .number = value->boolean};
    default: /* config_read lets nothing else through but null */
        return (struct key){.kind = CURSOR_NIL};
    }
}

/* False: a kind of value that no test can name. */
static bool key_of_wire(const uint8_t *at, struct key *key)
{
    int64_t negative = 0;

    *key = (struct key){.kind = at == NULL ? CURSOR_NIL : cursor_kind(at)};
    switch (key->kind) {
    case CURSOR_NIL:
        return true;
    case CURSOR_BOOL:
        key->number = *at == 0xc3;
        return true;
    case CURSOR_STR:
        key->bytes = cursor_bytes(at, &key->size);
        return true;
    case CURSOR_UINT:
    case CURSOR_INT:
        key->kind = CURSOR_UINT;
        if (cursor_u64(at, &key->number))
            return true;
        key->kind = CURSOR_INT;
        cursor_i64(at, &negative);
        key->number = (uint64_t)negative;
        return true;
    default:
        return false;
    }
}

static uint64_t *mask_new(uint32_t words)
{
    return memory_new(words * sizeof(uint64_t));
}

static void mask_add(uint64_t *mask, size_t stream)
{
    mask[stream / 64] |= UINT64_C(1) << stream % 64;
}

static const struct config_accept *find_test(const struct config_stream *stream,
                                             const char *field)
{
    for (size_t i = 0; i < stream->accept_count; i++)
        if (strcmp(stream->accept[i].field, field) == 0)
            return &stream->accept[i];
    return NULL;
}

static void add_values(struct test *test, uint32_t words,
                       const struct config_accept *wanted, size_t stream)
{
    for (size_t i = 0; i < wanted->values->size; i++) {
        struct key key = key_of_config(&wanted->values->items[i]);
        struct slot *slot = test_find(test, &key);

        if (slot->streams == NULL) {
            if (key.kind == CURSOR_STR)
                key.bytes =
                    (uint8_t *)memory_text((const char *)key.bytes, key.size);
            slot->key = key;
            slot->streams = mask_new(words);
        }
        mask_add(slot->streams, stream);
    }
}

static size_t count_values(const struct config *config, const char *field)
{
    size_t count = 0;

    for (size_t i = 0; i < config->stream_count; i++) {
        const struct config_accept *wanted =
            find_test(&config->streams[i], field);

        count += wanted == NULL ? 0 : wanted->values->size;
    }
    return count;
}

static bool is_tested(const struct config *config, const char *field)
{
    for (size_t i = 0; i < config->stream_count; i++)
        if (find_test(&config->streams[i], field) != NULL)
            return true;
    return false;
}

static void test_init(struct test *test, const struct config *config,
                      enum field field, uint32_t words)
{
    const char *name = field_table[field].name;
    uint32_t slots = 2;

    while (slots < 2 * count_values(config, name))
        slots *= 2;
    test->field = field;
    test->untested = mask_new(words);
    test->slots = memory_new(slots * sizeof *test->slots);
    test->slot_mask = slots - 1;
    for (size_t i = 0; i < config->stream_count; i++) {
        const struct config_accept *wanted =
            find_test(&config->streams[i], name);

        if (wanted == NULL)
            mask_add(test->untested, i);
        else
            add_values(test, words, wanted, i);
    }
}

struct accept *accept_new(const struct config *config, uint32_t words)
{
    struct accept *accept = memory_new(sizeof *accept);

    accept->words = words;
    for (int field = 0; field < EVENT_FIELDS; field++)
        if (is_tested(config, field_table[field].name))
            test_init(&accept->tests[accept->count++], config,
                      (enum field)field, words);
    return accept;
}

static void test_free(struct test *test)
{
    for (uint32_t i = 0; i <= test->slot_mask; i++) {
        if (test->slots[i].key.kind == CURSOR_STR)
            free((void *)test->slots[i].key.bytes);
        free(test->slots[i].streams);
    }
    free(test->slots);
    free(test->untested);
}

void accept_free(struct accept *accept)
{
    if (accept == NULL)
        return;
    for (uint32_t i = 0; i < accept->count; i++)
        test_free(&accept->tests[i]);
    free(accept);
}

static void test_apply(const struct test *test, const struct event *event,
                       uint64_t *mask, uint32_t words)
{
    struct key key;
    bool known = key_of_wire(event_value(event, test->field), &key);
    const uint64_t *wanted = NULL;

    if (known && key.kind == CURSOR_NIL && event->type == EVENT_CLEARED)
        return;
    if (known)
        wanted = test_find(test, &key)->streams;
    for (uint32_t i = 0; i < words; i++)
        mask[i] &= test->untested[i] | (wanted == NULL ? 0 : wanted[i]);
}

void accept_apply(const struct accept *accept, const struct event *event,
                  uint64_t *mask)
{
    for (uint32_t i = 0; i < accept->count; i++)
        test_apply(&accept->tests[i], event, mask, accept->words);
}

#include "base/config_parts.h"
#include "base/memory.h"

#include <stdlib.h>
#include <string.h>

/* What identifies an object.  A test on anything else would let through one
 * half of a stored/removed pair. */
static const struct field {
    const char *name;
    bool number; /* else a text */
} fields[] = {
    {"model_name", false}, {"block_size", true}, {"additional_salt", false},
    {"lora_name", false},  {"tenant_id", false}, {"backend_id", false},
    {"medium", false},     {"dp_rank", true},    {"group_id", false},
    {"object_key", false},
};

enum { FIELD_COUNT = sizeof fields / sizeof *fields };

static void tell_no_field(struct config_judge *judge,
                          const struct config_value *key)
{
    const char *names[FIELD_COUNT];

    if (key->kind != CONFIG_STRING) {
        config_mistake(&judge->mistakes, key->mark,
                       "%s is no field, expected a string",
                       config_show_value(key).text);
        return;
    }
    if (strcmp(key->string, "event_type") == 0 ||
        strcmp(key->string, "type") == 0) {
        config_mistake(&judge->mistakes, key->mark,
                       "%s cannot be tested: a stream without removed or "
                       "cleared events keeps ghosts in every indexer, expected "
                       "a field that identifies the object",
                       key->string);
        return;
    }
    for (size_t i = 0; i < FIELD_COUNT; i++)
        names[i] = fields[i].name;
    config_mistake_unknown(&judge->mistakes, key, "field in accept", names,
                           FIELD_COUNT);
}

static const struct field *find_field(struct config_judge *judge,
                                      const struct config_value *key)
{
    if (key->broken)
        return NULL;
    for (size_t i = 0; i < FIELD_COUNT && key->kind == CONFIG_STRING; i++)
        if (strcmp(key->string, fields[i].name) == 0 &&
            key->size == strlen(fields[i].name))
            return &fields[i];
    tell_no_field(judge, key);
    return NULL;
}

static void check_value(struct config_judge *judge, const struct field *field,
                        const struct config_value *value)
{
    bool number = value->kind == CONFIG_INTEGER && value->integer >= 0;
    bool good = field->number ? number || value->kind == CONFIG_UINTEGER
                              : value->kind == CONFIG_STRING;

    judge->key = field->name;
    if (!good && (value->kind != CONFIG_NULL || value->broken))
        config_mistype(judge, value,
                       field->number ? "a whole number from 0, or null"
                                     : "a string (in quotes), or null");
}

/* One value stands for a list of one. */
static void take_values(struct config_value *list,
                        const struct config_value *value)
{
    if (value->kind == CONFIG_LIST) {
        config_value_copy(list, value);
        return;
    }
    *list = (struct config_value){
        .kind = CONFIG_LIST, .mark = value->mark, .size = 1};
    list->items = memory_new(sizeof *list->items);
    config_value_copy(list->items, value);
}

static void read_test(struct config_judge *judge,
                      const struct config_value *key,
                      struct config_stream *stream)
{
    const struct field *field = find_field(judge, key);
    struct config_accept *test = &stream->accept[stream->accept_count];

    if (field == NULL)
        return;
    test->field = memory_text(field->name, strlen(field->name));
    test->mark = key->mark;
    test->values = memory_new(sizeof *test->values);
    take_values(test->values, key + 1);
    stream->accept_count++;
    if (test->values->size == 0)
        config_mistake(&judge->mistakes, test->values->mark,
                       "%s: an empty list accepts nothing, expected values",
                       field->name);
    for (size_t i = 0; i < test->values->size; i++)
        check_value(judge, field, &test->values->items[i]);
}

void config_read_accept(struct config_judge *judge,
                        const struct config_value *value, void *field)
{
    struct config_stream *stream = field;

    if (value->kind != CONFIG_MAP) {
        config_mistype(judge, value, "a map of fields and values");
        return;
    }
    stream->accept = memory_new(value->size * sizeof *stream->accept);
    for (size_t i = 0; i < value->size; i++)
        read_test(judge, &value->items[2 * i], stream);
}

void config_accept_clear(struct config_stream *stream)
{
    for (size_t i = 0; i < stream->accept_count; i++) {
        config_value_clear(stream->accept[i].values);
        free(stream->accept[i].values);
        free(stream->accept[i].field);
    }
    free(stream->accept);
    stream->accept = NULL;
    stream->accept_count = 0;
}

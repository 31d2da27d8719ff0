#include "base/config_yaml.h"
#include "base/config_keys.h"
#include "base/config_scalar.h"
#include "base/memory.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>
#include <yaml.h>

struct anchor {
    char *name;
    struct config_value value; /* a copy */
    struct anchor *next;       /* set before; the newest of a name counts */
};

struct reader {
    yaml_parser_t parser;
    const char *text;
    size_t size;
    struct config_mistakes *mistakes;
    struct anchor *anchors;
    size_t values; /* made so far */
    size_t bytes;  /* of their strings */
    size_t anchor_count;
};

static struct config_mark mark_of(yaml_mark_t mark)
{
    return (struct config_mark){.line = (unsigned)mark.line + 1,
                                .column = (unsigned)mark.column + 1};
}

/* ---- what libyaml says ---- */

/* A reader's error has an offset in bytes and no mark. */
static struct config_mark mark_at(const struct reader *reader, size_t offset)
{
    struct config_mark mark = {.line = 1, .column = 1};

    for (size_t i = 0; i < offset && i < reader->size; i++) {
        /* The rest of a UTF-8 character is no column of its own. */
        if (reader->text[i] == '\n')
            mark = (struct config_mark){.line = mark.line + 1, .column = 1};
        else if (((unsigned char)reader->text[i] & 0xc0U) != 0x80)
            mark.column++;
    }
    return mark;
}

static void tell_syntax(struct reader *reader)
{
    const yaml_parser_t *parser = &reader->parser;
    struct config_mark begun = mark_of(parser->context_mark);

    if (parser->error == YAML_READER_ERROR)
        config_mistake(
            reader->mistakes, mark_at(reader, parser->problem_offset),
            "this is not YAML: %s, expected UTF-8 text", parser->problem);
    else if (parser->context != NULL)
        config_mistake(reader->mistakes, mark_of(parser->problem_mark),
                       "this is not YAML: %s, %s that began at %u:%u",
                       parser->problem, parser->context, begun.line,
                       begun.column);
    else
        config_mistake(reader->mistakes, mark_of(parser->problem_mark),
                       "this is not YAML: %s",
                       parser->problem != NULL ? parser->problem
                                               : "out of memory");
}

static bool next_event(struct reader *reader, yaml_event_t *event)
{
    if (yaml_parser_parse(&reader->parser, event))
        return true;
    tell_syntax(reader);
    return false;
}

/* ---- bounds ---- */

static bool count_values(struct reader *reader, struct config_mark mark,
                         size_t values, size_t bytes)
{
    reader->values += values;
    reader->bytes += bytes;
    if (reader->values <= CONFIG_VALUES_MAX &&
        reader->bytes <= CONFIG_STRINGS_MAX)
        return true;
    config_mistake(reader->mistakes, mark,
                   "the file holds too much, expected at most %d values and "
                   "%d bytes of text, aliases and variables included",
                   CONFIG_VALUES_MAX, CONFIG_STRINGS_MAX);
    return false;
}

/* ---- anchors ---- */

static const struct anchor *find_anchor(const struct reader *reader,
                                        const char *name)
{
    for (const struct anchor *anchor = reader->anchors; anchor != NULL;
         anchor = anchor->next)
        if (strcmp(anchor->name, name) == 0)
            return anchor;
    return NULL;
}

static bool count_anchor(struct reader *reader, struct config_mark mark)
{
    if (++reader->anchor_count <= CONFIG_ANCHORS_MAX)
        return true;
    config_mistake(reader->mistakes, mark,
                   "too many anchors, expected at most %d", CONFIG_ANCHORS_MAX);
    return false;
}

static bool keep_anchor(struct reader *reader, const yaml_char_t *name,
                        const struct config_value *value)
{
    struct anchor *anchor;
    size_t bytes = 0;
    size_t values = config_value_weigh(value, &bytes);

    if (name == NULL)
        return true;
    if (!count_values(reader, value->mark, values, bytes) ||
        !count_anchor(reader, value->mark))
        return false;
    anchor = memory_new(sizeof *anchor);
    anchor->name = memory_text((const char *)name, strlen((const char *)name));
    anchor->next = reader->anchors;
    config_value_copy(&anchor->value, value);
    reader->anchors = anchor;
    return true;
}

static void free_anchors(struct reader *reader)
{
    while (reader->anchors != NULL) {
        struct anchor *anchor = reader->anchors;

        reader->anchors = anchor->next;
        config_value_clear(&anchor->value);
        free(anchor->name);
        free(anchor);
    }
}

static bool read_alias(struct reader *reader, const yaml_event_t *event,
                       struct config_value *value)
{
    const char *name = (const char *)event->data.alias.anchor;
    const struct anchor *anchor = find_anchor(reader, name);
    size_t bytes = 0;

    if (anchor != NULL) {
        size_t values = config_value_weigh(&anchor->value, &bytes);

        if (!count_values(reader, value->mark, values, bytes))
            return false;
        config_value_copy(value, &anchor->value);
        return true;
    }
    value->broken = true;
    config_mistake(reader->mistakes, value->mark,
                   "unknown alias %s, expected an anchor (&name) before it",
                   config_show(name, strlen(name)).text);
    return true;
}

/* ---- scalars ---- */

/* Whether `tag` asks for the kind called `wanted`; one that asks for another
 * kind is told. */
static bool check_tag(struct reader *reader, const yaml_char_t *tag,
                      const char *wanted, struct config_value *value)
{
    const char *name = (const char *)tag;

    if (name == NULL)
        return false;
    if (strcmp(name, "!") == 0 || strcmp(name, wanted) == 0)
        return true;
    value->broken = true;
    config_mistake(reader->mistakes, value->mark,
                   "unknown tag %s, expected none or !!str before a string",
                   config_show(name, strlen(name)).text);
    return false;
}

static void set_string(struct config_value *value, const char *text,
                       size_t size)
{
    value->kind = CONFIG_STRING;
    value->string = memory_text(text, size);
    value->size = size;
}

static void set_scalar(struct reader *reader, const yaml_event_t *event,
                       struct config_value *value, struct buffer *text)
{
    bool quoted = event->data.scalar.style != YAML_PLAIN_SCALAR_STYLE;
    bool tagged =
        check_tag(reader, event->data.scalar.tag, YAML_STR_TAG, value);

    if (quoted || tagged) {
        set_string(value, buffer_text(text), text->size);
    } else if (!config_resolve(value, buffer_text(text), text->size)) {
        set_string(value, buffer_text(text), text->size);
        value->broken = true;
        config_mistake(reader->mistakes, value->mark,
                       "%s does not fit 64 bits, expected a smaller number "
                       "or a quoted string",
                       config_show(value->string, value->size).text);
    }
}

static bool read_scalar(struct reader *reader, const yaml_event_t *event,
                        struct config_value *value)
{
    const char *written = (const char *)event->data.scalar.value;
    size_t size = event->data.scalar.length;
    struct buffer text = {0};
    struct error error = {0};
    bool fits;

    if (config_expand(&text, written, size, &error)) {
        set_scalar(reader, event, value, &text);
    } else {
        set_string(value, written, size);
        value->broken = true;
        config_mistake(reader->mistakes, value->mark, "%s", error.text);
    }
    fits = count_values(reader, value->mark, 1, text.size);
    buffer_free(&text);
    return fits;
}

/* ---- lists and maps ---- */

static bool read_node(struct reader *reader, const yaml_event_t *event,
                      struct config_value *value, unsigned depth);

static bool read_next(struct reader *reader, struct config_value *value,
                      unsigned depth)
{
    yaml_event_t event;
    bool good;

    if (!next_event(reader, &event))
        return false;
    good = read_node(reader, &event, value, depth);
    yaml_event_delete(&event);
    return good;
}

/* One more member, of `width` values that are null until they are read. */
static struct config_value *add_member(struct config_value *value,
                                       size_t *capacity, size_t width)
{
    struct config_value *added;

    if (value->size == *capacity) {
        *capacity = *capacity > 0 ? *capacity * 2 : 8;
        value->items = memory_resize(value->items,
                                     *capacity * width * sizeof *value->items);
    }
    added = value->items + width * value->size++;
    memset(added, 0, width * sizeof *added);
    return added;
}

static bool read_members(struct reader *reader, struct config_value *value,
                         yaml_event_type_t end, unsigned depth)
{
    size_t width = value->kind == CONFIG_MAP ? 2 : 1;
    size_t capacity = 0;
    yaml_event_t event;
    bool good;

    for (;;) {
        struct config_value *member;

        if (!next_event(reader, &event))
            return false;
        if (event.type == end)
            break;
        member = add_member(value, &capacity, width);
        good = read_node(reader, &event, member, depth + 1);
        yaml_event_delete(&event);
        if (!good || (width == 2 && !read_next(reader, member + 1, depth + 1)))
            return false;
    }
    yaml_event_delete(&event);
    return true;
}

static bool read_container(struct reader *reader, const yaml_event_t *event,
                           struct config_value *value, unsigned depth)
{
    bool map = event->type == YAML_MAPPING_START_EVENT;

    value->kind = map ? CONFIG_MAP : CONFIG_LIST;
    if (depth >= CONFIG_DEPTH_MAX) {
        config_mistake(reader->mistakes, value->mark,
                       "nested too deep, expected at most %d levels",
                       CONFIG_DEPTH_MAX);
        return false;
    }
    if (map)
        check_tag(reader, event->data.mapping_start.tag, YAML_MAP_TAG, value);
    else
        check_tag(reader, event->data.sequence_start.tag, YAML_SEQ_TAG, value);
    if (!count_values(reader, value->mark, 1, 0) ||
        !read_members(reader, value,
                      map ? YAML_MAPPING_END_EVENT : YAML_SEQUENCE_END_EVENT,
                      depth))
        return false;
    if (map)
        config_check_keys(value, reader->mistakes);
    return true;
}

static bool read_node(struct reader *reader, const yaml_event_t *event,
                      struct config_value *value, unsigned depth)
{
    value->mark = mark_of(event->start_mark);
    switch (event->type) {
    case YAML_ALIAS_EVENT:
        return read_alias(reader, event, value);
    case YAML_SCALAR_EVENT:
        return read_scalar(reader, event, value) &&
               keep_anchor(reader, event->data.scalar.anchor, value);
    case YAML_SEQUENCE_START_EVENT:
        return read_container(reader, event, value, depth) &&
               keep_anchor(reader, event->data.sequence_start.anchor, value);
    default:
        assert(event->type == YAML_MAPPING_START_EVENT);
        return read_container(reader, event, value, depth) &&
               keep_anchor(reader, event->data.mapping_start.anchor, value);
    }
}

/* ---- the document ---- */

/* Pass over one event; returns its type, or no event after a syntax error. */
static yaml_event_type_t skip_event(struct reader *reader,
                                    struct config_mark *mark)
{
    yaml_event_type_t type;
    yaml_event_t event;

    if (!next_event(reader, &event))
        return YAML_NO_EVENT;
    type = event.type;
    *mark = mark_of(event.start_mark);
    yaml_event_delete(&event);
    return type;
}

static bool read_document(struct reader *reader, struct config_value *root)
{
    struct config_mark mark = {0};

    if (skip_event(reader, &mark) == YAML_NO_EVENT) /* stream start */
        return false;
    switch (skip_event(reader, &mark)) {
    case YAML_NO_EVENT:
        return false;
    case YAML_STREAM_END_EVENT:
        return true; /* an empty file is a null */
    default:
        break;
    }
    if (!read_next(reader, root, 0) ||
        skip_event(reader, &mark) == YAML_NO_EVENT) /* document end */
        return false;
    switch (skip_event(reader, &mark)) {
    case YAML_STREAM_END_EVENT:
        return true;
    case YAML_DOCUMENT_START_EVENT:
        config_mistake(reader->mistakes, mark,
                       "a second document, expected one for the whole file");
        return true;
    default:
        return false;
    }
}

bool config_yaml_read(const char *text, size_t size, struct config_value *root,
                      struct config_mistakes *mistakes)
{
    struct reader reader = {.text = text, .size = size, .mistakes = mistakes};
    bool good;

    *root = (struct config_value){.mark = {.line = 1, .column = 1}};
    if (size > CONFIG_TEXT_MAX) {
        config_mistake(mistakes, root->mark,
                       "the file is too large, expected at most %d bytes",
                       CONFIG_TEXT_MAX);
        return false;
    }
    if (!yaml_parser_initialize(&reader.parser))
        memory_exhausted();
    yaml_parser_set_input_string(&reader.parser, (const unsigned char *)text,
                                 size);
    good = read_document(&reader, root);
    free_anchors(&reader);
    yaml_parser_delete(&reader.parser);
    return good;
}

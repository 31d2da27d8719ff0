/*
 * Reading the text of a template.  Every refusal says at which byte, and how to
 * write what was probably meant.
 */
#include "base/memory.h"
#include "script/keys/key_atom.h"
#include "script/keys/key_digits.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

struct parser {
    struct key_template *template;
    const char *text;
    size_t size;
    size_t at;
    size_t opened;  /* where the open group starts */
    uint32_t group; /* its bit; 0: none is open */
    struct error *error;
};

static bool refuse(struct parser *parser, size_t at, const char *why)
{
    error_set(parser->error, "column %zu: %s", at + 1, why);
    return false;
}

static struct key_atom *add_atom(struct parser *parser, enum key_kind kind)
{
    struct key_template *template = parser->template;
    struct key_atom *atom;

    assert(template->atom_count < KEY_ATOMS);
    atom = &template->atoms[template->atom_count++];
    atom->kind = kind;
    atom->group = parser->group;
    atom->at = parser->at;
    return atom;
}

/* The literal that the next literal byte belongs to. */
static struct key_atom *open_literal(struct parser *parser)
{
    struct key_template *template = parser->template;
    struct key_atom *last;

    if (template->atom_count > 0) {
        last = &template->atoms[template->atom_count - 1];
        if (last->kind == KEY_LITERAL && last->group == parser->group)
            return last;
    }
    last = add_atom(parser, KEY_LITERAL);
    last->start = template->byte_count;
    return last;
}

static bool read_literal(struct parser *parser)
{
    struct key_atom *atom = open_literal(parser);
    char byte = parser->text[parser->at];

    if (byte == '\\') {
        if (parser->at + 1 == parser->size ||
            !memchr("{}[]\\", parser->text[parser->at + 1], 5))
            return refuse(parser, parser->at,
                          "\\ stands before { } [ ] or \\ only");
        byte = parser->text[++parser->at];
    }
    parser->template->bytes[parser->template->byte_count++] = (uint8_t)byte;
    atom->size++;
    parser->at++;
    return true;
}

static bool read_kind(struct parser *parser, size_t at, size_t size,
                      enum key_kind *kind)
{
    static const struct {
        const char *name;
        enum key_kind kind;
    } kinds[] = {{"int", KEY_INT}, {"hex", KEY_HEX}, {"hex64", KEY_HEX64}};

    for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++) {
        if (strlen(kinds[i].name) == size &&
            memcmp(kinds[i].name, parser->text + at, size) == 0) {
            *kind = kinds[i].kind;
            return true;
        }
    }
    return refuse(parser, at,
                  "unknown kind of capture, expected int, hex or hex64");
}

static bool is_name(const char *text, size_t size)
{
    if (size == 0 || size > KEY_TEMPLATE_NAME)
        return false;
    for (size_t i = 0; i < size; i++) {
        bool letter = (text[i] | 0x20) >= 'a' && (text[i] | 0x20) <= 'z';
        bool digit = i > 0 && text[i] >= '0' && text[i] <= '9';

        if (!letter && !digit && text[i] != '_')
            return false;
    }
    return true;
}

static bool add_capture(struct parser *parser, size_t at, size_t size,
                        enum key_kind kind)
{
    struct key_template *template = parser->template;
    const char *name = parser->text + at;
    struct key_atom *atom;

    if (!is_name(name, size))
        return refuse(parser, at,
                      "a capture's name is 1 to 31 letters, digits and _, "
                      "and starts with no digit");
    for (uint32_t i = 0; i < template->capture_count; i++) {
        if (strlen(template->names[i]) == size &&
            memcmp(template->names[i], name, size) == 0)
            return refuse(parser, at, "there is a capture of that name");
    }
    if (template->capture_count == KEY_TEMPLATE_CAPTURES)
        return refuse(parser, at, "too many captures, 16 are the most");
    atom = add_atom(parser, kind);
    atom->capture = template->capture_count++;
    template->kinds[atom->capture] = kind;
    template->groups[atom->capture] = parser->group;
    memcpy(template->names[atom->capture], name, size);
    return true;
}

static bool read_capture(struct parser *parser)
{
    size_t start = parser->at + 1;
    const char *open = parser->text + start;
    const char *end = memchr(open, '}', parser->size - start);
    const char *colon;
    size_t name_size;
    enum key_kind kind = KEY_TEXT;

    if (!end)
        return refuse(parser, parser->at,
                      "{ is never closed; write \\{ for the character");
    colon = memchr(open, ':', (size_t)(end - open));
    name_size = (size_t)((colon ? colon : end) - open);
    if (colon && !read_kind(parser, start + name_size + 1,
                            (size_t)(end - colon) - 1, &kind))
        return false;
    if (!add_capture(parser, start, name_size, kind))
        return false;
    parser->at = start + (size_t)(end - open) + 1;
    return true;
}

static bool open_group(struct parser *parser)
{
    struct key_template *template = parser->template;

    if (parser->group)
        return refuse(parser, parser->at,
                      "a [group] inside a [group]: write two templates, or \\[ "
                      "for the character");
    if (template->group_count == KEY_TEMPLATE_GROUPS)
        return refuse(parser, parser->at, "too many groups, 6 are the most");
    parser->group = UINT32_C(1) << template->group_count++;
    parser->opened = parser->at++;
    return true;
}

static bool close_group(struct parser *parser)
{
    if (!parser->group)
        return refuse(parser, parser->at,
                      "] closes nothing; write \\] for the character");
    if (parser->at == parser->opened + 1)
        return refuse(parser, parser->opened, "the group is empty");
    parser->group = 0;
    parser->at++;
    return true;
}

static bool read_part(struct parser *parser)
{
    switch (parser->text[parser->at]) {
    case '{':
        return read_capture(parser);
    case '}':
        return refuse(parser, parser->at,
                      "} closes nothing; write \\} for the character");
    case '[':
        return open_group(parser);
    case ']':
        return close_group(parser);
    default:
        return read_literal(parser);
    }
}

static bool read_template(struct parser *parser)
{
    if (parser->size == 0 || parser->size > KEY_TEMPLATE_SIZE)
        return refuse(parser, 0, "a template has 1 to 1024 bytes");
    while (parser->at < parser->size) {
        if (!read_part(parser))
            return false;
    }
    if (parser->group)
        return refuse(parser, parser->opened,
                      "[ is never closed; write \\[ for the character");
    return true;
}

/* ---- refusing what could be read in two ways ---- */

static bool is_run(enum key_kind kind)
{
    return kind == KEY_INT || kind == KEY_HEX;
}

static bool is_digit(enum key_kind kind, uint8_t byte)
{
    return kind == KEY_INT ? key_is_decimal(byte) : key_is_hex(byte);
}

/* Nothing tells where `right` starts if the end of `left` could be part of it.
 */
static bool is_blurred(const struct key_template *template,
                       const struct key_atom *left,
                       const struct key_atom *right)
{
    if (right->kind == KEY_TEXT)
        return left->kind == KEY_TEXT || is_run(left->kind);
    if (!is_run(right->kind))
        return false;
    if (left->kind == KEY_LITERAL)
        return is_digit(right->kind,
                        template->bytes[left->start + left->size - 1]);
    return left->kind != KEY_TEXT;
}

/* Look at all neighbours that this choice of groups makes. */
static bool check_choice(struct parser *parser, uint32_t present)
{
    const struct key_template *template = parser->template;
    const struct key_atom *left = NULL;

    for (uint32_t i = 0; i < template->atom_count; i++) {
        const struct key_atom *atom = &template->atoms[i];

        if (atom->group & ~present)
            continue;
        if (left && is_blurred(template, left, atom))
            return refuse(parser, atom->at,
                          "nothing tells where this capture starts: put a "
                          "literal in front of it that can't be part of it");
        left = atom;
    }
    return left || refuse(parser, 0, "everything is optional");
}

static bool check_choices(struct parser *parser)
{
    uint32_t choices = UINT32_C(1) << parser->template->group_count;

    for (uint32_t present = choices; present-- > 0;) {
        if (!check_choice(parser, present))
            return false;
    }
    return true;
}

/* ---- what matching wants to know beforehand ---- */

static void prepare_tail(struct key_template *template, struct key_atom *atom)
{
    uint8_t tail[KEY_TAIL] = {0};
    uint8_t mask[KEY_TAIL] = {0};
    const uint8_t *end = template->bytes + atom->start + atom->size;

    for (size_t i = 1; i <= KEY_TAIL && i <= atom->size; i++) {
        tail[KEY_TAIL - i] = end[-(ptrdiff_t)i];
        mask[KEY_TAIL - i] = UINT8_MAX;
    }
    memcpy(&atom->tail, tail, KEY_TAIL);
    memcpy(&atom->mask, mask, KEY_TAIL);
}

/* Where the tail starts, see key_atom.h. */
static void divide(struct key_template *template)
{
    uint32_t i = template->atom_count;
    bool has_digest = false;

    template->head_captures = template->capture_count;
    while (i > 0 && template->atoms[i - 1].group == 0 &&
           template->atoms[i - 1].kind != KEY_TEXT) {
        const struct key_atom *atom = &template->atoms[--i];

        if (atom->kind != KEY_LITERAL)
            template->head_captures--;
        if (atom->kind == KEY_HEX || atom->kind == KEY_HEX64)
            has_digest = true;
    }
    template->head_atoms = i;
    template->has_memo = has_digest &&i > 0;
}

static void prepare(struct key_template *template)
{
    for (uint32_t i = 0; i < template->atom_count; i++)
        prepare_tail(template, &template->atoms[i]);
    divide(template);
}

struct key_template *key_template_new(const char *text, size_t size,
                                      struct error *error)
{
    struct parser parser = {.text = text, .size = size, .error = error};

    parser.template = memory_new(sizeof *parser.template);
    if (read_template(&parser) && check_choices(&parser)) {
        prepare(parser.template);
        return parser.template;
    }
    key_template_free(parser.template);
    return NULL;
}

void key_template_free(struct key_template *template)
{
    free(template);
}

uint32_t key_template_count(const struct key_template *template)
{
    return template->capture_count;
}

const char *key_template_name(const struct key_template *template,
                              uint32_t capture)
{
    assert(capture < template->capture_count);
    return template->names[capture];
}

enum key_kind key_template_kind(const struct key_template *template,
                                uint32_t capture)
{
    assert(capture < template->capture_count);
    return template->kinds[capture];
}

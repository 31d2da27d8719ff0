#include "script/key_template.h"

#include "base/memory.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

enum {
    ATOMS = 64,
    DIGEST = 64,      /* digits of hex64 */
    WORD = 16,        /* hex digits of a u64 */
    DECIMAL_MAX = 20, /* digits of UINT64_MAX */
};

/* The smallest part of a template: a literal or a capture. */
struct atom {
    enum key_kind kind;
    uint32_t group;   /* the bit of its group; 0: always there */
    uint32_t capture; /* captures: its number */
    uint32_t start;   /* literals: where in `bytes` */
    uint32_t size;
    size_t at; /* where it stands in the text */
};

struct key_template {
    struct atom atoms[ATOMS];
    uint32_t atom_count;
    uint32_t group_count;
    uint32_t capture_count;
    uint32_t byte_count;
    char names[KEY_TEMPLATE_CAPTURES][KEY_TEMPLATE_NAME + 1];
    enum key_kind kinds[KEY_TEMPLATE_CAPTURES];
    uint8_t bytes[KEY_TEMPLATE_SIZE]; /* literals, unescaped, end to end */
};

/* ---- digits ---- */

enum { NO_DIGIT = 16 };

static unsigned digit_value(uint8_t byte)
{
    unsigned decimal = (unsigned)byte - '0';
    unsigned letter = ((unsigned)byte | 0x20) - 'a';

    if (decimal < 10)
        return decimal;
    return letter < 6 ? letter + 10 : NO_DIGIT;
}

static bool is_digit(enum key_kind kind, uint8_t byte)
{
    return digit_value(byte) < (kind == KEY_INT ? 10u : 16u);
}

static uint64_t hexadecimal(const uint8_t *digits, size_t size)
{
    uint64_t value = 0;

    for (size_t i = 0; i < size; i++)
        value = value << 4 | digit_value(digits[i]);
    return value;
}

uint64_t key_low64(const uint8_t *digits, size_t size)
{
    size_t size64 = size < WORD ? size : WORD;

    return hexadecimal(digits + size - size64, size64);
}

uint64_t key_high64(const uint8_t *digits, size_t size)
{
    return hexadecimal(digits, size < WORD ? size : WORD);
}

uint64_t key_decimal(const uint8_t *digits, size_t size)
{
    uint64_t value = 0;

    for (size_t i = 0; i < size; i++)
        value = value * 10 + digit_value(digits[i]);
    return value;
}

static bool fits_u64(const uint8_t *digits, size_t size)
{
    static const char max[] = "18446744073709551615";

    return size < DECIMAL_MAX ||
           (size == DECIMAL_MAX && memcmp(digits, max, DECIMAL_MAX) <= 0);
}

/* ---- reading a template ---- */

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

static struct atom *add_atom(struct parser *parser, enum key_kind kind)
{
    struct key_template *template = parser->template;
    struct atom *atom;

    if (template->atom_count == ATOMS) {
        refuse(parser, parser->at, "too many parts, 64 are the most");
        return NULL;
    }
    atom = &template->atoms[template->atom_count++];
    atom->kind = kind;
    atom->group = parser->group;
    atom->at = parser->at;
    return atom;
}

/* The literal that the next literal byte belongs to. */
static struct atom *open_literal(struct parser *parser)
{
    struct key_template *template = parser->template;
    struct atom *last;

    if (template->atom_count > 0) {
        last = &template->atoms[template->atom_count - 1];
        if (last->kind == KEY_LITERAL && last->group == parser->group)
            return last;
    }
    last = add_atom(parser, KEY_LITERAL);
    if (last)
        last->start = template->byte_count;
    return last;
}

static bool read_literal(struct parser *parser)
{
    struct atom *atom = open_literal(parser);
    char byte = parser->text[parser->at];

    if (!atom)
        return false;
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
    struct atom *atom;

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
    if (!atom)
        return false;
    atom->capture = template->capture_count++;
    template->kinds[atom->capture] = kind;
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

/* Nothing tells where `right` starts if the end of `left` could be part of it.
 */
static bool is_blurred(const struct key_template *template,
                       const struct atom *left, const struct atom *right)
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
    const struct atom *left = NULL;

    for (uint32_t i = 0; i < template->atom_count; i++) {
        const struct atom *atom = &template->atoms[i];

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

struct key_template *key_template_new(const char *text, size_t size,
                                      struct error *error)
{
    struct parser parser = {.text = text, .size = size, .error = error};

    parser.template = memory_new(sizeof *parser.template);
    if (read_template(&parser) && check_choices(&parser))
        return parser.template;
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

/* ---- matching ---- */

/*
 * One attempt with one choice of groups works like a glob, from the right: a
 * text starts with one byte, and when what stands left of it fails, the text
 * grows by one.  Only the leftmost text reached ever grows: whatever the ones
 * right of it could give up, that one could take as well.
 */
struct attempt {
    const struct key_template *template;
    const uint8_t *key;
    struct key_capture *captures;
    uint32_t examined; /* groups whose parts were looked at */
    uint32_t atom;     /* parts from here on are matched */
    uint32_t at;       /* and bytes from here on */
    uint32_t text;     /* the text that may grow; ATOMS: none */

    /* The digits found last for each run, so that growing texts don't count
     * them again: byte for byte, a run is scanned once. */
    struct span {
        uint32_t start, end;
    } runs[KEY_TEMPLATE_CAPTURES];
};

/* Where the digits that end at `at` start. */
static uint32_t run_start(struct attempt *attempt, const struct atom *atom)
{
    struct span *run = &attempt->runs[atom->capture];
    uint32_t start = attempt->at;

    if (attempt->at >= run->start && attempt->at <= run->end)
        return run->start;
    while (start > 0 && is_digit(atom->kind, attempt->key[start - 1]))
        start--;
    *run = (struct span){start, attempt->at};
    return start;
}

/* Match one part that ends at `at`: where it starts, or false. */
static bool match_literal(const struct attempt *attempt,
                          const struct atom *atom, uint32_t *start)
{
    const uint8_t *bytes = attempt->template->bytes + atom->start;

    if (attempt->at < atom->size)
        return false;
    *start = attempt->at - atom->size;
    return memcmp(attempt->key + *start, bytes, atom->size) == 0;
}

static bool match_digits(struct attempt *attempt, const struct atom *atom,
                         uint32_t *start)
{
    uint32_t size;

    *start = run_start(attempt, atom);
    size = attempt->at - *start;
    if (atom->kind == KEY_INT)
        return size > 0 && fits_u64(attempt->key + *start, size);
    if (atom->kind == KEY_HEX)
        return size > 0;
    *start = attempt->at - DIGEST;
    return size >= DIGEST;
}

static void capture(struct attempt *attempt, const struct atom *atom,
                    uint32_t start)
{
    attempt->captures[atom->capture] =
        (struct key_capture){start, attempt->at - start};
}

static bool match_atom(struct attempt *attempt, const struct atom *atom)
{
    uint32_t start = 0;

    attempt->examined |= atom->group;
    if (atom->kind == KEY_LITERAL) {
        if (!match_literal(attempt, atom, &start))
            return false;
    } else if (atom->kind == KEY_TEXT) {
        if (attempt->at == 0)
            return false;
        start = attempt->at - 1;
        attempt->text = attempt->atom;
        capture(attempt, atom, start);
    } else {
        if (!match_digits(attempt, atom, &start))
            return false;
        capture(attempt, atom, start);
    }
    attempt->at = start;
    return true;
}

/* Give the text that may grow one more byte and go back to it. */
static bool grow_text(struct attempt *attempt)
{
    struct key_capture *text;

    if (attempt->text == ATOMS)
        return false;
    attempt->atom = attempt->text;
    text = &attempt->captures[attempt->template->atoms[attempt->atom].capture];
    if (text->start == 0)
        return false;
    attempt->at = --text->start;
    text->size++;
    return true;
}

static bool attempt_match(struct attempt *attempt, uint32_t present)
{
    const struct key_template *template = attempt->template;

    for (;;) {
        if (attempt->atom == 0) {
            if (attempt->at == 0)
                return true;
            if (!grow_text(attempt))
                return false;
            continue;
        }
        attempt->atom--;
        if (template->atoms[attempt->atom].group & ~present)
            continue;
        if (!match_atom(attempt, &template->atoms[attempt->atom]) &&
            !grow_text(attempt))
            return false;
    }
}

/*
 * The choice to try after `present` failed: choices count down as numbers, the
 * rightmost group being the highest bit.  Groups left of all that was examined
 * had no say, so they are passed over.  False: no other.
 */
static bool next_choice(uint32_t *present, uint32_t examined)
{
    uint32_t lowest = examined & (~examined + 1);

    if (examined == 0)
        return false;
    *present = (*present & ~(lowest - 1)) - 1;
    return true;
}

bool key_template_match(const struct key_template *template, const uint8_t *key,
                        size_t size, struct key_capture *captures)
{
    struct attempt attempt = {
        .template = template, .key = key, .captures = captures};
    uint32_t present = (UINT32_C(1) << template->group_count) - 1;

    if (size > KEY_TEMPLATE_KEY)
        return false;
    do {
        attempt.atom = template->atom_count;
        attempt.at = (uint32_t)size;
        attempt.text = ATOMS;
        attempt.examined = 0;
        memset(captures, 0, template->capture_count * sizeof *captures);
        if (attempt_match(&attempt, present))
            return true;
    } while (next_choice(&present, attempt.examined));
    return false;
}

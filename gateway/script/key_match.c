/*
 * Matching a key against the atoms of a template.
 *
 * With one choice of groups it works like a glob, from the right: a text starts
 * as short as it can be, and when what stands left of it fails, it grows.  Only
 * the leftmost text reached ever grows: whatever a text right of it could give
 * up, that one could take as well.  So each byte is passed once a choice, and
 * nothing here recurses.
 *
 * When a choice fails, the leftmost group that had a say is left out, and
 * matching goes on from where that group was first reached: all that lies right
 * of it would only be matched again in the same way.
 */
#include "script/key_atom.h"

#include <string.h>

enum {
    DIGEST = 64,      /* digits of hex64 */
    WORD = 16,        /* hex digits of a u64 */
    DECIMAL_MAX = 20, /* digits of UINT64_MAX */
};

/* ---- digits ---- */

/* One more than the value of a hex digit; 0: none. */
static const uint8_t digits_plus_one[UINT8_MAX + 1] = {
    ['0'] = 1,  ['1'] = 2,  ['2'] = 3,  ['3'] = 4,  ['4'] = 5,  ['5'] = 6,
    ['6'] = 7,  ['7'] = 8,  ['8'] = 9,  ['9'] = 10, ['a'] = 11, ['b'] = 12,
    ['c'] = 13, ['d'] = 14, ['e'] = 15, ['f'] = 16, ['A'] = 11, ['B'] = 12,
    ['C'] = 13, ['D'] = 14, ['E'] = 15, ['F'] = 16};

/* `base` is 10 or 16. */
static bool is_digit(unsigned base, uint8_t byte)
{
    return (uint8_t)(digits_plus_one[byte] - 1) < base;
}

bool key_is_digit(enum key_kind kind, uint8_t byte)
{
    return is_digit(kind == KEY_INT ? 10 : 16, byte);
}

/* Whether the 8 bytes before `end` are all hex digits: in each byte of a word,
 * adding what lacks to 0x80 sets the high bit if the byte is at least that. */
static bool are_hex(const uint8_t *end)
{
    const uint64_t ones = UINT64_MAX / UINT8_MAX;
    uint64_t word, letter, digits, letters;

    memcpy(&word, end - sizeof word, sizeof word);
    if (word & ones * 0x80)
        return false;
    letter = word | ones * 0x20;
    digits = (word + ones * (0x80 - '0')) & ~(word + ones * (0x7f - '9'));
    letters = (letter + ones * (0x80 - 'a')) & ~(letter + ones * (0x7f - 'f'));
    return ((digits | letters) & ones * 0x80) == ones * 0x80;
}

static uint64_t number(const uint8_t *digits, size_t size, unsigned base)
{
    uint64_t value = 0;

    for (size_t i = 0; i < size; i++)
        value = value * base + digits_plus_one[digits[i]] - 1;
    return value;
}

uint64_t key_low64(const uint8_t *digits, size_t size)
{
    size_t low = size < WORD ? size : WORD;

    return number(digits + size - low, low, 16);
}

uint64_t key_high64(const uint8_t *digits, size_t size)
{
    return number(digits, size < WORD ? size : WORD, 16);
}

uint64_t key_decimal(const uint8_t *digits, size_t size)
{
    return number(digits, size, 10);
}

static bool fits_u64(const uint8_t *digits, size_t size)
{
    static const char max[] = "18446744073709551615";

    return size < DECIMAL_MAX ||
           (size == DECIMAL_MAX && memcmp(digits, max, DECIMAL_MAX) <= 0);
}

/* ---- one choice of groups ---- */

enum { NO_TEXT = KEY_ATOMS };

/* A run of digits that was found before. */
struct run {
    uint32_t start, end;
};

/* How far matching has come. */
struct place {
    uint32_t atom; /* atoms from here on are matched */
    uint32_t at;   /* and bytes from here on */
    uint32_t text; /* the text that may grow, or NO_TEXT */
};

struct attempt {
    const struct key_template *template;
    const uint8_t *key;
    struct key_capture *captures;
    struct place place;
    uint32_t missing;  /* the choice of groups: those left out */
    uint32_t examined; /* groups of it whose atoms had a say */
    struct run runs[KEY_TEMPLATE_CAPTURES]; /* no hex is scanned twice */

    /* Where each examined group was first reached: with a text, the text and
     * what it held. */
    struct place reached[KEY_TEMPLATE_GROUPS];
    struct key_capture texts[KEY_TEMPLATE_GROUPS];
};

static struct key_capture *text_capture(struct attempt *attempt)
{
    const struct key_template *template = attempt->template;

    return &attempt->captures[template->atoms[attempt->place.text].capture];
}

/* Before an atom of a group has a say: note where it was first reached. */
static void examine(struct attempt *attempt, const struct key_atom *atom)
{
    uint32_t group;

    if (atom->group & attempt->examined)
        return;
    attempt->examined |= atom->group;
    group = (uint32_t)__builtin_ctz(atom->group);
    attempt->reached[group] = attempt->place;
    if (attempt->place.text != NO_TEXT)
        attempt->texts[group] = *text_capture(attempt);
}

/* Step over atoms that this choice lacks; false: no atom is left. */
static bool has_next(struct attempt *attempt)
{
    const struct key_atom *atoms = attempt->template->atoms;
    uint32_t i = attempt->place.atom;

    while (i > 0 && (atoms[i - 1].group & attempt->missing))
        i--;
    attempt->place.atom = i;
    return i > 0;
}

static bool match_literal(struct attempt *attempt, const struct key_atom *atom)
{
    const struct key_template *template = attempt->template;
    const uint8_t *end = attempt->key + attempt->place.at;
    uint64_t tail;

    if (attempt->place.at < atom->size)
        return false;
    if (attempt->place.at >= KEY_TAIL) {
        memcpy(&tail, end - KEY_TAIL, KEY_TAIL);
        if ((tail & atom->mask) != atom->tail)
            return false;
    }
    if ((attempt->place.at < KEY_TAIL || atom->size > KEY_TAIL) &&
        memcmp(end - atom->size, template->bytes + atom->start, atom->size))
        return false;
    attempt->place.at -= atom->size;
    return true;
}

static uint32_t count_decimal(const uint8_t *key, uint32_t at)
{
    uint32_t size = 0;

    while (size < at && size <= DECIMAL_MAX && is_digit(10, key[at - 1 - size]))
        size++;
    return fits_u64(key + at - size, size) ? size : 0;
}

static uint32_t count_hex(const uint8_t *key, uint32_t at, struct run *run)
{
    uint32_t start = at;

    if (at >= run->start && at <= run->end)
        return at - run->start;
    while (start >= sizeof(uint64_t) && are_hex(key + start))
        start -= (uint32_t)sizeof(uint64_t);
    while (start > 0 && is_digit(16, key[start - 1]))
        start--;
    *run = (struct run){start, at};
    return at - start;
}

static bool match_digits(struct attempt *attempt, const struct key_atom *atom)
{
    uint32_t at = attempt->place.at;
    uint32_t size;

    if (atom->kind == KEY_INT)
        size = count_decimal(attempt->key, at);
    else
        size = count_hex(attempt->key, at, &attempt->runs[atom->capture]);
    if (atom->kind == KEY_HEX64)
        size = size < DIGEST ? 0 : DIGEST;
    attempt->place.at = at - size;
    attempt->captures[atom->capture] = (struct key_capture){at - size, size};
    return size > 0;
}

/* How far left a text must reach for the literal left of it to end there. */
static uint32_t find_literal(const struct attempt *attempt,
                             const struct key_atom *atom, uint32_t start)
{
    uint8_t last = attempt->template->bytes[atom->start + atom->size - 1];

    while (start > 0 && attempt->key[start - 1] != last)
        start--;
    return start;
}

/* Give the text that may grow one byte more, and those that it needs anyhow. */
static bool grow_text(struct attempt *attempt)
{
    struct key_capture *text = text_capture(attempt);
    uint32_t end = text->start + text->size;
    const struct key_atom *left;

    if (text->start == 0)
        return false;
    attempt->place.atom = attempt->place.text;
    *text = (struct key_capture){text->start - 1, text->size + 1};
    if (!has_next(attempt)) {
        text->start = 0;
    } else {
        left = &attempt->template->atoms[attempt->place.atom - 1];
        if (left->group)
            examine(attempt, left);
        if (left->kind == KEY_LITERAL)
            text->start = find_literal(attempt, left, text->start);
    }
    text->size = end - text->start;
    attempt->place.at = text->start;
    return true;
}

static bool match_text(struct attempt *attempt, const struct key_atom *atom)
{
    attempt->place.text = attempt->place.atom;
    attempt->captures[atom->capture] =
        (struct key_capture){attempt->place.at, 0};
    return grow_text(attempt);
}

static bool match_atom(struct attempt *attempt)
{
    const struct key_atom *atom =
        &attempt->template->atoms[attempt->place.atom - 1];

    if (atom->group)
        examine(attempt, atom);
    attempt->place.atom--;
    if (atom->kind == KEY_LITERAL)
        return match_literal(attempt, atom);
    if (atom->kind == KEY_TEXT)
        return match_text(attempt, atom);
    return match_digits(attempt, atom);
}

static bool match_choice(struct attempt *attempt)
{
    for (;;) {
        bool more = has_next(attempt);

        if (more ? match_atom(attempt) : attempt->place.at == 0) {
            if (!more)
                return true;
        } else if (attempt->place.text == NO_TEXT || !grow_text(attempt)) {
            return false;
        }
    }
}

/* ---- all choices ---- */

static void go_back(struct attempt *attempt, uint32_t group)
{
    attempt->place = attempt->reached[group];
    if (attempt->place.text == NO_TEXT)
        return;
    *text_capture(attempt) = attempt->texts[group];
    attempt->place.atom = attempt->place.text;
    attempt->place.at = attempt->texts[group].start;
}

/*
 * The choice to try after one failed: choices count up as numbers of what is
 * missing, the rightmost group being the highest bit.  Groups left of all that
 * was examined had no say, so their choices are passed over.  False: there is
 * no other.
 */
static bool next_choice(struct attempt *attempt)
{
    uint32_t group, bit;

    if (attempt->examined == 0)
        return false;
    group = (uint32_t)__builtin_ctz(attempt->examined);
    bit = UINT32_C(1) << group;
    attempt->missing = (attempt->missing & ~(bit - 1)) | bit;
    attempt->examined &= ~bit;
    go_back(attempt, group);
    return true;
}

/* Captures of groups that are missing hold what failed attempts left there. */
static void clear_missing(const struct attempt *attempt)
{
    const struct key_template *template = attempt->template;

    for (uint32_t i = 0; i < template->capture_count; i++) {
        if (template->groups[i] & attempt->missing)
            attempt->captures[i] = (struct key_capture){0, 0};
    }
}

bool key_template_match(const struct key_template *template, const uint8_t *key,
                        size_t size, struct key_capture *captures)
{
    struct attempt attempt;

    if (size > KEY_TEMPLATE_KEY)
        return false;
    attempt.template = template;
    attempt.key = key;
    attempt.captures = captures;
    attempt.place =
        (struct place){template->atom_count, (uint32_t)size, NO_TEXT};
    attempt.missing = 0;
    attempt.examined = 0;
    memset(attempt.runs, 0, template->capture_count * sizeof attempt.runs[0]);
    while (!match_choice(&attempt)) {
        if (!next_choice(&attempt))
            return false;
    }
    clear_missing(&attempt);
    return true;
}

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
#include "script/keys/key_atom.h"
#include "script/keys/key_digits.h"

#include <string.h>

enum { DIGEST = 64 }; /* digits of hex64 */

static inline uint64_t load(const uint8_t *bytes)
{
    uint64_t word;

    memcpy(&word, bytes, sizeof word);
    return word;
}

/* ---- one atom ---- */

static const uint32_t nowhere = UINT32_MAX;

/* The functions that match one atom return where it starts if it ends at `at`,
 * or nowhere. */
static inline uint32_t match_literal(const struct key_template *template,
                                     const struct key_atom *atom,
                                     const uint8_t *key, uint32_t at)
{
    const uint8_t *bytes = template->bytes + atom->start;
    const uint8_t *end = key + at;

    if (at < atom->size)
        return nowhere;
    if (at >= KEY_TAIL && (load(end - KEY_TAIL) & atom->mask) != atom->tail)
        return nowhere;
    if ((at < KEY_TAIL || atom->size > KEY_TAIL) &&
        memcmp(end - atom->size, bytes, atom->size) != 0)
        return nowhere;
    return at - atom->size;
}

static inline uint32_t match_decimal(const uint8_t *key, uint32_t at)
{
    const uint8_t *end = key + at;
    uint32_t most = at <= KEY_DECIMAL_MAX ? at : (uint32_t)KEY_DECIMAL_MAX + 1;
    uint32_t size = 0;

    while (size < most && key_is_decimal(end[-1 - (ptrdiff_t)size]))
        size++;
    if (size == 0 || !key_decimal_fits(end - size, size))
        return nowhere;
    return at - size;
}

/* Where the run of hex digits that ends at `at` starts. */
static inline uint32_t find_run(const uint8_t *key, uint32_t at)
{
    while (at >= KEY_HEX_STEP && key_are_hex(key + at))
        at -= KEY_HEX_STEP;
    while (at > 0 && key_is_hex(key[at - 1]))
        at--;
    return at;
}

/* With the run found already. */
static inline uint32_t match_hex(enum key_kind kind, uint32_t run, uint32_t at)
{
    if (kind == KEY_HEX64)
        return at - run >= DIGEST ? at - DIGEST : nowhere;
    return run < at ? run : nowhere;
}

/* ---- one choice of groups ---- */

/* A run of digits that was found before. */
struct run {
    uint32_t start, end;
};

/* Where a group was first reached: `atom` and all right of it are matched, the
 * key from `at` on; then `text` was the leftmost text (NULL: none was). */
struct reached {
    const struct key_atom *atom;
    const struct key_atom *text;
    struct key_capture capture; /* what the text held */
    uint32_t at;
};

struct attempt {
    const struct key_template *template;
    const uint8_t *key;
    struct key_capture *captures;
    const struct key_atom *text; /* the text that may grow, or NULL */
    uint32_t missing;            /* the choice of groups: those left out */
    uint32_t examined;           /* groups of it whose atoms had a say */
    struct reached reached[KEY_TEMPLATE_GROUPS];
    struct run runs[KEY_TEMPLATE_CAPTURES]; /* no hex is scanned twice */
};

/* Before an atom has a say: if it is the first of its group, note the place. */
static inline void examine(struct attempt *attempt, const struct key_atom *atom,
                           const struct key_atom *matched, uint32_t at)
{
    struct reached *reached;

    if ((atom->group & ~attempt->examined) == 0)
        return;
    attempt->examined |= atom->group;
    reached = &attempt->reached[__builtin_ctz(atom->group)];
    *reached =
        (struct reached){.atom = matched, .text = attempt->text, .at = at};
    if (attempt->text != NULL)
        reached->capture = attempt->captures[attempt->text->capture];
}

/* The next atom to the left that this choice has; NULL: none is left. */
static const struct key_atom *next_atom(const struct attempt *attempt,
                                        const struct key_atom *atom)
{
    while (atom != attempt->template->atoms) {
        atom--;
        if ((atom->group & attempt->missing) == 0)
            return atom;
    }
    return NULL;
}

/* How far left a text must reach for the literal left of it to end there. */
static uint32_t find_literal(const struct attempt *attempt,
                             const struct key_atom *atom, uint32_t start)
{
    const struct key_template *template = attempt->template;
    uint8_t last = template->bytes[atom->start + atom->size - 1];
    const uint8_t *hit = memrchr(attempt->key, last, start);

    return hit ? (uint32_t)(hit - attempt->key) + 1 : 0;
}

/* Give the text one byte more, and those that it needs anyhow. */
static uint32_t grow_text(struct attempt *attempt)
{
    struct key_capture *text = &attempt->captures[attempt->text->capture];
    const struct key_atom *left = next_atom(attempt, attempt->text);
    uint32_t start = text->start;

    if (start == 0)
        return nowhere;
    start--;
    *text = (struct key_capture){start, text->size + 1};
    if (left == NULL) {
        start = 0;
    } else if (left->kind == KEY_LITERAL) {
        examine(attempt, left, attempt->text, start);
        start = find_literal(attempt, left, start);
    }
    text->size += text->start - start;
    text->start = start;
    return start;
}

static uint32_t match_text(struct attempt *attempt, const struct key_atom *atom,
                           uint32_t at)
{
    attempt->text = atom;
    attempt->captures[atom->capture] = (struct key_capture){at, 0};
    return grow_text(attempt);
}

static uint32_t find_run_once(struct attempt *attempt, uint32_t capture,
                              uint32_t at)
{
    struct run *run = &attempt->runs[capture];

    if (at < run->start || at > run->end)
        *run = (struct run){find_run(attempt->key, at), at};
    return run->start;
}

static inline uint32_t match_atom(struct attempt *attempt,
                                  const struct key_atom *atom, uint32_t at)
{
    uint32_t start;

    if (atom->kind == KEY_LITERAL)
        return match_literal(attempt->template, atom, attempt->key, at);
    if (atom->kind == KEY_TEXT)
        return match_text(attempt, atom, at);
    if (atom->kind == KEY_INT)
        start = match_decimal(attempt->key, at);
    else
        start = match_hex(atom->kind, find_run_once(attempt, atom->capture, at),
                          at);
    attempt->captures[atom->capture] = (struct key_capture){start, at - start};
    return start;
}

/* Match what is left of `atom` and of byte `at`. */
static bool match_choice(struct attempt *attempt, const struct key_atom *atom,
                         uint32_t at)
{
    for (;;) {
        const struct key_atom *left = next_atom(attempt, atom);

        if (left != NULL) {
            examine(attempt, left, atom, at);
            at = match_atom(attempt, left, at);
            atom = left;
        } else if (at == 0) {
            return true;
        } else {
            at = nowhere;
        }
        if (at == nowhere && attempt->text != NULL) {
            at = grow_text(attempt);
            atom = attempt->text;
        }
        if (at == nowhere)
            return false;
    }
}

/* ---- all choices ---- */

/* Match again from where a group was first reached, now without it. */
static bool match_without(struct attempt *attempt, uint32_t group)
{
    const struct reached *reached = &attempt->reached[group];

    attempt->text = reached->text;
    if (reached->text == NULL)
        return match_choice(attempt, reached->atom, reached->at);
    attempt->captures[reached->text->capture] = reached->capture;
    return match_choice(attempt, reached->text, reached->capture.start);
}

/*
 * Try the choices after the first.  They count up as numbers of what is
 * missing, the rightmost group being the highest bit.  Groups left of all that
 * was examined had no say, so their choices are passed over.
 */
static bool match_others(struct attempt *attempt)
{
    while (attempt->examined != 0) {
        uint32_t group = (uint32_t)__builtin_ctz(attempt->examined);
        uint32_t bit = UINT32_C(1) << group;

        attempt->missing = (attempt->missing & ~(bit - 1)) | bit;
        attempt->examined &= ~bit;
        if (match_without(attempt, group))
            return true;
    }
    return false;
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

/* ---- head and tail ---- */

/* The first `at` bytes of a key against the head. */
static bool match_head(const struct key_template *template, const uint8_t *key,
                       uint32_t at, struct key_capture *captures)
{
    struct attempt attempt;

    attempt.template = template;
    attempt.key = key;
    attempt.captures = captures;
    attempt.text = NULL;
    attempt.missing = 0;
    attempt.examined = 0;
    for (uint32_t i = 0; i < template->head_captures; i++)
        attempt.runs[i] = (struct run){0, 0};
    if (match_choice(&attempt, template->atoms + template->head_atoms, at))
        return true;
    if (!match_others(&attempt))
        return false;
    clear_missing(&attempt);
    return true;
}

/* The tail has neither groups nor texts: it matches in one way or in none.
 * Returns where it starts. */
static inline uint32_t match_tail(const struct key_template *template,
                                  const uint8_t *key, uint32_t at,
                                  struct key_capture *captures)
{
    for (uint32_t i = template->atom_count; i > template->head_atoms; i--) {
        const struct key_atom *atom = &template->atoms[i - 1];
        uint32_t start;

        if (atom->kind == KEY_LITERAL) {
            start = match_literal(template, atom, key, at);
        } else {
            start = atom->kind == KEY_INT
                        ? match_decimal(key, at)
                        : match_hex(atom->kind, find_run(key, at), at);
            captures[atom->capture] = (struct key_capture){start, at - start};
        }
        if (start == nowhere)
            return nowhere;
        at = start;
    }
    return at;
}

/* ---- heads that were matched before ---- */

/* All bits of a word have a say in the low bits of the hash. */
static inline uint64_t add_word(uint64_t hash, uint64_t word)
{
    hash = (hash ^ word) * UINT64_C(0x9e3779b97f4a7c15);
    return hash ^ hash >> 32;
}

static inline uint64_t hash_head(const uint8_t *head, uint32_t size)
{
    const uint32_t step = sizeof(uint64_t);
    uint64_t hash = size;

    if (size < step) {
        for (uint32_t i = 0; i < size; i++)
            hash = add_word(hash, head[i]);
        return hash;
    }
    for (uint32_t i = 0; i < size - step; i += step)
        hash = add_word(hash, load(head + i));
    return add_word(hash, load(head + size - step));
}

static inline bool is_of(const struct key_memo *memo, const uint8_t *head,
                         uint32_t size)
{
    return memo->size == size && memcmp(memo->head, head, size) == 0;
}

static bool match_remembered(struct key_template *template, const uint8_t *key,
                             uint32_t size, struct key_capture *captures)
{
    struct key_memo *pair =
        template->memos[hash_head(key, size) & (KEY_MEMO_PAIRS - 1)];
    struct key_memo *memo = is_of(&pair[0], key, size) ? &pair[0] : &pair[1];
    size_t captured = template->head_captures * sizeof *captures;

    if (memo == &pair[0] || is_of(memo, key, size)) {
        memcpy(captures, memo->captures, captured);
        return true;
    }
    if (!match_head(template, key, size, captures))
        return false;
    memo = &pair[template->memos_made++ % 2];
    memo->size = size;
    memcpy(memo->head, key, size);
    memcpy(memo->captures, captures, captured);
    return true;
}

bool key_template_match(struct key_template *template, const uint8_t *key,
                        size_t size, struct key_capture *captures)
{
    uint32_t at;

    if (size > KEY_TEMPLATE_KEY)
        return false;
    at = match_tail(template, key, (uint32_t)size, captures);
    if (at == nowhere)
        return false;
    if (template->has_memo && at > 0 && at <= KEY_MEMO_HEAD)
        return match_remembered(template, key, at, captures);
    return match_head(template, key, at, captures);
}

/*
 * key_template - one line that takes an object key apart
 *
 *   [{prefix}@]{model}@tp_rank:{tp:int}@pp_rank:{pp:int}@{hash:hex}
 *
 *   literal        itself; \ in front of { } [ ] \ makes those literal too
 *   {name}         text: one or more bytes of any value
 *   {name:int}     decimal: 1 to 20 digits, at most 2^64 - 1
 *   {name:hex}     one or more hexadecimal digits of either case
 *   {name:hex64}   exactly 64 of them
 *   [ ... ]        may be missing as a whole; groups don't nest
 *
 * A template describes whole keys and is read from the right, because what
 * people put into keys without escaping it (model names, prefixes) stands on
 * the left, and labels and hashes on the right:
 *
 *   1. groups are decided first, the rightmost first: present if the key can
 *      be matched that way, else missing;
 *   2. then each text, the rightmost first, is as short as it can be;
 *   3. int and hex always take the whole run of digits to their left.
 *
 * So a text may hold the very delimiter that follows it.  A template in which
 * nothing would tell where a capture starts is refused.  Matching allocates
 * nothing and takes time linear in the key, for each choice of groups.
 */
#ifndef SCRIPT_KEY_TEMPLATE_H
#define SCRIPT_KEY_TEMPLATE_H

#include "base/error.h"
#include "script/keys/key_abi.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    KEY_TEMPLATE_SIZE = 1024,   /* bytes of a template's text */
    KEY_TEMPLATE_NAME = 31,     /* bytes of a capture's name */
    KEY_TEMPLATE_CAPTURES = 16, /* captures of a template */
    KEY_TEMPLATE_GROUPS = 6,    /* optional groups: 2^6 choices */
    KEY_TEMPLATE_KEY = 1 << 20, /* a longer key matches nothing */
};

enum key_kind { KEY_LITERAL = 0, KEY_TEXT, KEY_INT, KEY_HEX, KEY_HEX64 };

/* NULL, and `error` with the column (in bytes, from 1), if it is no template.
 */
struct key_template *key_template_new(const char *text, size_t size,
                                      struct error *error);
void key_template_free(struct key_template *template);

/* Captures are numbered from 0 in the order of the text. */
uint32_t key_template_count(const struct key_template *template);
const char *key_template_name(const struct key_template *template,
                              uint32_t capture);
enum key_kind key_template_kind(const struct key_template *template,
                                uint32_t capture);

/* Match a whole key.  `captures` has room for all; void when it's false. */
bool key_template_match(struct key_template *template, const uint8_t *key,
                        size_t size, struct key_capture *captures);

#endif

/*
 * key_abi - key templates as lua/kvgate/key_template.lua reaches them
 *
 * Read twice, as script/border_abi.h.  The functions hang in border.keys; none
 * of them raises.  A template lives as long as the Lua object that holds it.
 */
#ifndef SCRIPT_KEY_ABI_H
#define SCRIPT_KEY_ABI_H
#include "codec/event_abi.h"
#include <stdbool.h>
#include <stddef.h>
/* cdef begins */

enum {
    KEY_ERROR = 256,      /* bytes of a message, with its NUL */
    KEY_CAPTURES_MAX = 16 /* captures of a template */
};

struct key_template;

/* Where a capture lies in its key; size 0: its group is missing. */
struct key_capture {
    uint32_t start;
    uint32_t size;
};

/* What the last match of one template found. */
struct key_match {
    const uint8_t *key; /* borrowed from the event or the string */
    uint64_t number;    /* of the match: changes with each, found or not */
    uint32_t serial;    /* of the batch that lends the key; kept by Lua */
    struct key_capture captures[KEY_CAPTURES_MAX];
};

struct key_border {
    /* NULL, and a sentence in `error`, if the text is no template. */
    struct key_template *(*compile)(const char *text, size_t size,
                                    char error[KEY_ERROR]);
    void (*free)(struct key_template *template);
    /* Name of a capture, and "text", "int" or "hex"; NULL behind the last. */
    const char *(*name)(const struct key_template *template, uint32_t capture);
    const char *(*kind)(const struct key_template *template, uint32_t capture);

    /* A field that holds no string matches nothing.  `name` is used only with
     * EVENT_NAMED. */
    bool (*match)(struct key_template *template, struct key_match *found,
                  const struct event *event, uint32_t field, const char *name,
                  size_t name_size);
    bool (*match_string)(struct key_template *template, struct key_match *found,
                         const char *key, size_t size);

    /* A capture's digits as a number, see script/keys/key_digits.h. */
    uint64_t (*low64)(const uint8_t *digits, size_t size);
    uint64_t (*high64)(const uint8_t *digits, size_t size);
    uint64_t (*decimal)(const uint8_t *digits, size_t size);
};

/* cdef ends */
#endif

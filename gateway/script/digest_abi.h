/*
 * digest_abi - keyed digests as lua/kvgate/digest.lua reaches them
 *
 * Read twice, as script/border_abi.h.  The functions hang in border.digests;
 * none of them raises.
 */
#ifndef SCRIPT_DIGEST_ABI_H
#define SCRIPT_DIGEST_ABI_H
#include "script/border_abi.h"
/* cdef begins */

enum {
    DIGEST_KEY = 16,      /* bytes */
    DIGEST_HEX = 32,      /* digits */
    DIGEST_LIST = 1 << 16 /* members of a list: one call into C is not long */
};

/* What a field holds, for a digest. */
enum digest_found {
    DIGEST_NOTHING = 0, /* absent, nil or an empty list */
    DIGEST_DONE,
    DIGEST_SEVERAL, /* a list of more than one */
    DIGEST_OTHER,   /* something but text, integers and lists of them */
    DIGEST_FULL     /* no room for the edit; nothing changed */
};

struct digest_border {
    /* A key out of a secret of any size. */
    void (*key)(uint8_t key[DIGEST_KEY], const char *secret, size_t size);
    /* Digits of the whole digest of some bytes. */
    void (*hex)(const uint8_t *key, const char *bytes, size_t size,
                char out[DIGEST_HEX]);
    /* Its first 64 bits, of bytes and of an integer of either sign. */
    uint64_t (*bytes)(const uint8_t *key, const char *bytes, size_t size);
    uint64_t (*integer)(const uint8_t *key, uint64_t value);
    /* The same of what a field holds; a list of one counts as its member.
     * Returns enum digest_found.  `name` is used only with EVENT_NAMED. */
    uint32_t (*field)(const uint8_t *key, const struct event *event,
                      uint32_t field, const char *name, size_t name_size,
                      uint64_t *digest);
    /* Put digests in place of what a field holds: digits for a text, the first
     * 64 bits for an integer, member by member for a list. */
    uint32_t (*replace)(const uint8_t *key, struct border *border,
                        struct event *event, uint32_t field, const char *name,
                        size_t name_size);
};

/* cdef ends */
#endif

/*
 * key_atom - what a key template is made of
 *
 * Shared by the two halves of key_template.h: key_template.c reads a text into
 * atoms, key_match.c runs them over keys.
 */
#ifndef SCRIPT_KEY_ATOM_H
#define SCRIPT_KEY_ATOM_H

#include "script/keys/key_template.h"

enum {
    /* captures, and literals between them and at the ends of groups */
    KEY_ATOMS = 2 * KEY_TEMPLATE_CAPTURES + 2 * KEY_TEMPLATE_GROUPS + 1,
    KEY_MEMO_PAIRS = 32, /* a power of two */
    KEY_MEMO_HEAD = 128, /* bytes of a head that is remembered */
    KEY_TAIL = 8,        /* bytes of a literal compared in one go */
};

/* A literal or a capture. */
struct key_atom {
    enum key_kind kind;
    uint32_t group;   /* the bit of its group; 0: always there */
    uint32_t capture; /* captures: its number */
    uint32_t start;   /* literals: where in `bytes`, */
    uint32_t size;    /* how long, */
    uint64_t tail;    /* its last 8 bytes as they lie in memory, */
    uint64_t mask;    /* and those of them that it has */
    size_t at;        /* where it stands in the text */
};

/* A head that was matched before, and what was found in it. */
struct key_memo {
    uint32_t size; /* 0: free */
    struct key_capture captures[KEY_TEMPLATE_CAPTURES];
    uint8_t head[KEY_MEMO_HEAD];
};

/*
 * A template has a head and a tail.  The tail is the atoms at the right end
 * that match in one way or in none, whatever stands left of them.  Where it
 * takes the digest away, the head is one of few in a stream (a model, some
 * ranks), and what is found in it depends on nothing else: it is remembered.
 */
struct key_template {
    struct key_atom atoms[KEY_ATOMS];
    uint32_t atom_count;
    uint32_t group_count;
    uint32_t capture_count;
    uint32_t byte_count;
    uint32_t head_atoms;    /* atoms left of the tail */
    uint32_t head_captures; /* captures among them: the first ones */
    bool has_memo;
    uint8_t bytes[KEY_TEMPLATE_SIZE]; /* literals, unescaped, end to end */
    char names[KEY_TEMPLATE_CAPTURES][KEY_TEMPLATE_NAME + 1];
    enum key_kind kinds[KEY_TEMPLATE_CAPTURES];
    uint32_t groups[KEY_TEMPLATE_CAPTURES]; /* the bit of each one's group */
    uint32_t memos_made;
    struct key_memo memos[KEY_MEMO_PAIRS][2]; /* by a hash of their heads */
};

#endif

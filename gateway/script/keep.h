/*
 * keep - what filters hold that survives a reload
 *
 * Each generation of scripts has one.  An entry belongs to a filter in its
 * place (owner.h) and has a name and a version.  It is either a table of Lua's,
 * written down as bytes while a reload goes on, or an object of C's that both
 * generations hold meanwhile.  A generation looks into the keep of the one
 * before, and finds there only what has the same owner, name and version:
 *
 *   old: keep_add … script_save      new: keep_new(old) ─ keep_before ─
 * keep_add
 *
 * Reload failed: the new one is freed, the old one is as it was.
 */
#ifndef SCRIPT_KEEP_H
#define SCRIPT_KEEP_H

#include "base/buffer.h"
#include "script/owner.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct keep;

/* An object of C's.  `release` is called when no generation holds it. */
struct keep_object {
    void *data;
    void (*release)(void *data);
    uint32_t holders;
};

struct keep_entry {
    struct keep_entry *next;
    struct owner owner; /* copied */
    char *name;
    uint64_t version;
    struct keep_object *object; /* NULL: it is a table */
    int table;                  /* its reference in the registry of Lua */
    size_t max;                 /* bytes that it may take */
    struct buffer bytes;        /* it, after script_save */
    char *failure;              /* why there are none; NULL: there are */
};

/*
 * `before`: of the generation that is in force, NULL if there is none; must
 * stay until the new generation is loaded.  A `trial` has objects of its own:
 * what it does to them must not show.
 */
struct keep *keep_new(const struct keep *before, bool trial);
void keep_free(struct keep *keep);

/* NULL: the owner has declared nothing of that name. */
struct keep_entry *keep_find(const struct keep *keep, const struct owner *owner,
                             const char *name);

/* What the generation before has of this owner, name and version, or NULL. */
const struct keep_entry *keep_before(const struct keep *keep,
                                     const struct owner *owner,
                                     const char *name, uint64_t version);

/* Declare; nothing of that owner and name may be there yet. */
struct keep_entry *keep_add(struct keep *keep, const struct owner *owner,
                            const char *name, uint64_t version);

/*
 * Declare an object: that of the generation before, or else what `make` makes
 * of `context` (NULL: it failed, and nothing is declared).  Returns its data,
 * which lives as long as this keep and longer if a later one has it too.
 */
void *keep_object(struct keep *keep, const struct owner *owner,
                  const char *name, uint64_t version, void *(*make)(void *),
                  void *context, void (*release)(void *data));

/* The first entry; more behind `next`. */
struct keep_entry *keep_first(const struct keep *keep);

/* Append a line for each entry of `before` that `now` does not go on with, and
 * why.  Both may be NULL. */
void keep_tell(const struct keep *before, const struct keep *now,
               struct buffer *out);

#endif

/*
 * shard_abi - kvgate.shards as lua/kvgate/shards.lua reaches it
 *
 * Read twice, as script/border_abi.h.  The functions hang in border.shards;
 * none of them raises.  A struct shards lives as long as the Lua object that
 * holds it.
 */
#ifndef SCRIPT_SHARD_ABI_H
#define SCRIPT_SHARD_ABI_H
#include "codec/event_abi.h"
#include "script/keys/key_abi.h"
#include <stdbool.h>
#include <stddef.h>
/* cdef begins */

/* What an event changed. */
enum shard_change {
    SHARD_NONE = 0, /* nothing that readers of blocks should know */
    SHARD_STORED,   /* all parts are there now */
    SHARD_REMOVED,  /* not all any more */
    SHARD_WHOLE,    /* all that were seen so far, while a model is learned */
    SHARD_LEARNED,  /* the same, and with it the model is learned */
    SHARD_STRANGE,  /* what stands around the digest must be learned first */
    SHARD_SURPRISE, /* a part that the learned model lacks: it is learned anew,
                       from the next part on, and its source's blocks are void
                     */
    SHARD_FULL,     /* no room for the block */
    SHARD_SCOPES_FULL,
    SHARD_MODELS_FULL,
    SHARD_PARTS_FULL
};

struct border;
struct shards;

enum { SHARD_SETS = 16 }; /* of a filter */

/* A kind of key: a form of a reader. */
struct shard_form {
    const struct key_match *found; /* what its template found last */
    uint32_t digest;               /* the capture that is the block's digest */
    uint32_t number;               /* of the form in its reader */
};

/* A block, to ask for later. */
struct shard_block {
    uint64_t id[2];
    uint32_t model;
};

/* A backend and a tenant, borrowed until the next call. */
struct shard_names {
    const char *backend, *tenant;
    uint32_t backend_size, tenant_size;
};

struct shard_border {
    /* That of the filter which loads: the one it had before a reload, if that
     * was opened with the same options, or a new one.  NULL: it has SHARD_SETS.
     * At most `blocks` of up to 64 parts; a model counts as learned when no new
     * part came for `settle_ms`.  Lives as long as the generation. */
    struct shards *(*open)(struct border *border, const char *options,
                           size_t size, uint32_t blocks, uint32_t settle_ms);
    uint32_t (*used)(const struct shards *shards); /* slots taken */

    /* The number of a source, by its name: below SHARD_PARTS. */
    uint32_t (*source)(struct shards *shards, const char *name, size_t size);

    /* A part of a block is there (`stored`) or is not: the part of the event's
     * object_key, which the form has just matched.  Returns enum shard_change.
     */
    uint32_t (*mark)(struct shards *shards, const struct event *event,
                     const struct shard_form *form, uint32_t source,
                     bool stored);
    /* What SHARD_STRANGE asks for, then mark.  `block`: what all parts of a
     * block have in common but the digest.  Of `parts` parts this is number
     * `index`; parts 0: they are learned from the texts that come. */
    uint32_t (*learn)(struct shards *shards, const struct event *event,
                      const struct shard_form *form, uint32_t source,
                      bool stored, const char *block, size_t block_size,
                      const char *model, size_t model_size, const char *part,
                      size_t part_size, uint32_t index, uint32_t parts);
    /* The block that was marked last; whether all its parts are there. */
    void (*last)(const struct shards *shards, struct shard_block *block);
    bool (*is_whole)(const struct shards *shards,
                     const struct shard_block *block);

    /* Who holds the event's object: its sources, or with `copies` as many as
     * were stored and not removed.  SHARD_STORED: one does, now.
     * SHARD_REMOVED: none does any more.  SHARD_STRANGE: it has no key. */
    uint32_t (*note)(struct shards *shards, const struct event *event,
                     uint32_t source, bool stored, bool copies);

    /* Forget what a `cleared` retracts. */
    void (*clear)(struct shards *shards, const struct event *event);
    /* Forget one backend and tenant that the source had a part in.  False:
     * there is none that has blocks. */
    bool (*lose)(struct shards *shards, uint32_t source,
                 struct shard_names *names);
};

/* cdef ends */
#endif

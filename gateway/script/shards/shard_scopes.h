/*
 * shard_scopes - the backends and tenants that blocks belong to
 *
 * What a `cleared` retracts.  A scope's number is that of its group in the
 * table; a scope without blocks gives its place up when another needs one.
 */
#ifndef SCRIPT_SHARD_SCOPES_H
#define SCRIPT_SHARD_SCOPES_H

#include "script/shards/shard_hash.h"

enum {
    SHARD_SCOPES = 1000, /* as many events as one hook may emit */
    SHARD_NAME = 1024,   /* bytes of backend and tenant together, at most */
    SHARD_NO_PLACE = INT32_MAX,
};

struct shard_scope {
    char *backend; /* NULL: free */
    char *tenant;
    uint32_t backend_size;
    uint32_t tenant_size;
    uint64_t sources; /* bit s % 64: source s had a part in it */
};

struct shard_scopes {
    struct shard_table *table;
    uint32_t last; /* the one asked for last */
    struct shard_scope scopes[SHARD_SCOPES];
    uint16_t places[2 * SHARD_SCOPES]; /* by a hash of the names; scope + 1 */
};

/* Its scope, or SHARD_NO_PLACE. */
uint32_t shard_scopes_find(struct shard_scopes *scopes,
                           struct shard_text backend, struct shard_text tenant);

/* The same, made if there is none; SHARD_NO_PLACE: all places are taken, or the
 * names are too long. */
uint32_t shard_scopes_open(struct shard_scopes *scopes,
                           struct shard_text backend, struct shard_text tenant);

void shard_scopes_free(struct shard_scopes *scopes); /* what it holds */

#endif

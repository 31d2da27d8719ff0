#include "script/shards/shard_scopes.h"

#include "base/memory.h"
#include "base/signature.h"

#include <stdlib.h>
#include <string.h>

enum { PLACES = 2 * SHARD_SCOPES };

static bool is_of(const struct shard_scope *scope, struct shard_text backend,
                  struct shard_text tenant)
{
    return scope->backend != NULL && scope->backend_size == backend.size &&
           scope->tenant_size == tenant.size &&
           memcmp(scope->backend, backend.bytes, backend.size) == 0 &&
           memcmp(scope->tenant, tenant.bytes, tenant.size) == 0;
}

/* The place of a scope, or the free one where it would be.  There are few, so
 * that strangers who make theirs collide gain nothing. */
static uint16_t *place_of(struct shard_scopes *scopes,
                          struct shard_text backend, struct shard_text tenant)
{
    uint64_t hash = signature_add(SIGNATURE_EMPTY, backend.bytes, backend.size);
    uint32_t at =
        (uint32_t)(signature_add(hash, tenant.bytes, tenant.size) % PLACES);

    while (scopes->places[at] != 0 &&
           !is_of(&scopes->scopes[scopes->places[at] - 1], backend, tenant))
        at = at + 1 == PLACES ? 0 : at + 1;
    return &scopes->places[at];
}

uint32_t shard_scopes_find(struct shard_scopes *scopes,
                           struct shard_text backend, struct shard_text tenant)
{
    uint16_t place;

    if (is_of(&scopes->scopes[scopes->last], backend, tenant))
        return scopes->last;
    place = *place_of(scopes, backend, tenant);
    if (place == 0)
        return SHARD_NO_PLACE;
    scopes->last = place - 1u;
    return scopes->last;
}

/* ---- places ---- */

static void forget(struct shard_scope *scope)
{
    free(scope->backend);
    free(scope->tenant);
    *scope = (struct shard_scope){0};
}

static void index_all(struct shard_scopes *scopes)
{
    memset(scopes->places, 0, sizeof scopes->places);
    for (uint32_t i = 0; i < SHARD_SCOPES; i++) {
        const struct shard_scope *scope = &scopes->scopes[i];

        if (scope->backend != NULL)
            *place_of(scopes,
                      (struct shard_text){scope->backend, scope->backend_size},
                      (struct shard_text){scope->tenant, scope->tenant_size}) =
                (uint16_t)(i + 1);
    }
}

/* Scopes without blocks go once all places are taken. */
static uint32_t free_place(struct shard_scopes *scopes)
{
    uint32_t found = SHARD_NO_PLACE;

    for (uint32_t i = 0; i < SHARD_SCOPES; i++) {
        if (scopes->scopes[i].backend == NULL)
            return i;
    }
    for (uint32_t i = 0; i < SHARD_SCOPES; i++) {
        if (shard_table_size(scopes->table, i) != 0)
            continue;
        forget(&scopes->scopes[i]);
        found = i;
    }
    if (found != SHARD_NO_PLACE)
        index_all(scopes);
    return found;
}

uint32_t shard_scopes_open(struct shard_scopes *scopes,
                           struct shard_text backend, struct shard_text tenant)
{
    uint32_t place = shard_scopes_find(scopes, backend, tenant);

    if (place != SHARD_NO_PLACE)
        return place;
    if (backend.size + tenant.size > SHARD_NAME)
        return SHARD_NO_PLACE;
    place = free_place(scopes);
    if (place == SHARD_NO_PLACE)
        return SHARD_NO_PLACE;
    scopes->scopes[place] = (struct shard_scope){
        .backend = memory_text(backend.bytes, backend.size),
        .tenant = memory_text(tenant.bytes, tenant.size),
        .backend_size = (uint32_t)backend.size,
        .tenant_size = (uint32_t)tenant.size,
    };
    *place_of(scopes, backend, tenant) = (uint16_t)(place + 1);
    scopes->last = place;
    return place;
}

void shard_scopes_free(struct shard_scopes *scopes)
{
    for (uint32_t i = 0; i < SHARD_SCOPES; i++)
        forget(&scopes->scopes[i]);
}

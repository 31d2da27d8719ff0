#include "script/shards/shards.h"

#include "base/memory.h"
#include "base/signature.h"
#include "codec/cursor.h"
#include "codec/event.h"
#include "codec/field.h"
#include "script/border_abi.h"
#include "script/keep.h"
#include "script/shards/shard_frames.h"
#include "script/shards/shard_models.h"
#include "script/shards/shard_scopes.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct shards {
    struct shard_table *table;
    struct shard_scopes scopes;
    struct shard_models models;
    struct shard_frames frames;
    struct shard_block last;
    char **sources; /* names */
    uint32_t source_count;
    uint32_t settle_ms;
    uint8_t key[SHARD_HASH_KEY];
};

struct opening {
    uint32_t blocks;
    uint32_t settle_ms;
};

static void *make(void *context)
{
    const struct opening *opening = context;
    struct shards *shards = memory_new(sizeof *shards);

    shards->table =
        shard_table_new(opening->blocks, SHARD_SCOPES + SHARD_MODELS);
    shards->settle_ms = opening->settle_ms;
    shard_hash_key(shards->key);
    shards->scopes.table = shards->models.table = shards->table;
    shards->models.key = shards->key;
    shards->models.group = SHARD_SCOPES;
    return shards;
}

static void discard(void *data)
{
    struct shards *shards = data;

    for (uint32_t i = 0; i < shards->source_count; i++)
        free(shards->sources[i]);
    free(shards->sources);
    shard_scopes_free(&shards->scopes);
    shard_table_free(shards->table);
    free(shards);
}

/* The first, second ... that the filter opens is what its first, second ... was
 * before the reload. */
static struct shards *open_shards(struct border *border, const char *options,
                                  size_t size, uint32_t blocks,
                                  uint32_t settle_ms)
{
    struct opening opening = {blocks, settle_ms};
    uint64_t version = signature_add(SIGNATURE_EMPTY, options, size);
    char name[32];

    for (unsigned i = 1; i <= SHARD_SETS; i++) {
        snprintf(name, sizeof name, "kvgate.shards %u", i);
        if (keep_find(border->keep, border->owner, name) == NULL)
            return keep_object(border->keep, border->owner, name, version, make,
                               &opening, discard);
    }
    return NULL;
}

static uint32_t used(const struct shards *shards)
{
    return shard_table_used(shards->table);
}

/* ---- sources ---- */

/* Those behind the last number share it. */
static uint32_t source_of(struct shards *shards, const char *name, size_t size)
{
    for (uint32_t i = 0; i < shards->source_count; i++) {
        if (strlen(shards->sources[i]) == size &&
            memcmp(shards->sources[i], name, size) == 0)
            return i;
    }
    if (shards->source_count == SHARD_PARTS)
        return SHARD_PARTS - 1;
    shards->sources = memory_resize(
        shards->sources, (shards->source_count + 1) * sizeof *shards->sources);
    shards->sources[shards->source_count] = memory_text(name, size);
    return shards->source_count++;
}

static uint64_t bit_of(uint32_t source)
{
    return UINT64_C(1) << source % 64;
}

/* ---- what an event says ---- */

/* Nil, absent and anything but text is the empty text. */
static struct shard_text text_of(const struct event *event, enum field field)
{
    uint32_t size = 0;
    const uint8_t *bytes = event_text(event, field, &size);

    return bytes == NULL ? (struct shard_text){"", 0}
                         : (struct shard_text){bytes, size};
}

static int64_t moment_of(const struct event *event)
{
    const uint8_t *value = event_value(event, FIELD_TIMESTAMP);
    int64_t moment;

    return value != NULL && cursor_i64(value, &moment) ? moment : 0;
}

/* A text, or a bin that is read as one; a key template matches both. */
static struct shard_text key_of(const struct event *event)
{
    const uint8_t *value = event_value(event, FIELD_OBJECT_KEY);
    const uint8_t *bytes;
    uint32_t size;

    if (value == NULL ||
        (cursor_kind(value) != CURSOR_STR && cursor_kind(value) != CURSOR_BIN))
        return (struct shard_text){NULL, 0};
    bytes = cursor_bytes(value, &size);
    return (struct shard_text){bytes, size};
}

/* The scope of an event; one that is made is part of the source's. */
static uint32_t scope_of(struct shards *shards, const struct event *event,
                         uint32_t source, bool make)
{
    struct shard_text backend = text_of(event, FIELD_BACKEND_ID);
    struct shard_text tenant = text_of(event, FIELD_TENANT_ID);
    uint32_t scope;

    if (!make)
        return shard_scopes_find(&shards->scopes, backend, tenant);
    scope = shard_scopes_open(&shards->scopes, backend, tenant);
    if (scope != SHARD_NO_PLACE)
        shards->scopes.scopes[scope].sources |= bit_of(source);
    return scope;
}

/* ---- parts of blocks ---- */

static struct shard_id frame_of(const struct shards *shards,
                                struct shard_text key,
                                const struct shard_form *form, uint32_t source)
{
    const struct key_capture *digest = &form->found->captures[form->digest];
    const uint8_t *bytes = key.bytes;
    uint32_t kind[] = {form->number, source};
    size_t behind = digest->start + digest->size;
    const struct shard_text texts[] = {
        {kind, sizeof kind},
        {bytes, digest->start},
        {bytes + behind, key.size - behind},
    };

    return shard_hash(shards->key, texts, 3);
}

static struct shard_id block_of(const struct shards *shards,
                                const struct event *event,
                                const struct shard_form *form,
                                struct shard_id common, uint32_t scope)
{
    const struct key_capture *digest = &form->found->captures[form->digest];
    const struct shard_text texts[] = {
        {&common, sizeof common},
        {&scope, sizeof scope},
        text_of(event, FIELD_MEDIUM),
        {form->found->key + digest->start, digest->size},
    };

    return shard_hash(shards->key, texts, 4);
}

static uint32_t stored_change(struct shards *shards, const struct event *event,
                              uint32_t number, struct shard_count count)
{
    const struct shard_model *model = &shards->models.models[number];

    if (count.after == count.before || count.after != model->parts)
        return SHARD_NONE;
    if (model->learned)
        return SHARD_STORED;
    return shard_models_whole(&shards->models, number, moment_of(event),
                              shards->settle_ms)
               ? SHARD_LEARNED
               : SHARD_WHOLE;
}

static uint32_t removed_change(const struct shard_model *model,
                               struct shard_count count)
{
    return model->learned && count.before == model->parts &&
                   count.after < count.before
               ? SHARD_REMOVED
               : SHARD_NONE;
}

static uint32_t mark_frame(struct shards *shards, const struct event *event,
                           const struct shard_form *form, uint32_t source,
                           bool stored, const struct shard_frame *frame)
{
    uint32_t scope = scope_of(shards, event, source, stored);
    struct shard_count count;
    struct shard_id id;

    if (scope == SHARD_NO_PLACE)
        return stored ? SHARD_SCOPES_FULL : SHARD_NONE;
    id = block_of(shards, event, form, frame->block, scope);
    shards->last =
        (struct shard_block){{id.words[0], id.words[1]}, frame->model};
    if (!stored)
        return removed_change(&shards->models.models[frame->model],
                              shard_table_take(shards->table, id, frame->part));
    if (!shard_table_put(shards->table, scope, id, frame->part, &count))
        return SHARD_FULL;
    return stored_change(shards, event, frame->model, count);
}

static uint32_t mark(struct shards *shards, const struct event *event,
                     const struct shard_form *form, uint32_t source,
                     bool stored)
{
    struct shard_id id = frame_of(shards, key_of(event), form, source);
    const struct shard_frame *frame = shard_frames_find(&shards->frames, id);

    if (frame == NULL ||
        frame->generation !=
            shard_models_generation(&shards->models, frame->model))
        return SHARD_STRANGE;
    return mark_frame(shards, event, form, source, stored, frame);
}

/* ---- what is strange ---- */

static uint32_t number_part(struct shards *shards, const struct event *event,
                            bool stored, struct shard_text part,
                            struct shard_frame *frame)
{
    switch (shard_models_part(&shards->models, frame->model, part, stored,
                              moment_of(event), &frame->part)) {
    case SHARD_PART_KNOWN:
    case SHARD_PART_NEW:
        return SHARD_NONE;
    case SHARD_PART_SURPRISE:
        return SHARD_SURPRISE;
    case SHARD_PART_TOO_MANY:
        return SHARD_PARTS_FULL;
    case SHARD_PART_NO_ROOM:
        return SHARD_FULL;
    case SHARD_PART_UNKNOWN:
        break;
    }
    return SHARD_STRANGE;
}

static uint32_t learn(struct shards *shards, const struct event *event,
                      const struct shard_form *form, uint32_t source,
                      bool stored, const char *block, size_t block_size,
                      const char *model, size_t model_size, const char *part,
                      size_t part_size, uint32_t index, uint32_t parts)
{
    const struct shard_text common[] = {{&source, sizeof source},
                                        {block, block_size}};
    struct shard_frame frame = {
        .frame = frame_of(shards, key_of(event), form, source),
        .block = shard_hash(shards->key, common, 2),
        .model = shard_models_open(&shards->models,
                                   (struct shard_text){model, model_size}),
        .part = index,
    };
    uint32_t failure = SHARD_NONE;

    if (frame.model == SHARD_MODELS)
        return stored ? SHARD_MODELS_FULL : SHARD_NONE;
    if (parts > 0) {
        shards->models.models[frame.model].parts = parts;
        shards->models.models[frame.model].learned = true;
    } else {
        failure = number_part(shards, event, stored,
                              (struct shard_text){part, part_size}, &frame);
    }
    if (failure == SHARD_STRANGE) /* a part that nobody stored is removed */
        return SHARD_NONE;
    if (failure != SHARD_NONE)
        return failure;
    frame.generation = shard_models_generation(&shards->models, frame.model);
    shard_frames_keep(&shards->frames, frame);
    return mark_frame(shards, event, form, source, stored, &frame);
}

static void last(const struct shards *shards, struct shard_block *block)
{
    *block = shards->last;
}

static bool is_whole(const struct shards *shards,
                     const struct shard_block *block)
{
    struct shard_id id = {{block->id[0], block->id[1]}};

    uint32_t count = shard_table_count(shards->table, id);

    return count > 0 && count == shards->models.models[block->model].parts;
}

/* ---- objects ---- */

static uint32_t note_stored(struct shards *shards, uint32_t scope,
                            struct shard_id id, uint32_t part)
{
    struct shard_count count;

    if (part == SHARD_PARTS)
        return SHARD_NONE;
    if (!shard_table_put(shards->table, scope, id, part, &count))
        return SHARD_FULL;
    return count.before == 0 ? SHARD_STORED : SHARD_NONE;
}

static uint32_t note_removed(struct shards *shards, struct shard_id id,
                             uint32_t part)
{
    struct shard_count count = shard_table_take(shards->table, id, part);

    return count.before > 0 && count.after == 0 ? SHARD_REMOVED : SHARD_NONE;
}

static uint32_t note(struct shards *shards, const struct event *event,
                     uint32_t source, bool stored, bool copies)
{
    struct shard_text key = key_of(event);
    uint32_t scope = scope_of(shards, event, source, stored);
    const struct shard_text texts[] = {
        {&scope, sizeof scope}, text_of(event, FIELD_MEDIUM), key};
    struct shard_id id;
    uint32_t there;

    if (key.bytes == NULL)
        return SHARD_STRANGE;
    if (scope == SHARD_NO_PLACE)
        return stored ? SHARD_SCOPES_FULL : SHARD_NONE;
    id = shard_hash(shards->key, texts, 3);
    there = copies ? shard_table_count(shards->table, id) : 0;
    if (stored)
        return note_stored(shards, scope, id, copies ? there : source);
    if (copies && there == 0)
        return SHARD_NONE;
    return note_removed(shards, id, copies ? there - 1 : source);
}

/* ---- what is void ---- */

static void drop(struct shards *shards, uint32_t scope)
{
    shard_table_drop(shards->table, scope);
    shards->scopes.scopes[scope].sources = 0;
}

/* Whether a `cleared` retracts what has this name: one that names none does. */
static bool concerns(const struct event *event, enum field field,
                     const char *name, uint32_t name_size)
{
    uint32_t size = 0;
    const uint8_t *bytes = event_text(event, field, &size);

    return bytes == NULL ||
           (size == name_size && memcmp(bytes, name, size) == 0);
}

static void clear(struct shards *shards, const struct event *event)
{
    for (uint32_t i = 0; i < SHARD_SCOPES; i++) {
        const struct shard_scope *scope = &shards->scopes.scopes[i];

        if (scope->backend != NULL &&
            concerns(event, FIELD_BACKEND_ID, scope->backend,
                     scope->backend_size) &&
            concerns(event, FIELD_TENANT_ID, scope->tenant, scope->tenant_size))
            drop(shards, i);
    }
}

static bool lose(struct shards *shards, uint32_t source,
                 struct shard_names *names)
{
    for (uint32_t i = 0; i < SHARD_SCOPES; i++) {
        const struct shard_scope *scope = &shards->scopes.scopes[i];

        if ((scope->sources & bit_of(source)) == 0 ||
            shard_table_size(shards->table, i) == 0)
            continue;
        *names = (struct shard_names){scope->backend, scope->tenant,
                                      scope->backend_size, scope->tenant_size};
        drop(shards, i);
        return true;
    }
    return false;
}

const struct shard_border shard_border = {
    .open = open_shards,
    .used = used,
    .source = source_of,
    .mark = mark,
    .learn = learn,
    .last = last,
    .is_whole = is_whole,
    .note = note,
    .clear = clear,
    .lose = lose,
};

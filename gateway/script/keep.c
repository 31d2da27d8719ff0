#include "script/keep.h"

#include "base/memory.h"

#include <assert.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

struct keep {
    const struct keep *before; /* borrowed; looked at only while loading */
    bool trial;
    struct keep_entry *first;
};

struct keep *keep_new(const struct keep *before, bool trial)
{
    struct keep *keep = memory_new(sizeof *keep);

    keep->before = before;
    keep->trial = trial;
    return keep;
}

static void let_go(struct keep_object *object)
{
    if (object == NULL || --object->holders > 0)
        return;
    object->release(object->data);
    free(object);
}

void keep_free(struct keep *keep)
{
    if (keep == NULL)
        return;
    while (keep->first != NULL) {
        struct keep_entry *entry = keep->first;

        keep->first = entry->next;
        let_go(entry->object);
        buffer_free(&entry->bytes);
        owner_clear(&entry->owner);
        free(entry->failure);
        free(entry->name);
        free(entry);
    }
    free(keep);
}

struct keep_entry *keep_first(const struct keep *keep)
{
    return keep->first;
}

static bool is_same(const struct owner *a, const struct owner *b)
{
    return a->ordinal == b->ordinal && strcmp(a->script, b->script) == 0 &&
           strcmp(a->stream, b->stream) == 0;
}

struct keep_entry *keep_find(const struct keep *keep, const struct owner *owner,
                             const char *name)
{
    struct keep_entry *entry = keep == NULL ? NULL : keep->first;

    while (entry != NULL &&
           !(is_same(&entry->owner, owner) && strcmp(entry->name, name) == 0))
        entry = entry->next;
    return entry;
}

const struct keep_entry *keep_before(const struct keep *keep,
                                     const struct owner *owner,
                                     const char *name, uint64_t version)
{
    const struct keep_entry *entry = keep_find(keep->before, owner, name);

    return entry != NULL && entry->version == version ? entry : NULL;
}

struct keep_entry *keep_add(struct keep *keep, const struct owner *owner,
                            const char *name, uint64_t version)
{
    struct keep_entry *entry = memory_new(sizeof *entry);

    assert(keep_find(keep, owner, name) == NULL);
    owner_set(&entry->owner, owner->script, owner->stream, owner->position,
              owner->ordinal);
    entry->name = memory_text(name, strlen(name));
    entry->version = version;
    entry->next = keep->first;
    keep->first = entry;
    return entry;
}

static struct keep_object *make_object(void *(*make)(void *), void *context,
                                       void (*release)(void *data))
{
    struct keep_object *object;
    void *data = make(context);

    if (data == NULL)
        return NULL;
    object = memory_new(sizeof *object);
    object->data = data;
    object->release = release;
    return object;
}

void *keep_object(struct keep *keep, const struct owner *owner,
                  const char *name, uint64_t version, void *(*make)(void *),
                  void *context, void (*release)(void *data))
{
    const struct keep_entry *before = keep_before(keep, owner, name, version);
    struct keep_object *object = NULL;

    if (before != NULL && !keep->trial)
        object = before->object;
    if (object == NULL)
        object = make_object(make, context, release);
    if (object == NULL)
        return NULL;
    object->holders++;
    keep_add(keep, owner, name, version)->object = object;
    return object->data;
}

/* ---- what does not go on ---- */

static void tell_entry(const struct keep_entry *before,
                       const struct keep_entry *now, struct buffer *out)
{
    if (now != NULL && now->version == before->version &&
        before->failure == NULL)
        return;
    buffer_print(out, "state \"%s\" of ", before->name);
    owner_name(&before->owner, out);
    if (now == NULL)
        buffer_print(out, " is gone: nothing declares it any more\n");
    else if (now->version != before->version)
        buffer_print(out,
                     " starts anew: it has version %" PRIu64
                     " instead of %" PRIu64 "\n",
                     now->version, before->version);
    else
        buffer_print(out, " starts anew: %s\n", before->failure);
}

void keep_tell(const struct keep *before, const struct keep *now,
               struct buffer *out)
{
    if (before == NULL)
        return;
    for (const struct keep_entry *entry = before->first; entry != NULL;
         entry = entry->next)
        tell_entry(entry, keep_find(now, &entry->owner, entry->name), out);
}

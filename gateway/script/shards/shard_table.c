#include "script/shards/shard_table.h"

#include "base/memory.h"

#include <assert.h>
#include <stdlib.h>

enum {
    CHUNK = 64, /* parts of a slot */
    SWEEP = 8,  /* slots looked at for each one that is taken */
};

struct slot {
    struct shard_id id;
    uint64_t bits;       /* parts of this chunk, or a number */
    uint32_t generation; /* of its group when it was taken; 0: free */
    uint16_t group;
    uint16_t count; /* of the first chunk: parts of the block */
};

_Static_assert(sizeof(struct slot) == 32, "two in a cache line");

struct group {
    uint32_t generation;
    uint32_t slots;
};

struct shard_table {
    struct slot *slots;
    struct group *groups;
    uint32_t size; /* slots, free ones included */
    uint32_t capacity;
    uint32_t used;
    uint32_t stale;       /* of those: of groups that were dropped */
    uint32_t hand;        /* the sweep goes on here */
    uint32_t generations; /* made so far */
};

/* A third of the slots stays free, for short ways. */
struct shard_table *shard_table_new(uint32_t capacity, uint32_t groups)
{
    struct shard_table *table = memory_new(sizeof *table);

    assert(capacity > 0 && capacity <= UINT32_C(1) << 30 &&
           groups <= UINT16_MAX);
    table->capacity = capacity;
    table->size = capacity + capacity / 2 + 2;
    table->slots = memory_new(table->size * sizeof *table->slots);
    table->groups = memory_new(groups * sizeof *table->groups);
    for (uint32_t i = 0; i < groups; i++)
        table->groups[i].generation = ++table->generations;
    return table;
}

void shard_table_free(struct shard_table *table)
{
    if (table == NULL)
        return;
    free(table->slots);
    free(table->groups);
    free(table);
}

/* ---- slots ---- */

static uint32_t home_of(const struct shard_table *table, struct shard_id id)
{
    return (uint32_t)(((id.words[0] >> 32) * table->size) >> 32);
}

static uint32_t step(const struct shard_table *table, uint32_t at)
{
    return at + 1 == table->size ? 0 : at + 1;
}

static bool is_stale(const struct shard_table *table, const struct slot *slot)
{
    return slot->generation != table->groups[slot->group].generation;
}

/* The slot of an id, or the free one where it would be. */
static struct slot *find(const struct shard_table *table, struct shard_id id)
{
    uint32_t at = home_of(table, id);

    for (;; at = step(table, at)) {
        struct slot *slot = &table->slots[at];

        if (slot->generation == 0)
            return slot;
        if (slot->id.words[0] == id.words[0] &&
            slot->id.words[1] == id.words[1] && !is_stale(table, slot))
            return slot;
    }
}

/* Free a slot.  Those behind it that came past it move up, so that each is
 * found on the way from its home. */
static void release(struct shard_table *table, uint32_t hole)
{
    uint32_t at = hole;

    for (;;) {
        uint32_t from_home, from_hole;

        at = step(table, at);
        if (table->slots[at].generation == 0)
            break;
        from_home = at - home_of(table, table->slots[at].id);
        from_hole = at - hole;
        from_home += from_home > at ? table->size : 0;
        from_hole += from_hole > at ? table->size : 0;
        if (from_home < from_hole)
            continue;
        table->slots[hole] = table->slots[at];
        hole = at;
    }
    table->slots[hole].generation = 0;
    table->used--;
}

static void give_back(struct shard_table *table, struct slot *slot)
{
    table->groups[slot->group].slots--;
    release(table, (uint32_t)(slot - table->slots));
}

/* Free what is stale among the next `count` slots. */
static void sweep(struct shard_table *table, uint32_t count)
{
    while (count-- > 0 && table->stale > 0) {
        struct slot *slot = &table->slots[table->hand];

        if (slot->generation != 0 && is_stale(table, slot)) {
            release(table, table->hand); /* another may be here now */
            table->stale--;
        } else {
            table->hand = step(table, table->hand);
        }
    }
}

static bool make_room(struct shard_table *table, uint32_t wanted)
{
    sweep(table, SWEEP);
    while (table->used + wanted > table->capacity && table->stale > 0)
        sweep(table, SWEEP);
    return table->used + wanted <= table->capacity;
}

static void fill(struct shard_table *table, struct slot *slot, uint32_t group,
                 struct shard_id id)
{
    *slot = (struct slot){.id = id,
                          .generation = table->groups[group].generation,
                          .group = (uint16_t)group};
    table->groups[group].slots++;
    table->used++;
}

/* ---- blocks ---- */

static struct shard_id chunk_of(struct shard_id id, uint32_t part)
{
    uint64_t chunk = part / CHUNK;

    id.words[0] += chunk * UINT64_C(0x9e3779b97f4a7c15);
    id.words[1] ^= chunk;
    return id;
}

static uint64_t bit_of(uint32_t part)
{
    return UINT64_C(1) << part % CHUNK;
}

/* Both slots that a part needs, found after there is room for both: neither
 * finding nor filling moves another. */
static bool reach(struct shard_table *table, uint32_t group, struct shard_id id,
                  uint32_t part, struct slot **first, struct slot **own)
{
    struct shard_id chunk = chunk_of(id, part);
    uint32_t missing;

    *first = find(table, id);
    *own = find(table, chunk);
    missing = ((*first)->generation == 0) +
              (part >= CHUNK && (*own)->generation == 0);
    if (missing == 0)
        return true;
    if (!make_room(table, missing))
        return false;
    *first = find(table, id);
    if ((*first)->generation == 0)
        fill(table, *first, group, id);
    *own = find(table, chunk);
    if ((*own)->generation == 0)
        fill(table, *own, group, chunk);
    return true;
}

bool shard_table_put(struct shard_table *table, uint32_t group,
                     struct shard_id id, uint32_t part,
                     struct shard_count *count)
{
    struct slot *first, *own;

    if (!reach(table, group, id, part, &first, &own))
        return false;
    count->before = first->count;
    if ((own->bits & bit_of(part)) == 0) {
        own->bits |= bit_of(part);
        first->count++;
    }
    count->after = first->count;
    return true;
}

struct shard_count shard_table_take(struct shard_table *table,
                                    struct shard_id id, uint32_t part)
{
    struct slot *first = find(table, id);
    struct slot *own = find(table, chunk_of(id, part));
    struct shard_count count = {0, 0};

    if (first->generation == 0)
        return count;
    count.before = count.after = first->count;
    if (own->generation == 0 || (own->bits & bit_of(part)) == 0)
        return count;
    own->bits &= ~bit_of(part);
    count.after = --first->count;
    if (own != first && own->bits == 0) {
        give_back(table, own);
        first = find(table, id);
    }
    if (count.after == 0)
        give_back(table, first);
    return count;
}

uint32_t shard_table_count(const struct shard_table *table, struct shard_id id)
{
    const struct slot *slot = find(table, id);

    return slot->generation == 0 ? 0 : slot->count;
}

/* ---- numbers ---- */

bool shard_table_set(struct shard_table *table, uint32_t group,
                     struct shard_id id, uint64_t number)
{
    struct slot *slot = find(table, id);

    if (slot->generation == 0) {
        if (!make_room(table, 1))
            return false;
        slot = find(table, id);
        fill(table, slot, group, id);
    }
    slot->bits = number;
    return true;
}

bool shard_table_get(const struct shard_table *table, struct shard_id id,
                     uint64_t *number)
{
    const struct slot *slot = find(table, id);

    if (slot->generation == 0)
        return false;
    *number = slot->bits;
    return true;
}

/* ---- groups ---- */

void shard_table_drop(struct shard_table *table, uint32_t group)
{
    struct group *dropped = &table->groups[group];

    table->stale += dropped->slots;
    dropped->slots = 0;
    if (++table->generations == 0)
        table->generations = 1;
    dropped->generation = table->generations;
}

uint32_t shard_table_size(const struct shard_table *table, uint32_t group)
{
    return table->groups[group].slots;
}

uint32_t shard_table_generation(const struct shard_table *table, uint32_t group)
{
    return table->groups[group].generation;
}

uint32_t shard_table_used(const struct shard_table *table)
{
    return table->used;
}

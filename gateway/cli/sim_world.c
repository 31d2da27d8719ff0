#include "cli/sim_world.h"

#include "base/memory.h"
#include "cli/sim_random.h"

#include <stdlib.h>

enum { MEDIA_ALL = SIM_CPU | SIM_DISK, SPREAD_ONE_IN = 4 };

struct object {
    uint64_t number;
    unsigned media; /* never empty */
};

struct tenant {
    struct object *objects;
    size_t count;
    uint64_t next; /* number of its next object: no key comes twice */
};

struct sim_world {
    const struct sim_options *options;
    struct sim_random random;
    struct tenant *tenants;
};

struct sim_world *sim_world_new(const struct sim_options *options)
{
    struct sim_world *world = memory_new(sizeof *world);

    world->options = options;
    world->random.seed = options->seed;
    world->tenants =
        memory_new(options->tenants.count * sizeof *world->tenants);
    for (size_t i = 0; i < options->tenants.count; i++)
        world->tenants[i].objects =
            memory_new(options->objects * sizeof(struct object));
    return world;
}

void sim_world_free(struct sim_world *world)
{
    for (size_t i = 0; i < world->options->tenants.count; i++)
        free(world->tenants[i].objects);
    free(world->tenants);
    free(world);
}

void sim_world_forget(struct sim_world *world)
{
    for (size_t i = 0; i < world->options->tenants.count; i++)
        world->tenants[i].count = 0;
}

static enum sim_kind draw_kind(struct sim_world *world)
{
    const uint64_t *mix = world->options->mix;
    uint64_t at = sim_random_below(
        &world->random, mix[SIM_STORED] + mix[SIM_REMOVED] + mix[SIM_CLEARED]);

    if (at < mix[SIM_STORED])
        return SIM_STORED;
    return at < mix[SIM_STORED] + mix[SIM_REMOVED] ? SIM_REMOVED : SIM_CLEARED;
}

/* What can happen to a tenant that has nothing, or all it may have. */
static enum sim_kind possible_kind(const struct sim_world *world,
                                   const struct tenant *tenant,
                                   enum sim_kind kind)
{
    if (tenant->count == 0)
        return SIM_STORED;
    if (tenant->count == world->options->objects && kind == SIM_STORED)
        return SIM_REMOVED;
    return kind;
}

/* One of a set of media that is not empty. */
static enum sim_medium draw_medium(struct sim_world *world, unsigned media)
{
    if (media == MEDIA_ALL)
        return sim_random_below(&world->random, 2) == 0 ? SIM_CPU : SIM_DISK;
    return (enum sim_medium)media;
}

static struct object *draw_object(struct sim_world *world,
                                  struct tenant *tenant)
{
    return &tenant->objects[sim_random_below(&world->random, tenant->count)];
}

/* Mostly a new object; now and then one that there is gets another medium. */
static void store(struct sim_world *world, struct tenant *tenant,
                  struct sim_event *event)
{
    struct object *object = NULL;

    if (tenant->count > 0 &&
        sim_random_below(&world->random, SPREAD_ONE_IN) == 0)
        object = draw_object(world, tenant);
    if (object == NULL || (world->options->media & ~object->media) == 0) {
        object = &tenant->objects[tenant->count++];
        *object = (struct object){.number = tenant->next++};
    }
    event->medium = draw_medium(world, world->options->media & ~object->media);
    event->object = object->number;
    object->media |= event->medium;
}

static void drop(struct sim_world *world, struct tenant *tenant,
                 struct sim_event *event)
{
    struct object *object = draw_object(world, tenant);

    event->medium = draw_medium(world, object->media);
    event->object = object->number;
    object->media &= ~(unsigned)event->medium;
    if (object->media == 0)
        *object = tenant->objects[--tenant->count];
}

struct sim_event sim_world_next(struct sim_world *world)
{
    struct sim_event event = {0};
    struct tenant *tenant;

    event.tenant =
        sim_random_below(&world->random, world->options->tenants.count);
    tenant = &world->tenants[event.tenant];
    event.kind = possible_kind(world, tenant, draw_kind(world));
    if (event.kind == SIM_STORED)
        store(world, tenant, &event);
    else if (event.kind == SIM_REMOVED)
        drop(world, tenant, &event);
    else
        tenant->count = 0;
    return event;
}

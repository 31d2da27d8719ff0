/*
 * sim_world - which objects each tenant has, and what happens to them next
 *
 *   tenant ── objects[0 .. count) ── number, set of media
 *
 * `removed` names an object and a medium that were stored and still are;
 * `cleared` leaves its tenant with nothing.  What a tenant may have is bounded:
 * when it is full, something is removed instead.
 */
#ifndef CLI_SIM_WORLD_H
#define CLI_SIM_WORLD_H

#include "cli/sim_options.h"

#include <stddef.h>
#include <stdint.h>

struct sim_world;

struct sim_event {
    enum sim_kind kind;
    size_t tenant;          /* index into options.tenants */
    uint64_t object;        /* its number, of this tenant; not of `cleared` */
    enum sim_medium medium; /* not of `cleared` */
};

/* Borrows `options`.  Caller frees. */
struct sim_world *sim_world_new(const struct sim_options *options);
void sim_world_free(struct sim_world *world);

struct sim_event sim_world_next(struct sim_world *world);

/* All objects are gone and nobody says so: the master lost its memory. */
void sim_world_forget(struct sim_world *world);

#endif

/*
 * sim_key - the object keys that engines write into a Mooncake Store
 *
 * A block of tokens is two objects: two tensor-parallel ranks, or with SGLang
 * its keys and its values.  Both carry the block's hash, which follows from the
 * seed, the tenant and the block's number.
 */
#ifndef CLI_SIM_KEY_H
#define CLI_SIM_KEY_H

#include "cli/sim_options.h"

#include <stddef.h>
#include <stdint.h>

enum { SIM_KEY_MAX = 512 };

struct sim_key {
    char object[SIM_KEY_MAX];
    char group[SIM_KEY_MAX]; /* empty: the engine names none */
};

void sim_key_make(struct sim_key *key, const struct sim_options *options,
                  size_t tenant, uint64_t object);

#endif

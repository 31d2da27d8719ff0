#include "cli/sim_key.h"

#include "cli/sim_random.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

enum { PARTS = 2, HASH_WORDS = 4, HASH_TEXT = 16 * HASH_WORDS + 1 };

static void write_hash(char text[HASH_TEXT], uint64_t seed, size_t tenant,
                       uint64_t block)
{
    /* Two steps, lest the rows of two tenants be one shifted. */
    uint64_t row = sim_random_at(sim_random_at(seed, tenant), block);

    for (unsigned i = 0; i < HASH_WORDS; i++)
        snprintf(text + 16 * i, 17, "%016" PRIx64, sim_random_at(row, i));
}

/* The connector takes the last component of the model's path. */
static void write_vllm(struct sim_key *key, const char *model, unsigned rank,
                       const char *hash)
{
    const char *slash = strrchr(model, '/');

    snprintf(key->object, sizeof key->object,
             "%s@tp_rank:%u@pcp0@dcp0@pp_rank:0@group:0@%s",
             slash != NULL ? slash + 1 : model, rank, hash);
}

static void write_sglang(struct sim_key *key, unsigned part, const char *hash)
{
    snprintf(key->object, sizeof key->object, "%s_0_%c", hash, "kv"[part]);
    snprintf(key->group, sizeof key->group, "sglang-hicache:%s", hash);
}

/* The hash is a number there, so it has no leading zeros. */
static void write_lmcache(struct sim_key *key, const char *model, unsigned rank,
                          const char *hash)
{
    snprintf(key->object, sizeof key->object, "%s@%d@%u@%s@bfloat16", model,
             PARTS, rank, hash + strspn(hash, "0"));
}

void sim_key_make(struct sim_key *key, const struct sim_options *options,
                  size_t tenant, uint64_t object)
{
    unsigned part = (unsigned)(object % PARTS);
    char hash[HASH_TEXT];

    key->group[0] = '\0';
    write_hash(hash, options->seed, tenant, object / PARTS);
    switch (options->keys) {
    case SIM_KEYS_VLLM:
        write_vllm(key, options->model, part, hash);
        break;
    case SIM_KEYS_SGLANG:
        write_sglang(key, part, hash);
        break;
    case SIM_KEYS_LMCACHE:
        write_lmcache(key, options->model, part, hash);
        break;
    }
}

#include "script/shards/shard_hash.h"

#include <assert.h>
#include <sodium.h>
#include <string.h>

enum {
    TEXTS = 6,
    TEXT_MAX = 128, /* a longer text stands there as its own hash */
};

_Static_assert(SHARD_HASH_KEY == crypto_shorthash_siphashx24_KEYBYTES &&
                   sizeof(struct shard_id) == crypto_shorthash_siphashx24_BYTES,
               "an id is a SipHash");

void shard_hash_key(uint8_t key[SHARD_HASH_KEY])
{
    randombytes_buf(key, SHARD_HASH_KEY);
}

static size_t put(uint8_t *at, const uint8_t *key, struct shard_text text)
{
    uint64_t size = text.size;

    memcpy(at, &size, sizeof size);
    at += sizeof size;
    if (text.size > TEXT_MAX) {
        crypto_shorthash_siphashx24(at, text.bytes, text.size, key);
        return sizeof size + crypto_shorthash_siphashx24_BYTES;
    }
    if (text.size > 0)
        memcpy(at, text.bytes, text.size);
    return sizeof size + text.size;
}

struct shard_id shard_hash(const uint8_t key[SHARD_HASH_KEY],
                           const struct shard_text *texts, size_t count)
{
    uint8_t bytes[TEXTS * (sizeof(uint64_t) + TEXT_MAX)];
    struct shard_id id;
    size_t size = 0;

    assert(count <= TEXTS);
    for (size_t i = 0; i < count; i++)
        size += put(bytes + size, key, texts[i]);
    crypto_shorthash_siphashx24((uint8_t *)&id, bytes, size, key);
    return id;
}

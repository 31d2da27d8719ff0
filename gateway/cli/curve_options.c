#include "cli/curve_options.h"

#include "base/secret.h"
#include "io/keypair.h"

#include <string.h>

/* What reads as a key is one: a file of such a name can be told as ./NAME. */
static bool read_server_key(const struct curve_options *options,
                            struct security *security, struct error *error)
{
    const char *text = options->server_key;
    uint8_t key[Z85_BYTES];

    if (z85_read_key(text, strlen(text), key))
        return security_set_server_key(security, text, strlen(text), error);
    return security_read_server_key(security, text, error);
}

static bool make_up_key(struct security *security, struct error *error)
{
    struct keypair pair;
    bool made = keypair_make(&pair, error);

    if (made)
        memcpy(security->secret_key, pair.secret_key, sizeof pair.secret_key);
    secret_wipe(&pair, sizeof pair);
    return made;
}

static bool read_own_key(const struct curve_options *options,
                         struct security *security, struct error *error)
{
    if (options->key_file == NULL)
        return make_up_key(security, error);
    if (security_read_secret_key(security, options->key_file, error))
        return true;
    error_prefix(error, "--curve-key");
    return false;
}

bool curve_options_read(const struct curve_options *options, bool bind,
                        struct security *security, struct error *error)
{
    *security = (struct security){0};
    if (options->key_file == NULL && options->server_key == NULL)
        return true;
    security->kind = SECURITY_CURVE;
    security->server = options->server_key == NULL;
    if (security->server && !bind) {
        error_set(error, "--curve-key without --curve-server-key makes this "
                         "end the server, which must bind");
        return false;
    }
    if (!security->server && !read_server_key(options, security, error)) {
        error_prefix(error, "--curve-server-key");
        return false;
    }
    return read_own_key(options, security, error);
}

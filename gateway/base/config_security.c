#include "base/config_endpoint.h"
#include "base/config_parts.h"
#include "base/memory.h"
#include "base/secret.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ALLOW_MAX = 1000, TOKEN_LEAST = 16, TOKEN_MOST = 256 };

/* ---- the keys of curve and plain ---- */

static void read_role(struct config_judge *judge,
                      const struct config_value *value, void *field)
{
    static const char *const words[] = {"client", "server"};
    struct config_security *security = field;
    int word = config_read_word(judge, value, words, 2);

    if (word < 0)
        return;
    security->has_role = true;
    security->is.server = word == 1;
}

static void read_secret_file(struct config_judge *judge,
                             const struct config_value *value, void *field)
{
    struct config_security *security = field;

    security->secret_mark = value->mark;
    config_read_path(judge, value, &security->secret_file);
}

static void read_server_key(struct config_judge *judge,
                            const struct config_value *value, void *field)
{
    struct config_security *security = field;
    struct error error = {0};

    security->server_key_mark = value->mark;
    if (config_is_text(judge, value, SIZE_MAX) &&
        !security_set_server_key(&security->is, value->string, value->size,
                                 &error))
        config_mistake(&judge->mistakes, value->mark, "%s: %s", judge->key,
                       error.text);
}

static void read_server_key_file(struct config_judge *judge,
                                 const struct config_value *value, void *field)
{
    struct config_security *security = field;

    security->server_key_mark = value->mark;
    config_read_path(judge, value, &security->server_key_file);
}

static void read_allow(struct config_judge *judge,
                       const struct config_value *value, void *field)
{
    struct config_security *security = field;

    security->is.listed = true;
    security->allow_mark = value->mark;
    if (!config_is_list(judge, value, "keys", ALLOW_MAX))
        return;
    for (size_t i = 0; i < value->size; i++) {
        const struct config_value *key = &value->items[i];
        struct error error = {0};

        if (config_is_text(judge, key, SIZE_MAX) &&
            !security_allow(&security->is, key->string, key->size, &error))
            config_mistake(&judge->mistakes, key->mark, "%s: %s", judge->key,
                           error.text);
    }
}

static void read_allow_file(struct config_judge *judge,
                            const struct config_value *value, void *field)
{
    struct config_security *security = field;

    security->is.listed = true;
    security->allow_mark = value->mark;
    config_read_path(judge, value, &security->allow_file);
}

static void read_username(struct config_judge *judge,
                          const struct config_value *value, void *field)
{
    struct config_security *security = field;

    if (!config_is_text(judge, value, SECURITY_WORD_MAX))
        return;
    if (value->size == 0)
        config_mistake(&judge->mistakes, value->mark,
                       "username: empty, expected at least one character");
    else
        memcpy(security->is.username, value->string, value->size);
}

static const struct config_key curve_keys[] = {
    {"secret_key_file", read_secret_file, 0, true},
    {"server_key", read_server_key, 0, false},
    {"server_key_file", read_server_key_file, 0, false},
    {"allow", read_allow, 0, false},
    {"allow_file", read_allow_file, 0, false},
    {"role", read_role, 0, false},
};

static const struct config_key plain_keys[] = {
    {"username", read_username, 0, true},
    {"password_file", read_secret_file, 0, true},
    {"role", read_role, 0, false},
};

static void read_security(struct config_judge *judge,
                          const struct config_value *value,
                          struct config_socket *socket, enum security_kind kind)
{
    bool curve = kind == SECURITY_CURVE;
    struct config_security *security;

    if (socket->security != NULL) {
        config_mistake(&judge->mistakes, value->mark,
                       "both curve and plain, expected one of the two");
        return;
    }
    security = memory_new(sizeof *security);
    security->is.kind = kind;
    security->mark = value->mark;
    socket->security = security;
    if (curve)
        config_read_map(judge, value, "curve", curve_keys,
                        sizeof curve_keys / sizeof *curve_keys, security);
    else
        config_read_map(judge, value, "plain", plain_keys,
                        sizeof plain_keys / sizeof *plain_keys, security);
}

void config_read_curve(struct config_judge *judge,
                       const struct config_value *value, void *field)
{
    read_security(judge, value, field, SECURITY_CURVE);
}

void config_read_plain(struct config_judge *judge,
                       const struct config_value *value, void *field)
{
    read_security(judge, value, field, SECURITY_PLAIN);
}

/* ---- what fits together ---- */

static void check_server(struct config_judge *judge,
                         const struct config_security *security)
{
    if (security->server_key_mark.line != 0)
        config_mistake(&judge->mistakes, security->server_key_mark,
                       "server_key: this end is the server, as %s, expected "
                       "only secret_key_file and allow, or role: client",
                       security->has_role ? "role says" : "it binds");
}

static void check_client(struct config_judge *judge,
                         const struct config_security *security)
{
    if (security->allow_mark.line != 0)
        config_mistake(&judge->mistakes, security->allow_mark,
                       "allow: this end is the client, as %s, which lets "
                       "nobody in, expected role: server or no such key",
                       security->has_role ? "role says" : "it connects");
    if (security->server_key_mark.line == 0)
        config_mistake(&judge->mistakes, security->mark,
                       "curve: this end is the client, as %s, and must know "
                       "the server's public key, expected server_key, "
                       "server_key_file or role: server",
                       security->has_role ? "role says" : "it connects");
}

static void check_curve(struct config_judge *judge,
                        const struct config_security *security)
{
    if (*security->is.server_key != '\0' && security->server_key_file != NULL)
        config_mistake(&judge->mistakes, security->mark,
                       "curve: both server_key and server_key_file, expected "
                       "one of the two");
    if (security->is.server)
        check_server(judge, security);
    else
        check_client(judge, security);
}

bool config_socket_is_local(const struct config_socket *socket)
{
    struct config_endpoint endpoint;
    struct error error = {0};

    return socket->endpoint != NULL &&
           config_endpoint_parse(socket->endpoint, socket->bind, &endpoint,
                                 &error) &&
           config_endpoint_is_local(&endpoint);
}

bool config_admin_is_local(const struct config *config)
{
    struct config_endpoint endpoint = {.transport = CONFIG_TCP};

    snprintf(endpoint.host, sizeof endpoint.host, "%s", config->admin_host);
    return config_endpoint_is_local(&endpoint);
}

void config_check_security(struct config_judge *judge,
                           struct config_socket *socket)
{
    struct config_security *security = socket->security;

    if (security == NULL || socket->endpoint == NULL)
        return;
    if (!security->has_role)
        security->is.server = socket->bind;
    if (security->is.kind == SECURITY_CURVE)
        check_curve(judge, security);
    else if (!config_socket_is_local(socket))
        config_mistake(&judge->mistakes, security->mark,
                       "plain: the password could be read on the way, "
                       "expected curve, or an address of this machine alone: "
                       "ipc:// or tcp://127.0.0.1");
}

/* ---- the files ---- */

struct reading {
    const struct config *config;
    struct config_mistakes mistakes;
};

/* Read `name` by `read`; what is wrong is told at `mark`. */
static void read_file(struct reading *reading, const char *name,
                      struct security *security,
                      bool (*read)(struct security *security, const char *path,
                                   struct error *error),
                      const char *key, struct config_mark mark)
{
    struct error error = {0};
    char *path;

    if (name == NULL)
        return;
    path = config_beside(reading->config, name);
    if (!read(security, path, &error))
        config_mistake(&reading->mistakes, mark, "%s: %s", key, error.text);
    free(path);
}

static void read_socket(struct reading *reading, struct config_socket *socket)
{
    struct config_security *security = socket->security;

    if (security == NULL)
        return;
    if (security->is.kind == SECURITY_CURVE)
        read_file(reading, security->secret_file, &security->is,
                  security_read_secret_key, "secret_key_file",
                  security->secret_mark);
    else
        read_file(reading, security->secret_file, &security->is,
                  security_read_password, "password_file",
                  security->secret_mark);
    read_file(reading, security->server_key_file, &security->is,
              security_read_server_key, "server_key_file",
              security->server_key_mark);
    read_file(reading, security->allow_file, &security->is, security_read_list,
              "allow_file", security->allow_mark);
    security_sort_list(&security->is);
}

/* A header's value: visible characters only. */
static bool is_token(const char *token)
{
    size_t size = strlen(token);

    for (const char *at = token; *at != '\0'; at++)
        if (*at <= ' ' || *at > '~')
            return false;
    return size >= TOKEN_LEAST && size <= TOKEN_MOST;
}

static void read_token(struct reading *reading, struct config *config)
{
    char line[TOKEN_MOST + 2] = "";
    struct error error = {0};
    char *path;

    if (config->admin_token_file == NULL)
        return;
    path = config_beside(config, config->admin_token_file);
    if (secret_read(path, line, sizeof line, &error) && !is_token(line))
        error_set(&error,
                  "%s holds no token: expected %d to %d visible ASCII "
                  "characters without a space",
                  path, TOKEN_LEAST, TOKEN_MOST);
    if (error_is_set(&error))
        config_mistake(&reading->mistakes, config->admin_token_mark,
                       "token_file: %s", error.text);
    else
        config->admin_token = memory_text(line, strlen(line));
    secret_wipe(line, sizeof line);
    free(path);
}

bool config_read_secrets(struct config *config, struct buffer *mistakes)
{
    struct reading reading = {.config = config};
    bool good;

    for (size_t i = 0; i < config->source_count; i++)
        read_socket(&reading, &config->sources[i].socket);
    for (size_t i = 0; i < config->stream_count; i++)
        read_socket(&reading, &config->streams[i].socket);
    if (config->dead_letters != NULL)
        read_socket(&reading, &config->dead_letters->socket);
    read_token(&reading, config);
    good = reading.mistakes.count == 0;
    config_mistakes_print(&reading.mistakes, config->path, mistakes);
    config_mistakes_free(&reading.mistakes);
    return good;
}

void config_socket_clear(struct config_socket *socket)
{
    struct config_security *security = socket->security;

    free(socket->endpoint);
    if (security == NULL)
        return;
    security_clear(&security->is);
    free(security->secret_file);
    free(security->server_key_file);
    free(security->allow_file);
    free(security);
}

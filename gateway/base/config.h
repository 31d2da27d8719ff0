/*
 * config - the configuration file, read and judged
 *
 * YAML in, one `struct config` out, or every mistake at once.  A mistake names
 * file:line:column, what is wrong, what was expected, and for a misspelt word
 * the nearest known one.  The only files that know libyaml are config*.c.
 */
#ifndef BASE_CONFIG_H
#define BASE_CONFIG_H

#include "base/buffer.h"
#include "base/security.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct config_mark {
    unsigned line, column; /* from 1 */
};

/* ---- a YAML value as written, for options that a script reads ---- */

enum config_kind {
    CONFIG_NULL = 0,
    CONFIG_BOOL,
    CONFIG_INTEGER,  /* fits int64_t */
    CONFIG_UINTEGER, /* above INT64_MAX, fits uint64_t */
    CONFIG_NUMBER,
    CONFIG_STRING,
    CONFIG_LIST,
    CONFIG_MAP,
};

struct config_value {
    enum config_kind kind;
    struct config_mark mark;
    bool broken; /* a mistake in it is told already */
    bool boolean;
    int64_t integer;
    uint64_t uinteger;
    double number;
    char *string; /* CONFIG_STRING: NUL-terminated, may hold NULs inside */
    size_t size;  /* bytes of `string`, or members of `items` */
    struct config_value *items; /* list: values; map: key, value, key, … */
};

/* ---- the parts of a configuration ---- */

/* `curve:` or `plain:`.  What lies in files is in `is` once config_read_secrets
 * has read them. */
struct config_security {
    struct security is;
    char *secret_file; /* secret_key_file or password_file */
    char *server_key_file;
    char *allow_file;
    bool has_role; /* `is.server` was said */
    struct config_mark mark, secret_mark, server_key_mark, allow_mark;
};

struct config_socket {
    char *endpoint;                   /* libzmq endpoint, ${ENV} expanded */
    bool bind;                        /* else connect */
    int hwm;                          /* messages queued at the most */
    uint64_t queue_bytes;             /* of a stream: of messages that wait */
    struct config_security *security; /* NULL: none */
    struct config_mark mark;
};

enum config_on_error {
    CONFIG_ON_ERROR_LOSE = 0,
    CONFIG_ON_ERROR_DROP,
    CONFIG_ON_ERROR_PASS,
    CONFIG_ON_ERROR_DEAD_LETTER /* lose, and publish what was lost */
};

struct config_filter {
    char *script; /* as written; found along config_script_path */
    struct config_value *options; /* never NULL: a CONFIG_MAP or CONFIG_NULL */
    enum config_on_error on_error;
    struct config_mark mark, on_error_mark;
    bool broken; /* a mistake in it is told already */
};

struct config_filters {
    struct config_filter *items;
    size_t count;
};

enum config_format { CONFIG_FORMAT_MOONCAKE = 0 };

struct config_source {
    char *name;
    struct config_socket socket;
    enum config_format format;
    char *topic; /* prefix subscribed to; "" is everything */
    bool gap_guard;
    struct config_mark mark, name_mark;
};

/* One equality test: the field must equal one of the values. */
struct config_accept {
    char *field; /* a name of codec/field.h that may be tested */
    struct config_value *values; /* a list of scalars; null means nil */
    struct config_mark mark;
};

enum config_event_id {
    CONFIG_EVENT_ID_AUTO = 0,
    CONFIG_EVENT_ID_KEEP,
    CONFIG_EVENT_ID_RESTAMP
};

struct config_stream {
    char *name;
    struct config_socket socket;
    char *topic;     /* frame 0 of every message; "" by default */
    size_t *sources; /* indexes into config.sources that feed it */
    size_t source_count;
    struct config_accept *accept;
    size_t accept_count;
    struct config_filters filters;
    enum config_event_id event_id; /* never AUTO after config_read */
    uint64_t announce_after_ms;    /* 1000 by default */
    uint64_t heartbeat_ms;         /* 0: off */
    struct config_mark mark, name_mark;
};

enum config_jit {
    CONFIG_JIT_AUTO = 0, /* on where compiled loops can be stopped */
    CONFIG_JIT_ON,       /* an error where they can't */
    CONFIG_JIT_OFF
};

/* What a script may take. */
struct config_limits {
    uint64_t event_ms; /* for one event */
    uint64_t load_ms;  /* to load one filter */
    uint64_t stuck_ms; /* more than these, and the process ends */
    uint64_t memory;   /* bytes of all scripts together */
    enum config_jit jit;
};

enum {
    CONFIG_STREAMS_MAX = 4096,
    CONFIG_SOURCES_MAX = 1024,
    CONFIG_FILTERS_MAX = 256,
    CONFIG_QUEUE_BYTES = 64 << 20 /* of a stream that says nothing else */
};

struct config {
    char *path;       /* as given, for messages */
    bool broken;      /* see config_read */
    char *admin_host; /* NULL: no admin server */
    uint16_t admin_port;
    struct config_mark admin_mark;
    char *admin_token_file; /* NULL: POST needs no token */
    struct config_mark admin_token_mark;
    char *admin_token;  /* see config_read_secrets */
    char **script_path; /* directories, absolute or beside the file */
    size_t script_path_count;
    char *log_level; /* NULL: info */
    struct config_limits limits;
    struct config_source *sources;
    size_t source_count;
    struct config_filters filters;
    struct config_stream *streams;
    size_t stream_count;
    struct config_stream *dead_letters; /* NULL: there are none */
};

/* The stream of the dead letters; no other may have its name. */
extern const char config_dead_letters[];

/* All that is published: the streams, then the dead letters if there are
 * any. */
size_t config_output_count(const struct config *config);
const struct config_stream *config_output(const struct config *config,
                                          size_t index);

/* Whether some filter's failures become dead letters. */
bool config_has_letters(const struct config *config);

/*
 * Read `text` (`size` bytes of YAML) that came from `path`.  Returns a new
 * config that the caller frees with config_free.
 *
 * Where there are mistakes, each is a line of `mistakes`, in the order of the
 * file.  Then the config is `broken`: good for nothing but plan_new, which
 * loads its scripts to tell their mistakes, too; or it is NULL, since paths or
 * names that scripts are loaded by are not known.
 */
struct config *config_read(const char *path, const char *text, size_t size,
                           struct buffer *mistakes);

/* The same from the file itself. */
struct config *config_load(const char *path, struct buffer *mistakes);

/* The same while events wait: what is no regular file is refused, since who
 * writes into a pipe may take for ever. */
struct config *config_reload(const char *path, struct buffer *mistakes);

/*
 * Read the files of keys, passwords and tokens, which a configuration is
 * complete without for all that opens no socket.  False, and a line of
 * `mistakes` for each that is not as it should be.
 */
bool config_read_secrets(struct config *config, struct buffer *mistakes);

/* Whether the socket can be reached from this machine alone. */
bool config_socket_is_local(const struct config_socket *socket);
bool config_admin_is_local(const struct config *config);

/* The path `name` of the configuration: absolute, or beside the file.  Caller
 * frees. */
char *config_beside(const struct config *config, const char *name);

/* Wipes secrets. */
void config_free(struct config *config);

/* What holds where a file says nothing. */
struct config_limits config_limits_default(void);

/*
 * Where scripts and modules are looked for, in this order: beside the config,
 * each of script_path, then each of `installed` (`count` directories).
 * Returns a new NULL-terminated list; caller frees with config_paths_free.
 */
char **config_script_path(const struct config *config,
                          const char *const *installed, size_t count);
void config_paths_free(char **paths);

#endif

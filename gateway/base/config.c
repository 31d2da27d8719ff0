#include "base/config.h"
#include "base/config_endpoint.h"
#include "base/config_parts.h"
#include "base/config_yaml.h"
#include "base/memory.h"
#include "base/secret.h"
#include "base/text.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { SCRIPT_PATH_MAX = 64 };

/* ---- the top level ---- */

static void read_admin_bind(struct config_judge *judge,
                            const struct config_value *value, void *field)
{
    struct config *config = field;
    struct config_endpoint endpoint;
    struct error error = {0};

    if (!config_is_text(judge, value, CONFIG_ENDPOINT_MAX))
        return;
    if (!config_address_parse(value->string, &endpoint, &error)) {
        config_mistake(&judge->mistakes, value->mark, "bind: %s: %s",
                       config_show(value->string, value->size).text,
                       error.text);
        return;
    }
    config->admin_host = memory_text(endpoint.host, strlen(endpoint.host));
    config->admin_port = endpoint.port;
    config->admin_mark = value->mark;
}

static void read_admin_token(struct config_judge *judge,
                             const struct config_value *value, void *field)
{
    struct config *config = field;

    config_read_path(judge, value, &config->admin_token_file);
    config->admin_token_mark = value->mark;
}

static void read_admin(struct config_judge *judge,
                       const struct config_value *value, void *field)
{
    static const struct config_key keys[] = {
        {"bind", read_admin_bind, 0, true},
        {"token_file", read_admin_token, 0, false},
    };

    config_read_map(judge, value, "admin", keys, sizeof keys / sizeof *keys,
                    field);
}

static void read_level(struct config_judge *judge,
                       const struct config_value *value, void *field)
{
    static const char *const words[] = {"error", "warn", "info", "debug"};
    char **level = field;

    if (config_read_word(judge, value, words, sizeof words / sizeof *words) >=
        0)
        config_take_text(level, value);
}

static void read_log(struct config_judge *judge,
                     const struct config_value *value, void *field)
{
    static const struct config_key keys[] = {
        {"level", read_level, offsetof(struct config, log_level), false},
    };

    config_read_map(judge, value, "log", keys, 1, field);
}

static void read_script_path(struct config_judge *judge,
                             const struct config_value *value, void *field)
{
    struct config *config = field;

    if (value->kind == CONFIG_NULL && !value->broken)
        return; /* every directory commented out */
    if (!config_is_list(judge, value, "directories", SCRIPT_PATH_MAX))
        return;
    config->script_path = memory_new(value->size * sizeof(char *));
    config->script_path_count = value->size;
    for (size_t i = 0; i < value->size; i++)
        config_read_path(judge, &value->items[i], &config->script_path[i]);
}

static const struct config_key root_keys[] = {
    {"admin", read_admin, 0, false},
    {"log", read_log, 0, false},
    {"script_path", read_script_path, 0, false},
    {"limits", config_read_limits, offsetof(struct config, limits), false},
    {"jit", config_read_jit, offsetof(struct config, limits.jit), false},
    {"sources", config_read_sources, 0, true},
    {"filters", config_read_filters, offsetof(struct config, filters), false},
    {"streams", config_read_streams, 0, true},
    {"dead_letters", config_read_dead_letters, 0, false},
};

/* ---- reading ---- */

static void judge_tree(struct config_judge *judge,
                       const struct config_value *root)
{
    config_read_map(judge, root, "the configuration", root_keys,
                    sizeof root_keys / sizeof *root_keys, judge->config);
    config_check_whole(judge);
}

static bool has_names(const struct config *config)
{
    for (size_t i = 0; i < config->source_count; i++)
        if (config->sources[i].name == NULL)
            return false;
    for (size_t i = 0; i < config->stream_count; i++)
        if (config->streams[i].name == NULL)
            return false;
    return config->source_count > 0 && config->stream_count > 0;
}

/* Whether what is wrong with a script is not a mistake of the file's again. */
static bool can_load_scripts(const struct config *config)
{
    for (size_t i = 0; i < config->script_path_count; i++)
        if (config->script_path[i] == NULL)
            return false;
    return has_names(config);
}

struct config *config_read(const char *path, const char *text, size_t size,
                           struct buffer *mistakes)
{
    struct config *config = memory_new(sizeof *config);
    struct config_judge judge = {.config = config};
    struct config_value root;

    config->path = memory_text(path, strlen(path));
    config->limits = config_limits_default();
    if (config_yaml_read(text, size, &root, &judge.mistakes))
        judge_tree(&judge, &root);
    config_value_clear(&root);
    free(judge.feeds);
    config->broken = judge.mistakes.count > 0;
    config_mistakes_print(&judge.mistakes, path, mistakes);
    if (config->broken && !can_load_scripts(config)) {
        config_free(config);
        config = NULL;
    }
    config_mistakes_free(&judge.mistakes);
    return config;
}

/* One byte over the limit is read, for config_yaml_read to see and to tell. */
static bool read_file(FILE *file, struct buffer *text)
{
    size_t got;

    do {
        uint8_t *room = buffer_reserve(text, 64 << 10);

        got = fread(room, 1, 64 << 10, file);
        text->size += got;
    } while (got > 0 && text->size <= CONFIG_TEXT_MAX);
    return !ferror(file);
}

static struct config *refuse_file(const char *path, const char *reason,
                                  struct buffer *mistakes)
{
    text_escape(mistakes, path, strlen(path));
    buffer_print(mistakes, ": cannot be read: %s\n", reason);
    return NULL;
}

/* Opening does not wait for who writes into a pipe; reading may. */
static FILE *open_file(const char *path, struct stat *status)
{
    int descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);

    if (descriptor < 0)
        return NULL;
    if (fstat(descriptor, status) != 0 ||
        fcntl(descriptor, F_SETFL, O_RDONLY) != 0) {
        close(descriptor);
        return NULL;
    }
    return fdopen(descriptor, "rb");
}

static struct config *load(const char *path, bool may_wait,
                           struct buffer *mistakes)
{
    struct config *config = NULL;
    struct buffer text = {0};
    struct stat status;
    FILE *file = open_file(path, &status);

    if (file == NULL)
        return refuse_file(path, strerror(errno), mistakes);
    if (!may_wait && !S_ISREG(status.st_mode) && !S_ISDIR(status.st_mode))
        refuse_file(path, "it is no regular file, which a reload expects",
                    mistakes);
    else if (read_file(file, &text))
        config =
            config_read(path, (const char *)text.data, text.size, mistakes);
    else
        refuse_file(path, strerror(errno), mistakes);
    fclose(file);
    buffer_free(&text);
    return config;
}

struct config *config_load(const char *path, struct buffer *mistakes)
{
    return load(path, true, mistakes);
}

struct config *config_reload(const char *path, struct buffer *mistakes)
{
    return load(path, false, mistakes);
}

void config_free(struct config *config)
{
    if (config == NULL)
        return;
    for (size_t i = 0; i < config->source_count; i++)
        config_source_clear(&config->sources[i]);
    for (size_t i = 0; i < config->stream_count; i++)
        config_stream_clear(&config->streams[i]);
    if (config->dead_letters != NULL)
        config_stream_clear(config->dead_letters);
    for (size_t i = 0; i < config->script_path_count; i++)
        free(config->script_path[i]);
    config_filters_clear(&config->filters);
    free(config->sources);
    free(config->streams);
    free(config->dead_letters);
    free(config->script_path);
    free(config->admin_host);
    free(config->admin_token_file);
    secret_free(config->admin_token);
    free(config->log_level);
    free(config->path);
    free(config);
}

/* ---- where scripts are ---- */

static char *directory_of(const char *path)
{
    const char *slash = strrchr(path, '/');

    if (slash == NULL)
        return memory_text(".", 1);
    return memory_text(path, slash > path ? (size_t)(slash - path) : 1);
}

/* A directory of script_path is absolute or beside the file. */
static char *found_beside(const char *directory, const char *name)
{
    struct buffer joined = {0};

    if (*name != '/')
        buffer_print(&joined, "%s/", directory);
    buffer_print(&joined, "%s", name);
    buffer_put(&joined, "", 1);
    return (char *)joined.data;
}

char *config_beside(const struct config *config, const char *name)
{
    char *directory = directory_of(config->path);
    char *path = found_beside(directory, name);

    free(directory);
    return path;
}

char **config_script_path(const struct config *config,
                          const char *const *installed, size_t count)
{
    char **paths =
        memory_new((config->script_path_count + count + 2) * sizeof *paths);
    size_t used = 0;

    paths[used++] = directory_of(config->path);
    for (size_t i = 0; i < config->script_path_count; i++)
        paths[used++] = found_beside(paths[0], config->script_path[i]);
    for (size_t i = 0; i < count; i++)
        paths[used++] = memory_text(installed[i], strlen(installed[i]));
    return paths;
}

void config_paths_free(char **paths)
{
    for (char **path = paths; path != NULL && *path != NULL; path++)
        free(*path);
    free(paths);
}

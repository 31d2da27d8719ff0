#include "base/security.h"

#include "base/memory.h"
#include "base/secret.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { LINE_MAX_BYTES = 4096 };

void security_clear(struct security *security)
{
    free(security->clients);
    secret_wipe(security, sizeof *security);
}

bool security_is_same(const struct security *a, const struct security *b)
{
    return a->kind == b->kind && a->server == b->server &&
           strcmp(a->secret_key, b->secret_key) == 0 &&
           strcmp(a->server_key, b->server_key) == 0 &&
           (a->server || (strcmp(a->username, b->username) == 0 &&
                          strcmp(a->password, b->password) == 0));
}

/* ---- keys ---- */

/* The text is not shown: it may be a secret key in the wrong place. */
static bool check_key(const char *text, size_t size, struct error *error)
{
    uint8_t bytes[Z85_BYTES];
    bool good = z85_read_key(text, size, bytes);

    secret_wipe(bytes, sizeof bytes);
    if (!good)
        error_set(error,
                  "that is no key: expected %d characters of Z85, got %zu%s",
                  Z85_KEY, size,
                  size == Z85_KEY ? ", some of which Z85 has not" : "");
    return good;
}

bool security_read_secret_key(struct security *security, const char *path,
                              struct error *error)
{
    char line[LINE_MAX_BYTES];
    bool good = secret_read(path, line, sizeof line, error);

    if (good && !check_key(line, strlen(line), error)) {
        error_prefix(error, "%s", path);
        good = false;
    }
    if (good)
        memcpy(security->secret_key, line, Z85_KEY + 1);
    secret_wipe(line, sizeof line);
    return good;
}

bool security_set_server_key(struct security *security, const char *text,
                             size_t size, struct error *error)
{
    if (!check_key(text, size, error))
        return false;
    memcpy(security->server_key, text, size);
    return true;
}

bool security_read_password(struct security *security, const char *path,
                            struct error *error)
{
    return secret_read(path, security->password, sizeof security->password,
                       error);
}

/* ---- files of public keys ---- */

/* Not to wait for who writes into a pipe: events may wait meanwhile. */
static FILE *open_file(const char *path, struct error *error)
{
    int descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    struct stat status;

    if (descriptor >= 0 && fstat(descriptor, &status) == 0 &&
        S_ISREG(status.st_mode))
        return fdopen(descriptor, "rb");
    error_set(error, "%s: %s", path,
              descriptor < 0 ? strerror(errno) : "it is no regular file");
    if (descriptor >= 0)
        close(descriptor);
    return NULL;
}

/* Call `take` for each line, without its end. */
static bool each_line(struct security *security, const char *path,
                      bool (*take)(struct security *security, const char *line,
                                   size_t size, struct error *error),
                      struct error *error)
{
    FILE *file = open_file(path, error);
    char line[LINE_MAX_BYTES];
    unsigned number = 0;

    if (file == NULL)
        return false;
    while (!error_is_set(error) && fgets(line, sizeof line, file) != NULL) {
        number++;
        if (!take(security, line, strcspn(line, "\r\n"), error))
            error_prefix(error, "%s:%u", path, number);
    }
    if (ferror(file) && !error_is_set(error))
        error_set(error, "%s: %s", path, strerror(errno));
    fclose(file);
    return !error_is_set(error);
}

static bool says_nothing(const char *line, size_t size)
{
    return size == 0 || (line[0] == '#' && (size == 1 || line[1] == ' '));
}

static size_t first_word(const char *line, size_t size)
{
    size_t length = strcspn(line, " \t\r\n");

    return length < size ? length : size;
}

static bool take_server_key(struct security *security, const char *line,
                            size_t size, struct error *error)
{
    if (says_nothing(line, size))
        return true;
    if (*security->server_key != '\0') {
        error_set(error, "one more key, expected one");
        return false;
    }
    return security_set_server_key(security, line, first_word(line, size),
                                   error);
}

bool security_read_server_key(struct security *security, const char *path,
                              struct error *error)
{
    if (!each_line(security, path, take_server_key, error))
        return false;
    if (*security->server_key == '\0')
        error_set(error, "%s: there is no key in it", path);
    return !error_is_set(error);
}

/* ---- the list ---- */

/* Room for one more; the list doubles at each power of two. */
static uint8_t *next_client(struct security *security)
{
    size_t count = security->client_count;

    if ((count & (count - 1)) == 0)
        security->clients = memory_resize(
            security->clients, (count == 0 ? 1 : 2 * count) * Z85_BYTES);
    security->client_count++;
    return security->clients[count];
}

bool security_allow(struct security *security, const char *text, size_t size,
                    struct error *error)
{
    uint8_t key[Z85_BYTES];

    security->listed = true;
    if (!check_key(text, size, error))
        return false;
    if (security->client_count == SECURITY_CLIENTS_MAX) {
        error_set(error, "more than %d keys", SECURITY_CLIENTS_MAX);
        return false;
    }
    z85_read_key(text, size, key);
    memcpy(next_client(security), key, sizeof key);
    return true;
}

static bool take_client(struct security *security, const char *line,
                        size_t size, struct error *error)
{
    return says_nothing(line, size) ||
           security_allow(security, line, first_word(line, size), error);
}

bool security_read_list(struct security *security, const char *path,
                        struct error *error)
{
    security->listed = true;
    return each_line(security, path, take_client, error);
}

static int compare(const void *a, const void *b)
{
    return memcmp(a, b, Z85_BYTES);
}

void security_sort_list(struct security *security)
{
    if (security->client_count > 0)
        qsort(security->clients, security->client_count, Z85_BYTES, compare);
}

bool security_is_listed(const struct security *security, const uint8_t *key)
{
    if (!security->listed)
        return true;
    return security->client_count > 0 &&
           bsearch(key, security->clients, security->client_count, Z85_BYTES,
                   compare) != NULL;
}

#include "base/secret.h"

#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* A regular file of ours or root's, for nobody else to read. */
static bool is_private(const char *path, const struct stat *status,
                       struct error *error)
{
    if (!S_ISREG(status->st_mode))
        error_set(error, "%s is no regular file", path);
    else if (status->st_uid != geteuid() && status->st_uid != 0)
        error_set(error,
                  "%s belongs to user %u, who can change it, expected user %u "
                  "or root",
                  path, (unsigned)status->st_uid, (unsigned)geteuid());
    else if ((status->st_mode & 077) != 0)
        error_set(error,
                  "%s is open to others (mode %04o), expected 0600: "
                  "chmod 600 %s",
                  path, (unsigned)(status->st_mode & 07777), path);
    return !error_is_set(error);
}

/* Bytes read, at most `room`; -1 and errno. */
static ssize_t read_all(int descriptor, char *into, size_t room)
{
    size_t size = 0;
    ssize_t got;

    do {
        got = read(descriptor, into + size, room - size);
        if (got < 0 && errno != EINTR)
            return -1;
        size += got > 0 ? (size_t)got : 0;
    } while (got != 0 && size < room);
    return (ssize_t)size;
}

/* Make the bytes one line of text, or refuse them. */
static bool trim(const char *path, char *line, size_t size, size_t room,
                 struct error *error)
{
    size_t end = size;

    while (end > 0 && (line[end - 1] == '\n' || line[end - 1] == '\r'))
        end--;
    if (end == 0)
        error_set(error, "%s is empty", path);
    else if (end >= room)
        error_set(error, "%s is longer than %zu bytes", path, room - 1);
    else if (memchr(line, '\n', end) != NULL || memchr(line, '\0', end) != NULL)
        error_set(error, "%s has more than one line", path);
    else
        line[end] = '\0';
    return !error_is_set(error);
}

static bool read_open(int descriptor, const char *path, char *line, size_t room,
                      struct error *error)
{
    struct stat status;
    ssize_t size;

    if (fstat(descriptor, &status) != 0) {
        error_set(error, "%s: %s", path, strerror(errno));
        return false;
    }
    if (!is_private(path, &status, error))
        return false;
    size = read_all(descriptor, line, room);
    if (size < 0) {
        error_set(error, "%s: %s", path, strerror(errno));
        return false;
    }
    return trim(path, line, (size_t)size, room, error);
}

bool secret_read(const char *path, char *line, size_t room, struct error *error)
{
    /* Not to wait for who writes into a pipe. */
    int descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    bool done;

    if (descriptor < 0) {
        error_set(error, "%s: %s", path, strerror(errno));
        return false;
    }
    done = read_open(descriptor, path, line, room, error);
    close(descriptor);
    if (!done)
        secret_wipe(line, room);
    return done;
}

void secret_wipe(void *bytes, size_t size)
{
    explicit_bzero(bytes, size);
}

void secret_free(char *text)
{
    if (text != NULL)
        secret_wipe(text, strlen(text));
    free(text);
}

bool secret_equals(const char *secret, size_t secret_size, const void *given,
                   size_t given_size)
{
    const uint8_t *theirs = given;
    unsigned differs = secret_size != given_size;

    /* As long as what was given, whatever it is compared with. */
    for (size_t i = 0; i < given_size; i++)
        differs |= theirs[i] ^ (uint8_t)secret[i < secret_size ? i : 0];
    return differs == 0;
}

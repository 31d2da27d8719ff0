#include "io/endpoint.h"

#include <errno.h>
#include <net/if.h>
#include <netdb.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

enum { IPC_PATH_MAX = sizeof((struct sockaddr_un *)0)->sun_path - 1 };

static const char *after_scheme(const char *endpoint, const char *scheme)
{
    size_t size = strlen(scheme);

    return strncmp(endpoint, scheme, size) == 0 ? endpoint + size : NULL;
}

/* HOST of "HOST:PORT"; false when it is none or too long for a name. */
static bool split_host(const char *address, char *host, size_t room)
{
    const char *colon = strrchr(address, ':');
    size_t size = colon == NULL ? 0 : (size_t)(colon - address);

    if (size == 0 || size >= room)
        return false;
    memcpy(host, address, size);
    host[size] = '\0';
    return true;
}

static bool has_ipv4(const char *host)
{
    struct addrinfo hints = {.ai_family = AF_INET, .ai_socktype = SOCK_STREAM};
    struct addrinfo *found = NULL;

    if (getaddrinfo(host, NULL, &hints, &found) != 0)
        return false;
    freeaddrinfo(found);
    return true;
}

bool endpoint_is_ipv6(const char *endpoint)
{
    const char *address = after_scheme(endpoint, "tcp://");
    const char *source_end = address == NULL ? NULL : strchr(address, ';');
    char host[256];

    if (source_end != NULL) /* tcp://LOCAL;REMOTE */
        address = source_end + 1;
    if (address == NULL || !split_host(address, host, sizeof host))
        return false;
    if (strcmp(host, "*") == 0 || strchr(host, ':') != NULL)
        return true;
    return if_nametoindex(host) == 0 && !has_ipv4(host);
}

static bool somebody_listens(const char *path)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    int probe = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    bool answered;

    if (probe < 0)
        return false;
    memcpy(address.sun_path, path, strlen(path) + 1);
    answered = connect(probe, (const struct sockaddr *)&address,
                       sizeof address) == 0 ||
               errno == EAGAIN; /* its backlog is full */
    close(probe);
    return answered;
}

/* The path of an ipc endpoint that names a file.  "@name" lies in no directory,
 * "*" is a path that libzmq makes up and removes. */
static const char *ipc_path(const char *endpoint)
{
    const char *path = after_scheme(endpoint, "ipc://");

    if (path == NULL || *path == '@' || strcmp(path, "*") == 0)
        return NULL;
    return path;
}

bool endpoint_is_free(const char *endpoint, struct error *error)
{
    const char *path = ipc_path(endpoint);
    struct stat status;

    if (path == NULL)
        return true;
    if (strlen(path) > IPC_PATH_MAX) {
        error_set(error, "the path is longer than %d bytes", IPC_PATH_MAX);
        return false;
    }
    if (lstat(path, &status) != 0)
        return true;
    if (!S_ISSOCK(status.st_mode)) {
        error_set(error, "%s exists and is no socket", path);
        return false;
    }
    if (somebody_listens(path)) {
        error_set(error, "address already in use");
        return false;
    }
    return true;
}

uint64_t endpoint_file(const char *endpoint)
{
    const char *path = ipc_path(endpoint);
    struct stat status;

    if (path == NULL || lstat(path, &status) != 0)
        return 0;
    return status.st_ino;
}

void endpoint_remove(const char *endpoint, uint64_t file)
{
    if (file != 0 && endpoint_file(endpoint) == file)
        unlink(ipc_path(endpoint));
}

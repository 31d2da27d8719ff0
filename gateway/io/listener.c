#include "io/listener.h"

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <netdb.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

enum { BACKLOG = 64 };

static struct addrinfo *resolve(const char *host, uint16_t port,
                                struct error *error)
{
    struct addrinfo hints = {.ai_family = AF_UNSPEC,
                             .ai_socktype = SOCK_STREAM,
                             .ai_flags = AI_PASSIVE | AI_NUMERICSERV};
    struct addrinfo *found = NULL;
    char service[8];
    int failed;

    snprintf(service, sizeof service, "%" PRIu16, port);
    failed = getaddrinfo(host, service, &hints, &found);
    if (failed == 0)
        return found;
    error_set(error, "cannot listen on %s:%" PRIu16 ": %s", host, port,
              gai_strerror(failed));
    return NULL;
}

/* -1 and errno when the address cannot be had. */
static int listen_on(const struct addrinfo *address)
{
    const int yes = 1;
    int saved;
    int descriptor = socket(address->ai_family,
                            SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);

    if (descriptor < 0)
        return -1;
    setsockopt(descriptor, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
    if (bind(descriptor, address->ai_addr, address->ai_addrlen) == 0 &&
        listen(descriptor, BACKLOG) == 0)
        return descriptor;
    saved = errno;
    close(descriptor);
    errno = saved;
    return -1;
}

static int listen_on_host(const char *host, uint16_t port, struct error *error)
{
    struct addrinfo *found = resolve(host, port, error);
    int descriptor = -1;
    const char *cause;

    if (found == NULL)
        return -1;
    for (struct addrinfo *at = found; at != NULL && descriptor < 0;
         at = at->ai_next)
        descriptor = listen_on(at);
    if (descriptor < 0) {
        cause = strerror(errno);
        error_set(error, "cannot listen on %s:%" PRIu16 ": %c%s", host, port,
                  tolower((unsigned char)cause[0]), cause + 1);
    }
    freeaddrinfo(found);
    return descriptor;
}

int listener_open(const char *host, uint16_t port, struct error *error)
{
    struct error no_ipv6 = {0};
    int descriptor;

    if (strcmp(host, "*") != 0)
        return listen_on_host(host, port, error);
    /* "::" serves IPv4 as well, where there is IPv6 at all. */
    descriptor = listen_on_host("::", port, &no_ipv6);
    return descriptor < 0 ? listen_on_host("0.0.0.0", port, error) : descriptor;
}

void listener_address(int descriptor, char *text, size_t room)
{
    struct sockaddr_storage address = {0};
    socklen_t size = sizeof address;
    char host[128] = "";
    char service[8] = "";
    bool colons;

    if (getsockname(descriptor, (struct sockaddr *)&address, &size) == 0)
        getnameinfo((const struct sockaddr *)&address, size, host, sizeof host,
                    service, sizeof service, NI_NUMERICHOST | NI_NUMERICSERV);
    colons = strchr(host, ':') != NULL;
    snprintf(text, room, "%s%s%s:%s", colons ? "[" : "", host,
             colons ? "]" : "", service);
}

#include "base/config_endpoint.h"

#include <arpa/inet.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/un.h>

static const char digits[] = "0123456789";

/* ---- host and port ---- */

/* A port from 1; "0" and "*" ask for a free one where that is allowed. */
static bool read_port(const char *text, bool may_choose,
                      struct config_endpoint *endpoint, struct error *error)
{
    size_t size = strlen(text);
    long port = strtol(text, NULL, 10);

    endpoint->chosen_later =
        may_choose && (strcmp(text, "*") == 0 || strcmp(text, "0") == 0);
    if (endpoint->chosen_later)
        return true;
    endpoint->port = (uint16_t)port;
    if (size > 0 && size <= 5 && text[strspn(text, digits)] == '\0' &&
        port >= 1 && port <= UINT16_MAX)
        return true;
    error_set(error, "expected a port from 1 to 65535 behind the last colon");
    return false;
}

/* The part after % names an interface and stays as it is. */
static bool read_ipv6(char *host, struct error *error)
{
    struct in6_addr address;
    char *zone = strchr(host, '%');
    char plain[INET6_ADDRSTRLEN + 64];

    if (zone != NULL)
        *zone++ = '\0';
    if (inet_pton(AF_INET6, host, &address) != 1 ||
        (zone != NULL && (*zone == '\0' || strlen(zone) > 32))) {
        error_set(error, "expected an IPv6 address in the brackets");
        return false;
    }
    if (IN6_IS_ADDR_V4MAPPED(&address)) {
        inet_ntop(AF_INET, &address.s6_addr[12], plain, sizeof plain);
    } else {
        inet_ntop(AF_INET6, &address, plain, INET6_ADDRSTRLEN);
        if (zone != NULL)
            snprintf(plain + strlen(plain), 64, "%%%s", zone);
    }
    memcpy(host, plain, strlen(plain) + 1);
    return true;
}

static bool is_host_name(const char *host)
{
    for (const char *at = host; *at != '\0'; at++) {
        bool letter = (*at >= 'a' && *at <= 'z') || (*at >= 'A' && *at <= 'Z');

        if (!letter && strchr("0123456789-._", *at) == NULL)
            return false;
    }
    return *host != '\0' && *host != '-' && *host != '.';
}

static bool is_loopback(const char *host)
{
    return strncmp(host, "127.", 4) == 0 || strcmp(host, "::1") == 0;
}

/* A name or an IPv4 address; both canonical in place. */
static bool read_plain_host(char *host, struct error *error)
{
    struct in_addr address;

    if (host[strspn(host, "0123456789.")] == '\0') {
        if (inet_pton(AF_INET, host, &address) == 1)
            return true;
        error_set(error, "expected an IPv4 address of four numbers up to 255");
        return false;
    }
    if (strchr(host, ':') != NULL)
        error_set(error, "expected brackets around an IPv6 address: "
                         "[::1]:5557");
    else if (!is_host_name(host))
        error_set(error, "expected a host name or an address");
    for (char *at = host; *at != '\0'; at++)
        if (*at >= 'A' && *at <= 'Z')
            *at = (char)(*at - 'A' + 'a');
    if (strcmp(host, "localhost") == 0)
        snprintf(host, sizeof "127.0.0.1", "127.0.0.1");
    return !error_is_set(error);
}

static bool read_host(const char *text, size_t size,
                      struct config_endpoint *endpoint, struct error *error)
{
    char *host = endpoint->host;
    bool bracketed = size >= 2 && text[0] == '[' && text[size - 1] == ']';

    if (size == 0 || size >= sizeof endpoint->host) {
        error_set(error, "expected a host of 1 to 255 characters before the "
                         "port");
        return false;
    }
    memcpy(host, text + bracketed, size - 2 * bracketed);
    host[size - 2 * bracketed] = '\0';
    if (bracketed ? !read_ipv6(host, error)
                  : strcmp(host, "*") != 0 && !read_plain_host(host, error))
        return false;
    endpoint->every_host = strcmp(host, "*") == 0 ||
                           strcmp(host, "0.0.0.0") == 0 ||
                           strcmp(host, "::") == 0;
    return true;
}

static bool read_address(const char *text, bool may_choose,
                         struct config_endpoint *endpoint, struct error *error)
{
    const char *colon = strrchr(text, ':');

    if (colon == NULL) {
        error_set(error, "expected HOST:PORT");
        return false;
    }
    return read_host(text, (size_t)(colon - text), endpoint, error) &&
           read_port(colon + 1, may_choose, endpoint, error);
}

/* ---- transports ---- */

static bool parse_tcp(const char *text, bool bind,
                      struct config_endpoint *endpoint, struct error *error)
{
    /* Connecting may name the local end too: LOCAL;HOST:PORT. */
    const char *local_end = bind ? NULL : strchr(text, ';');

    if (local_end != NULL)
        text = local_end + 1;
    if (!read_address(text, bind, endpoint, error))
        return false;
    /* libzmq takes addresses and interfaces to bind, and asks no resolver. */
    if (bind && strncasecmp(text, "localhost:", 10) == 0)
        error_set(error, "a name cannot be bound, expected an address such as "
                         "127.0.0.1, an interface or *");
    if (!bind && endpoint->every_host)
        error_set(error, "expected one host to connect to");
    return !error_is_set(error);
}

/* Paths that differ in "//" and "/./" only are one. */
static void tidy_path(char *path)
{
    char *out = path;

    for (const char *at = path; *at != '\0'; at++) {
        if (at[0] == '/' && at[1] == '.' && at[2] == '/')
            at++;
        else if (at[0] != '/' || at[1] != '/')
            *out++ = *at;
    }
    *out = '\0';
}

static bool parse_ipc(const char *text, bool bind,
                      struct config_endpoint *endpoint, struct error *error)
{
    const struct sockaddr_un *address = NULL;
    size_t size = strlen(text);

    if (size == 0 || strcmp(text, "@") == 0)
        error_set(error, "expected a path behind ipc://");
    else if (size >= sizeof address->sun_path)
        error_set(error, "expected a path of at most %zu bytes",
                  sizeof address->sun_path - 1);
    else if (!bind && strcmp(text, "*") == 0)
        error_set(error, "expected one path to connect to");
    if (error_is_set(error))
        return false;
    memcpy(endpoint->host, text, size + 1);
    if (*text != '@')
        tidy_path(endpoint->host);
    endpoint->chosen_later = strcmp(text, "*") == 0;
    return true;
}

static bool parse_inproc(const char *text, struct config_endpoint *endpoint,
                         struct error *error)
{
    size_t size = strlen(text);

    if (size == 0 || size >= sizeof endpoint->host) {
        error_set(error, "expected a name of 1 to 255 bytes behind inproc://");
        return false;
    }
    memcpy(endpoint->host, text, size + 1);
    return true;
}

bool config_endpoint_parse(const char *text, bool bind,
                           struct config_endpoint *endpoint,
                           struct error *error)
{
    *endpoint = (struct config_endpoint){0};
    if (strncmp(text, "tcp://", 6) == 0)
        return parse_tcp(text + 6, bind, endpoint, error);
    if (strncmp(text, "ipc://", 6) == 0) {
        endpoint->transport = CONFIG_IPC;
        return parse_ipc(text + 6, bind, endpoint, error);
    }
    if (strncmp(text, "inproc://", 9) == 0) {
        endpoint->transport = CONFIG_INPROC;
        return parse_inproc(text + 9, endpoint, error);
    }
    error_set(error, "expected tcp://HOST:PORT, ipc://PATH or inproc://NAME");
    return false;
}

bool config_address_parse(const char *text, struct config_endpoint *endpoint,
                          struct error *error)
{
    const char *host = endpoint->host;
    unsigned char address[16];

    *endpoint = (struct config_endpoint){0};
    if (strchr(text, '/') == NULL) {
        if (!read_address(text, true, endpoint, error))
            return false;
        if (strcmp(host, "*") == 0)
            snprintf(endpoint->host, sizeof endpoint->host, "0.0.0.0");
        if (inet_pton(AF_INET, host, address) == 1 ||
            inet_pton(AF_INET6, host, address) == 1)
            return true;
    }
    error_set(error, "expected an address and a port: 127.0.0.1:9480 or "
                     "[::1]:9480");
    return false;
}

/* ---- comparing ---- */

static bool same_place(const struct config_endpoint *a,
                       const struct config_endpoint *b)
{
    return a->transport == b->transport && a->port == b->port &&
           !a->chosen_later && !b->chosen_later;
}

bool config_endpoint_clashes(const struct config_endpoint *a,
                             const struct config_endpoint *b)
{
    return same_place(a, b) &&
           (a->every_host || b->every_host || strcmp(a->host, b->host) == 0);
}

bool config_endpoint_reaches(const struct config_endpoint *target,
                             const struct config_endpoint *bound)
{
    if (!same_place(target, bound))
        return false;
    return strcmp(target->host, bound->host) == 0 ||
           (bound->every_host && is_loopback(target->host));
}

bool config_endpoint_is_local(const struct config_endpoint *endpoint)
{
    return endpoint->transport != CONFIG_TCP || is_loopback(endpoint->host) ||
           strcmp(endpoint->host, "lo") == 0;
}

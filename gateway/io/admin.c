#include "io/admin.h"

#include "base/log.h"
#include "base/memory.h"
#include "base/secret.h"
#include "io/clock.h"
#include "io/listener.h"

#include <limits.h>
#include <microhttpd.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/socket.h>
#include <unistd.h>

enum {
    CONNECTIONS_MAX = 64,
    IDLE_SECONDS = 10,
    VISIT_MS = 15000, /* a request and its answer, however slowly they come */
    REQUEST_MAX = 16 << 10, /* line and headers; a larger one is refused */
};

/* One connection: a request, then it is closed. */
struct visit {
    bool open;
    int descriptor;
    uint64_t began_ms;
};

struct admin {
    struct MHD_Daemon *daemon;
    int descriptor;
    struct visit visits[CONNECTIONS_MAX];
    char address[160];
    struct admin_pages pages;
    char *token; /* NULL: none is asked for */
    struct log_gate gate;
};

/* What a request says besides its path. */
struct request {
    const char *authorization, *origin, *host; /* headers; NULL: none */
    bool json;                                 /* it accepts that */
    bool force;                                /* ?force=true */
    char wrong[160]; /* a query that means nothing; empty: there is none */
};

struct answer {
    struct request asked;
    unsigned status;
    const char *type;
    const char *allow; /* for 405 */
    bool challenge;    /* for 401 */
    struct buffer text;
};

static void answer_health(struct admin *admin, struct answer *answer)
{
    (void)admin;
    buffer_print(&answer->text, "ok\n");
}

static void answer_ready(struct admin *admin, struct answer *answer)
{
    if (admin->pages.ready(admin->pages.context, &answer->text))
        buffer_print(&answer->text, "ok\n");
    else
        answer->status = MHD_HTTP_SERVICE_UNAVAILABLE;
}

static void answer_metrics(struct admin *admin, struct answer *answer)
{
    answer->type = "text/plain; version=0.0.4; charset=utf-8";
    admin->pages.metrics(admin->pages.context, &answer->text);
}

static void answer_status(struct admin *admin, struct answer *answer)
{
    answer->type = "application/json";
    admin->pages.status(admin->pages.context, &answer->text);
}

static void answer_reload(struct admin *admin, struct answer *answer)
{
    static const unsigned statuses[] = {
        [RELOAD_DONE] = MHD_HTTP_OK,
        [RELOAD_WRONG] = MHD_HTTP_UNPROCESSABLE_CONTENT,
        [RELOAD_REFUSED] = MHD_HTTP_CONFLICT,
    };
    struct reload reload = {.force = answer->asked.force};

    if (*answer->asked.wrong != '\0') {
        answer->status = MHD_HTTP_BAD_REQUEST;
        buffer_print(&answer->text, "%s\n", answer->asked.wrong);
        return;
    }
    admin->pages.reload(admin->pages.context, &reload);
    answer->status = statuses[reload.end];
    if (answer->asked.json) {
        answer->type = "application/json";
        reload_print_json(&reload, &answer->text);
    } else {
        reload_print(&reload, &answer->text);
    }
    reload_free(&reload);
}

static const struct page {
    const char *path;
    const char *method;
    void (*handle)(struct admin *admin, struct answer *answer);
    const char *about;
} pages[] = {
    {"/healthz", "GET", answer_health, "is it alive"},
    {"/readyz", "GET", answer_ready, "is every source connected"},
    {"/metrics", "GET", answer_metrics, "counters for Prometheus"},
    {"/status", "GET", answer_status, "the same and more as JSON"},
    {"/reload", "POST", answer_reload, "read the configuration again"},
    {0},
};

static void list_pages(struct buffer *text)
{
    for (const struct page *page = pages; page->path != NULL; page++)
        buffer_print(text, "%-4s %-9s %s\n", page->method, page->path,
                     page->about);
}

static const struct page *find_page(const char *path)
{
    for (const struct page *page = pages; page->path != NULL; page++)
        if (strcmp(page->path, path) == 0)
            return page;
    return NULL;
}

/* HEAD is a GET of which libmicrohttpd leaves out the body. */
static bool is_allowed(const struct page *page, const char *method)
{
    return strcmp(page->method, method) == 0 ||
           (strcmp(page->method, "GET") == 0 && strcmp(method, "HEAD") == 0);
}

/* ---- who may change something ---- */

static bool has_token(const struct admin *admin, const struct request *asked)
{
    static const char scheme[] = "Bearer ";
    const char *given = asked->authorization;

    if (given == NULL || strncasecmp(given, scheme, sizeof scheme - 1) != 0)
        return false;
    given += sizeof scheme - 1;
    return secret_equals(admin->token, strlen(admin->token), given,
                         strlen(given));
}

/* An address, or localhost: a name may lead to us by its owner's will. */
static bool is_no_name(const char *host)
{
    static const char local[] = "localhost";
    size_t size = sizeof local - 1;

    if (strncasecmp(host, local, size) == 0)
        return host[size] == '\0' || host[size] == ':';
    return *host == '[' || host[strspn(host, "0123456789.:")] == '\0';
}

/* Browsers send an Origin with every POST; any page may make one send it. */
static bool is_foreign(const struct request *asked)
{
    static const char scheme[] = "http://";

    if (asked->origin == NULL)
        return false;
    return strncmp(asked->origin, scheme, sizeof scheme - 1) != 0 ||
           asked->host == NULL ||
           strcasecmp(asked->origin + sizeof scheme - 1, asked->host) != 0 ||
           !is_no_name(asked->host);
}

/* False: it is refused, and the answer says why. */
static bool may_change(struct admin *admin, struct answer *answer)
{
    if (admin->token != NULL && !has_token(admin, &answer->asked)) {
        answer->status = MHD_HTTP_UNAUTHORIZED;
        answer->challenge = true;
        buffer_print(&answer->text, "this takes the header Authorization: "
                                    "Bearer TOKEN, with the token of "
                                    "admin.token_file\n");
    } else if (admin->token == NULL && is_foreign(&answer->asked)) {
        answer->status = MHD_HTTP_FORBIDDEN;
        buffer_print(&answer->text,
                     "a page of another site asked a browser to do this\n");
    } else {
        return true;
    }
    log_gated(&admin->gate, LOG_WARN, "admin: refused a POST: %.*s",
              (int)answer->text.size - 1, (const char *)answer->text.data);
    return false;
}

static void fill_answer(struct admin *admin, const char *path,
                        const char *method, struct answer *answer)
{
    const struct page *page = find_page(path);

    if (page == NULL) {
        answer->status = MHD_HTTP_NOT_FOUND;
        buffer_print(&answer->text, "no such page; there are\n\n");
        list_pages(&answer->text);
    } else if (!is_allowed(page, method)) {
        answer->status = MHD_HTTP_METHOD_NOT_ALLOWED;
        answer->allow = page->method;
        buffer_print(&answer->text, "%s takes %s; there are\n\n", page->path,
                     page->method);
        list_pages(&answer->text);
    } else if (strcmp(page->method, "POST") != 0 || may_change(admin, answer)) {
        page->handle(admin, answer);
    }
}

/* Takes the text of the answer. */
static enum MHD_Result queue_answer(struct MHD_Connection *connection,
                                    struct answer *answer)
{
    struct MHD_Response *response = MHD_create_response_from_buffer(
        answer->text.size, answer->text.data, MHD_RESPMEM_MUST_FREE);
    enum MHD_Result result;

    if (response == NULL) {
        buffer_free(&answer->text);
        return MHD_NO;
    }
    MHD_add_response_header(response, MHD_HTTP_HEADER_CONTENT_TYPE,
                            answer->type);
    MHD_add_response_header(response, MHD_HTTP_HEADER_CACHE_CONTROL,
                            "no-store");
    MHD_add_response_header(response, MHD_HTTP_HEADER_CONNECTION, "close");
    if (answer->allow != NULL)
        MHD_add_response_header(response, MHD_HTTP_HEADER_ALLOW, answer->allow);
    if (answer->challenge)
        MHD_add_response_header(response, MHD_HTTP_HEADER_WWW_AUTHENTICATE,
                                "Bearer");
    result = MHD_queue_response(connection, answer->status, response);
    MHD_destroy_response(response);
    return result;
}

/* ?force=true is all that a query may say. */
static enum MHD_Result read_query(void *context, enum MHD_ValueKind kind,
                                  const char *name, const char *value)
{
    struct request *request = context;

    (void)kind;
    if (strcmp(name, "force") == 0 && value != NULL &&
        strcmp(value, "true") == 0)
        request->force = true;
    else
        snprintf(request->wrong, sizeof request->wrong,
                 "?%.40s%s%.40s: expected force=true or no query", name,
                 value == NULL ? "" : "=", value == NULL ? "" : value);
    return MHD_YES;
}

static const char *find_header(struct MHD_Connection *connection,
                               const char *name)
{
    return MHD_lookup_connection_value(connection, MHD_HEADER_KIND, name);
}

static void read_request(struct MHD_Connection *connection,
                         struct request *request)
{
    const char *accept = find_header(connection, MHD_HTTP_HEADER_ACCEPT);

    request->authorization =
        find_header(connection, MHD_HTTP_HEADER_AUTHORIZATION);
    request->origin = find_header(connection, MHD_HTTP_HEADER_ORIGIN);
    request->host = find_header(connection, MHD_HTTP_HEADER_HOST);

    request->json = accept != NULL && strstr(accept, "application/json");
    MHD_get_connection_values(connection, MHD_GET_ARGUMENT_KIND, read_query,
                              request);
}

/* Called once with the headers, then with pieces of a body (nobody wants one,
 * it is let go), at last with nothing left: time to answer. */
static enum MHD_Result on_request(void *context,
                                  struct MHD_Connection *connection,
                                  const char *path, const char *method,
                                  const char *version, const char *body,
                                  size_t *body_size, void **state)
{
    static const char seen;
    struct answer answer = {.status = MHD_HTTP_OK,
                            .type = "text/plain; charset=utf-8"};

    (void)version;
    (void)body;
    if (*state == NULL) {
        *state = (void *)&seen;
        return MHD_YES;
    }
    if (*body_size > 0) {
        *body_size = 0;
        return MHD_YES;
    }
    read_request(connection, &answer.asked);
    fill_answer(context, path, method, &answer);
    return queue_answer(connection, &answer);
}

/* ---- visits ---- */

static struct visit *free_visit(struct admin *admin)
{
    for (int i = 0; i < CONNECTIONS_MAX; i++)
        if (!admin->visits[i].open)
            return &admin->visits[i];
    return NULL; /* libmicrohttpd takes no more than CONNECTIONS_MAX */
}

static void begin_visit(struct admin *admin, struct MHD_Connection *connection,
                        void **state)
{
    const union MHD_ConnectionInfo *info =
        MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CONNECTION_FD);
    struct visit *visit = free_visit(admin);

    *state = visit;
    if (visit != NULL && info != NULL)
        *visit = (struct visit){.open = true,
                                .descriptor = info->connect_fd,
                                .began_ms = clock_now().steady_ms};
}

static void on_connection(void *context, struct MHD_Connection *connection,
                          void **state,
                          enum MHD_ConnectionNotificationCode code)
{
    struct visit *visit = *state;

    if (code == MHD_CONNECTION_NOTIFY_STARTED)
        begin_visit(context, connection, state);
    else if (visit != NULL)
        visit->open = false;
}

/* libmicrohttpd's timeout is for silence alone: who sends a byte now and then
 * would stay for ever, and 64 of those would keep everybody else out. */
static void end_long_visits(struct admin *admin)
{
    uint64_t now_ms = clock_now().steady_ms;

    for (int i = 0; i < CONNECTIONS_MAX; i++) {
        const struct visit *visit = &admin->visits[i];

        if (visit->open && now_ms - visit->began_ms > VISIT_MS)
            shutdown(visit->descriptor, SHUT_RDWR);
    }
}

static void on_log(void *context, const char *format, va_list args)
{
    char text[512];

    (void)context;
    vsnprintf(text, sizeof text, format, args);
    text[strcspn(text, "\n")] = '\0';
    log_line(LOG_DEBUG, "admin: %s", text);
}

static struct MHD_Daemon *start_daemon(struct admin *admin, int listener)
{
    return MHD_start_daemon(
        MHD_USE_EPOLL | MHD_USE_ERROR_LOG, 0, NULL, NULL, on_request, admin,
        MHD_OPTION_EXTERNAL_LOGGER, on_log, NULL, MHD_OPTION_LISTEN_SOCKET,
        listener, MHD_OPTION_CONNECTION_LIMIT, (unsigned)CONNECTIONS_MAX,
        MHD_OPTION_CONNECTION_TIMEOUT, (unsigned)IDLE_SECONDS,
        MHD_OPTION_CONNECTION_MEMORY_LIMIT, (size_t)REQUEST_MAX,
        MHD_OPTION_NOTIFY_CONNECTION, on_connection, admin, MHD_OPTION_END);
}

struct admin *admin_open(const char *host, uint16_t port,
                         const struct admin_pages *given, struct error *error)
{
    struct admin *admin;
    int listener = listener_open(host, port, error);

    if (listener < 0) {
        error_prefix(error, "admin");
        return NULL;
    }
    admin = memory_new(sizeof *admin);
    admin->pages = *given;
    snprintf(admin->gate.about, sizeof admin->gate.about, "refused requests");
    listener_address(listener, admin->address, sizeof admin->address);
    admin->daemon = start_daemon(admin, listener);
    if (admin->daemon == NULL) {
        error_set(error, "admin: cannot start the HTTP server");
        close(listener);
        free(admin);
        return NULL;
    }
    admin->descriptor =
        MHD_get_daemon_info(admin->daemon, MHD_DAEMON_INFO_EPOLL_FD)->epoll_fd;
    return admin;
}

void admin_close(struct admin *admin)
{
    if (admin == NULL)
        return;
    MHD_stop_daemon(admin->daemon);
    secret_free(admin->token);
    log_gate_end(&admin->gate);
    free(admin);
}

void admin_set_token(struct admin *admin, const char *token)
{
    secret_free(admin->token);
    admin->token = token == NULL ? NULL : memory_text(token, strlen(token));
}

const char *admin_address(const struct admin *admin)
{
    return admin->address;
}

int admin_descriptor(const struct admin *admin)
{
    return admin->descriptor;
}

int admin_timeout(const struct admin *admin)
{
    MHD_UNSIGNED_LONG_LONG timeout;

    if (MHD_get_timeout(admin->daemon, &timeout) != MHD_YES)
        return -1;
    return timeout < INT_MAX ? (int)timeout : INT_MAX;
}

void admin_run(struct admin *admin)
{
    end_long_visits(admin);
    log_gate_tick(&admin->gate);
    MHD_run(admin->daemon);
}

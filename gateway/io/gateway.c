#include "io/gateway.h"

#include "base/log.h"
#include "base/memory.h"
#include "io/clock.h"
#include "io/watch.h"
#include "relay/pipeline.h"
#include "relay/report.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum { POOL_IDLE_MAX = 4 << 20, FRAMES_IDLE_MAX = 1 << 18 };

/* ---- the admin server's pages ---- */

static void show_metrics(void *context, struct buffer *out)
{
    const struct gateway *gateway = context;

    report_metrics(gateway->relay, out);
    watch_metrics(gateway->ports, out);
}

static void show_status(void *context, struct buffer *out)
{
    const struct gateway *gateway = context;

    report_status(gateway->relay, out);
}

static bool show_ready(void *context, struct buffer *out)
{
    const struct gateway *gateway = context;
    const struct ports *ports = gateway->ports;
    bool ready = true;

    for (size_t i = 0; i < ports->source_count; i++) {
        const struct port *source = &ports->sources[i];

        if (port_is_connected(source))
            continue;
        ready = false;
        buffer_print(out, "source \"%s\" is not connected: %s\n", source->name,
                     inlet_endpoint(source->inlet));
    }
    /* Named, but as ready as before: taking it out of service mends nothing. */
    pipeline_tell_failing(relay_pipeline(gateway->relay), out);
    return ready;
}

static void reload_for_admin(void *context, struct reload *reload)
{
    gateway_reload(context, reload);
}

static bool open_admin(struct gateway *gateway, const struct config *config,
                       struct error *error)
{
    const struct admin_pages pages = {.context = gateway,
                                      .metrics = show_metrics,
                                      .status = show_status,
                                      .ready = show_ready,
                                      .reload = reload_for_admin};

    if (config->admin_host == NULL)
        return true;
    gateway->admin =
        admin_open(config->admin_host, config->admin_port, &pages, error);
    if (gateway->admin != NULL)
        admin_set_token(gateway->admin, config->admin_token);
    return gateway->admin != NULL;
}

/* ---- start and stop ---- */

static void log_ports(const struct gateway *gateway)
{
    const struct ports *ports = gateway->ports;

    for (size_t i = 0; i < ports->source_count; i++)
        log_line(LOG_INFO, "source \"%s\" %s %s", ports->sources[i].name,
                 ports->sources[i].socket->bind ? "listens on" : "connects to",
                 inlet_endpoint(ports->sources[i].inlet));
    for (size_t i = 0; i < ports->stream_count; i++)
        log_line(LOG_INFO, "stream \"%s\" %s %s", ports->streams[i].name,
                 ports->streams[i].socket->bind ? "publishes on"
                                                : "publishes to",
                 outlet_endpoint(ports->streams[i].outlet));
}

static void log_admin(const struct gateway *gateway)
{
    const struct config *config = gateway->config;

    log_line(LOG_INFO, "admin on http://%s", admin_address(gateway->admin));
    if (config_admin_is_local(config))
        return;
    log_line(LOG_WARN, "admin: %s is open to other machines, unencrypted; %s",
             admin_address(gateway->admin),
             config->admin_token == NULL
                 ? "whoever reaches it can reload: set admin.token_file"
                 : "whoever reaches it can read all but the token");
}

/* Tell the relay which sockets it has. */
static void join_relay(struct gateway *gateway)
{
    struct relay *relay = gateway->relay;
    const struct ports *ports = gateway->ports;

    for (size_t i = 0; i < ports->stream_count; i++) {
        struct outlet *outlet = ports->streams[i].outlet;

        relay_set_sink(relay, i, outlet_sink(outlet));
        relay_set_stream_endpoint(relay, i, outlet_endpoint(outlet));
    }
    for (size_t i = 0; i < ports->source_count; i++) {
        const struct port *source = &ports->sources[i];

        relay_set_source_endpoint(relay, i, inlet_endpoint(source->inlet));
        relay_source_connected(relay, i, port_is_connected(source));
    }
}

static void set_log_level(const struct config *config)
{
    enum log_level level = LOG_INFO;

    if (config->log_level != NULL)
        log_level_parse(config->log_level, &level);
    log_set_level(level);
}

static void check_letters(const struct config *config)
{
    if (config->dead_letters != NULL && !config_has_letters(config))
        log_line(LOG_WARN, "dead_letters: nothing comes there, as no filter "
                           "has \"on_error: dead_letter\"");
}

/* The draft becomes what is in force; nothing can fail any more. */
static void put_into_force(struct gateway *gateway, struct draft *draft,
                           struct ports *ports)
{
    relay_adopt(gateway->relay, draft->plan, clock_now());
    ports_commit(ports, draft->config, gateway->ports);
    if (gateway->admin != NULL)
        admin_set_token(gateway->admin, draft->config->admin_token);
    config_free(gateway->config);
    gateway->config = draft->config;
    gateway->ports = ports;
    gateway->generation++;
    *draft = (struct draft){0};
    join_relay(gateway);
    set_log_level(gateway->config);
    check_letters(gateway->config);
}

/* Sockets and server.  What was opened is the caller's to close. */
static bool open_sockets(struct gateway *gateway, const struct config *config,
                         struct ports **ports, struct error *error)
{
    gateway->wire.blocks = pool_new(POOL_IDLE_MAX);
    gateway->wire.frames = pool_new(FRAMES_IDLE_MAX);
    gateway->wire.context = socket_context_new(error);
    if (gateway->wire.context == NULL)
        return false;
    gateway->wire.zap = zap_new(gateway->wire.context, error);
    if (gateway->wire.zap == NULL)
        return false;
    *ports = ports_open(&gateway->wire, config, NULL, error);
    return *ports != NULL;
}

static void close_sockets(struct gateway *gateway)
{
    ports_close(gateway->ports);
    zap_free(gateway->wire.zap);
    socket_context_free(gateway->wire.context);
    pool_free(gateway->wire.blocks);
    pool_free(gateway->wire.frames);
}

struct gateway *gateway_open(struct draft *draft, const char *path,
                             const struct installed *installed,
                             struct error *error)
{
    struct gateway *gateway = memory_new(sizeof *gateway);
    struct ports *ports = NULL;

    gateway->path = path;
    gateway->installed = installed;
    if (!open_sockets(gateway, draft->config, &ports, error) ||
        !open_admin(gateway, draft->config, error)) {
        gateway->ports = ports;
        close_sockets(gateway);
        free(gateway);
        return NULL;
    }
    gateway->relay = relay_new();
    put_into_force(gateway, draft, ports);
    log_ports(gateway);
    ports_warn_of_strangers(ports);
    if (gateway->admin != NULL)
        log_admin(gateway);
    return gateway;
}

void gateway_close(struct gateway *gateway)
{
    relay_stop(gateway->relay, clock_now());
    admin_close(gateway->admin);
    close_sockets(gateway);
    relay_free(gateway->relay);
    config_free(gateway->config);
    free(gateway);
}

/* ---- reload ---- */

static bool same_text(const char *a, const char *b)
{
    return a == NULL || b == NULL ? a == b : strcmp(a, b) == 0;
}

/* The server may be in the middle of answering the request to reload. */
static void check_admin(const struct config *now, const struct config *next,
                        struct buffer *notes)
{
    if (same_text(now->admin_host, next->admin_host) &&
        now->admin_port == next->admin_port)
        return;
    buffer_print(notes, "admin.bind is another address now: that takes a "
                        "restart\n");
}

static enum reload_end end_of(enum trial_end end)
{
    return end == TRIAL_FAILED || end == TRIAL_MOVED ? RELOAD_REFUSED
                                                     : RELOAD_WRONG;
}

static enum reload_end try_reload(struct gateway *gateway,
                                  struct reload *reload)
{
    struct draft draft;
    struct error error = {0};
    struct ports *ports;

    if (!draft_reload(&draft, gateway->path, gateway->installed, gateway->relay,
                      reload->force, &reload->trial, &reload->mistakes))
        return end_of(reload->trial.end);
    ports = ports_open(&gateway->wire, draft.config, gateway->ports, &error);
    if (ports == NULL) {
        buffer_print(&reload->mistakes, "%s\n", error.text);
        draft_free(&draft);
        return RELOAD_REFUSED;
    }
    check_admin(gateway->config, draft.config, &reload->notes);
    ports_tell_kept(ports, &reload->notes);
    ports_warn_of_strangers(ports);
    trial_tell_state(gateway->relay, draft.plan, &reload->notes);
    put_into_force(gateway, &draft, ports);
    if (reload->trial.tried < reload->trial.messages)
        relay_forget_recent(gateway->relay);
    return RELOAD_DONE;
}

static void log_report(enum log_level level, const char *report)
{
    while (*report != '\0') {
        int size = (int)strcspn(report, "\n");

        log_line(level, "reload: %.*s", size, report);
        report += size;
        report += strspn(report, "\n");
    }
}

void gateway_reload(struct gateway *gateway, struct reload *reload)
{
    struct buffer text = {0};
    uint64_t began_us = clock_exact_us();

    reload->end = try_reload(gateway, reload);
    reload->took_us = clock_exact_us() - began_us;
    reload->generation = gateway->generation;
    reload_print(reload, &text);
    log_report(reload->end == RELOAD_DONE ? LOG_INFO : LOG_ERROR,
               buffer_text(&text));
    buffer_free(&text);
}

/* ---- what nothing else wakes ---- */

void gateway_watch(struct gateway *gateway, size_t index)
{
    struct port *source = &gateway->ports->sources[index];

    if (watch_port(source))
        relay_source_connected(gateway->relay, index,
                               port_is_connected(source));
}

bool gateway_relieve(struct gateway *gateway, uint64_t now_ms)
{
    const struct ports *ports = gateway->ports;
    bool overloaded = false;

    for (size_t i = 0; i < ports->stream_count; i++)
        if (watch_load(&ports->streams[i], now_ms))
            overloaded = true;
    return overloaded;
}

void gateway_let_in(struct gateway *gateway)
{
    zap_serve(gateway->wire.zap);
}

void gateway_service(struct gateway *gateway)
{
    const struct ports *ports = gateway->ports;

    for (size_t i = 0; i < ports->stream_count; i++) {
        outlet_service(ports->streams[i].outlet);
        watch_port(&ports->streams[i]);
        watch_refusal(&ports->streams[i]);
    }
    gateway_let_in(gateway);
    for (size_t i = 0; i < ports->source_count; i++) {
        gateway_watch(gateway, i);
        watch_refusal(&ports->sources[i]);
        watch_silence(&ports->sources[i]);
    }
    /* After its connections were all taken, it listens again only when run. */
    if (gateway->admin != NULL)
        admin_run(gateway->admin);
}

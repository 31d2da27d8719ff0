#include "io/watch.h"

#include "base/metrics.h"

#include <stddef.h>

/* ---- the log ---- */

static void log_change(struct port *source, enum monitor_change change,
                       const char *endpoint)
{
    size_t live = monitor_live(port_monitor(source));
    bool bound = source->socket->bind;

    if (change == MONITOR_CONNECTED)
        log_gated(&source->gate, LOG_INFO, "source \"%s\": %s %s", source->name,
                  bound ? "a publisher came to" : "connected to", endpoint);
    else if (bound)
        log_gated(&source->gate, LOG_WARN,
                  "source \"%s\": a publisher left %s, %zu still there",
                  source->name, endpoint, live);
    else
        log_gated(&source->gate, LOG_WARN,
                  "source \"%s\": lost the connection to %s, reconnecting",
                  source->name, endpoint);
}

/* Whom the list refused is told by zap, which knows who it was. */
static void log_refusal(struct port *port, const struct monitor *monitor,
                        const char *endpoint)
{
    const struct config_security *security = port->socket->security;

    if (monitor_refusal(monitor) == MONITOR_BY_KEY && security != NULL &&
        security->is.server)
        return;
    log_gated(&port->gate, LOG_WARN,
              "%s \"%s\": a handshake at %s came to nothing: %s", port->kind,
              port->name, endpoint, monitor_reason(monitor));
}

bool watch_port(struct port *port)
{
    struct monitor *monitor = port_monitor(port);
    enum monitor_change change;
    const char *endpoint;
    bool changed = false;

    while ((change = monitor_read(monitor, &endpoint)) != MONITOR_NOTHING) {
        if (change == MONITOR_REFUSED) {
            log_refusal(port, monitor, endpoint);
            port->refused = true;
            continue;
        }
        changed = true;
        if (port->inlet != NULL) /* subscribers come and go as they like */
            log_change(port, change, endpoint);
    }
    log_gate_tick(&port->gate);
    return changed;
}

/* libzmq gives up on a peer that said no for good; but lists of keys change. */
void watch_refusal(struct port *port)
{
    if (port->refused && !port->socket->bind && !port_is_connected(port))
        port_reconnect(port);
    port->refused = false;
}

/* ---- who does not read ---- */

enum { STUCK_MS = 250 }; /* without room for a byte at any look */

/* Of one that connects there is one peer, and libzmq would keep what waits for
 * it over a broken connection. */
static size_t cut_off(struct port *stream, uint64_t now_ms)
{
    if (stream->socket->bind)
        return monitor_cut_stuck(port_monitor(stream), now_ms, STUCK_MS);
    if (now_ms - stream->overloaded_ms < STUCK_MS)
        return 0;
    stream->overloaded_ms = now_ms;
    port_reconnect(stream);
    return 1;
}

bool watch_load(struct port *stream, uint64_t now_ms)
{
    size_t load = outlet_load(stream->outlet);
    size_t count;

    if (load <= stream->socket->queue_bytes) {
        if (stream->overloaded_ms != 0)
            monitor_forgive(port_monitor(stream));
        stream->overloaded_ms = 0;
        return false;
    }
    if (stream->overloaded_ms == 0)
        stream->overloaded_ms = now_ms;
    watch_port(stream);
    count = cut_off(stream, now_ms);
    stream->cut += count;
    if (count > 0)
        log_gated(&stream->gate, LOG_WARN,
                  "stream \"%s\": cut off %zu of its subscribers: %zu bytes "
                  "waited, more than queue_bytes, and it did not read",
                  stream->name, count, load);
    outlet_service(stream->outlet); /* what is cut off is let go of there */
    return true;
}

/* ---- who is not there ---- */

enum { PATIENCE = 5, REMINDER = 300 }; /* looks, about one a second */

/* libzmq tries for ever and says nothing, not even of a name that does not
 * exist: whoever misspelt it should hear. */
void watch_silence(struct port *source)
{
    source->waited = port_is_connected(source) ? 0 : source->waited + 1;
    if (source->waited % REMINDER != PATIENCE)
        return;
    log_line(LOG_WARN,
             source->socket->bind
                 ? "source \"%s\": no publisher has come to %s"
                 : "source \"%s\": no connection to %s, still trying",
             source->name, port_endpoint(source));
}

/* ---- metrics ---- */

static void refused_metrics(struct metrics *metrics, const struct port *ports,
                            size_t count)
{
    static const char *const causes[] = {
        [MONITOR_BY_KEY] = "key", [MONITOR_BY_HANDSHAKE] = "handshake"};

    for (size_t i = 0; i < count; i++)
        for (int by = 0; by < MONITOR_REFUSALS; by++)
            metrics_u64(metrics,
                        monitor_refused(port_monitor(&ports[i]),
                                        (enum monitor_refusal)by),
                        ports[i].kind, ports[i].name, "cause", causes[by],
                        NULL);
}

void watch_metrics(const struct ports *ports, struct buffer *out)
{
    struct metrics metrics = {.out = out};

    for (size_t i = 0; i < ports->stream_count; i++)
        watch_port(&ports->streams[i]); /* nothing else wakes for them */
    metrics_family(&metrics, "kvgate_source_refused_total", "counter",
                   "Handshakes of a source that came to nothing, by cause.");
    refused_metrics(&metrics, ports->sources, ports->source_count);
    metrics_family(&metrics, "kvgate_stream_refused_total", "counter",
                   "Handshakes of a stream that came to nothing, by cause.");
    refused_metrics(&metrics, ports->streams, ports->stream_count);
    metrics_family(&metrics, "kvgate_stream_cut_total", "counter",
                   "Subscribers cut off, as more than queue_bytes waited.");
    for (size_t i = 0; i < ports->stream_count; i++)
        metrics_u64(&metrics, ports->streams[i].cut, "stream",
                    ports->streams[i].name, NULL);
    metrics_family(&metrics, "kvgate_stream_queued_bytes", "gauge",
                   "Bytes of messages that wait for subscribers.");
    for (size_t i = 0; i < ports->stream_count; i++)
        metrics_u64(&metrics, outlet_load(ports->streams[i].outlet), "stream",
                    ports->streams[i].name, NULL);
    metrics_family(&metrics, "kvgate_stream_subscribers", "gauge",
                   "Connections of a stream.");
    for (size_t i = 0; i < ports->stream_count; i++)
        metrics_u64(&metrics, monitor_live(port_monitor(&ports->streams[i])),
                    "stream", ports->streams[i].name, NULL);
}

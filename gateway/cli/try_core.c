#include "cli/try_core.h"

#include "base/memory.h"
#include "cli/place.h"
#include "codec/cursor.h"
#include "relay/pipeline.h"
#include "relay/sequence.h"
#include "relay/source.h"

#include <stdlib.h>
#include <string.h>

enum { TIME_MS = 1 };

const char *const try_verdict_names[TRY_VERDICTS] = {"kept", "dropped", "split",
                                                     "lost"};

/* ---- what the streams get ---- */

/* [time, [event, …], rank]: the relay's own, so it can be trusted. */
static uint32_t count_events(const uint8_t *payload)
{
    cursor_enter(&payload);
    payload = cursor_skip(payload);
    return cursor_enter(&payload);
}

static void keep(struct try_out *out, const uint8_t *payload, size_t size)
{
    uint32_t events = count_events(payload);

    if (events == 0)
        return;
    out->events = events;
    buffer_clear(&out->payload);
    buffer_put(&out->payload, payload, size);
}

static bool keep_sent(void *context, const struct sink_head *head,
                      struct buffer *payload, size_t start)
{
    (void)head;
    keep(context, payload->data + start, payload->size - start);
    return true;
}

static bool keep_forwarded(void *context, const struct sink_head *head,
                           const struct message *message)
{
    (void)head;
    keep(context, message->payload, message->payload_size);
    return true;
}

/* ---- open ---- */

static bool is_filter(const char *path)
{
    size_t size = strlen(path);

    return size > 4 && strcmp(path + size - 4, ".lua") == 0;
}

/* A YAML text in single quotes. */
static void put_quoted(struct buffer *out, const char *text)
{
    buffer_put(out, "'", 1);
    for (; *text != '\0'; text++)
        buffer_put(out, *text == '\'' ? "''" : text, *text == '\'' ? 2 : 1);
    buffer_put(out, "'", 1);
}

/* The configuration of one filter between one source and one stream. */
static struct config *read_filter(const char *path, const char *options,
                                  struct buffer *mistakes)
{
    struct buffer text = {0};
    char *real = realpath(path, NULL);
    struct config *config;

    buffer_print(&text, "sources: [{name: in, connect: 'ipc://in'}]\n"
                        "streams: [{name: out, bind: 'ipc://out'}]\n"
                        "filters:\n  - script: ");
    put_quoted(&text, real != NULL ? real : path);
    if (options != NULL)
        buffer_print(&text, "\n    options: %s", options);
    buffer_print(&text, "\n");
    config = config_read(path, (const char *)text.data, text.size, mistakes);
    free(real);
    buffer_free(&text);
    return config;
}

static bool adopt(struct try_core *core, struct buffer *mistakes)
{
    struct place *place = place_find();
    const struct installed *installed = place_installed(place);
    struct plan *plan = plan_new(core->config, installed->directories,
                                 installed->count, mistakes);

    place_free(place);
    if (plan == NULL)
        return false;
    relay_adopt(core->relay, plan, (struct relay_now){TIME_MS, TIME_MS});
    core->numbers =
        memory_new(relay_source_count(core->relay) * sizeof *core->numbers);
    core->outs =
        memory_new(relay_stream_count(core->relay) * sizeof *core->outs);
    for (size_t i = 0; i < relay_stream_count(core->relay); i++)
        relay_set_sink(core->relay, i,
                       (struct sink){.context = &core->outs[i],
                                     .send = keep_sent,
                                     .forward = keep_forwarded});
    return true;
}

bool try_core_open(struct try_core *core, const char *path, const char *options,
                   struct buffer *mistakes)
{
    *core = (struct try_core){.relay = relay_new()};
    core->config = is_filter(path) ? read_filter(path, options, mistakes)
                                   : config_load(path, mistakes);
    return core->config != NULL && adopt(core, mistakes);
}

void try_core_free(struct try_core *core)
{
    for (size_t i = 0;
         core->outs != NULL && i < relay_stream_count(core->relay); i++)
        buffer_free(&core->outs[i].payload);
    relay_free(core->relay);
    config_free(core->config);
    free(core->numbers);
    free(core->outs);
}

/* ---- run ---- */

static uint64_t chain_errors(const struct chain *chain)
{
    uint64_t count = 0;

    for (size_t i = 0; i < chain->count; i++)
        count += script_filter_counters(chain->steps[i].filter)->errors;
    return count;
}

/* Events that were none. */
static uint64_t count_faults(const struct try_core *core, size_t source)
{
    const struct source *from = relay_source(core->relay, source);
    uint64_t count = 0;

    for (size_t i = 0; i < EVENT_FAULTS; i++)
        count += from->counters.faults[i];
    return count;
}

static uint64_t count_errors(const struct try_core *core)
{
    const struct pipeline *pipeline = relay_pipeline(core->relay);
    uint64_t count = chain_errors(&pipeline->global);

    for (size_t i = 0; i < pipeline->stream_count; i++)
        count += chain_errors(&pipeline->chains[i]);
    return count;
}

static enum try_verdict judge(const struct try_core *core, bool failed)
{
    uint32_t most = 0;

    for (size_t i = 0; i < relay_stream_count(core->relay); i++)
        if (core->outs[i].events > most)
            most = core->outs[i].events;
    if (most == 0)
        return failed ? TRY_LOST : TRY_DROPPED;
    return most == 1 ? TRY_KEPT : TRY_SPLIT;
}

static void send_payload(struct try_core *core, size_t source,
                         struct buffer *payload)
{
    uint8_t number[8];
    struct message message = {.frames = 3,
                              .sequence = number,
                              .sequence_size = sizeof number,
                              .payload = payload->data,
                              .payload_size = payload->size,
                              .origin = payload};
    struct relay_now now = {TIME_MS, TIME_MS};

    seq_write(++core->numbers[source], number);
    relay_receive(core->relay, source, &message, now);
    relay_idle(core->relay, now);
}

enum try_verdict try_core_send(struct try_core *core, size_t source,
                               const uint8_t *event, size_t size)
{
    uint64_t errors = count_errors(core);
    uint64_t faults = count_faults(core, source);
    struct buffer payload = {0};

    for (size_t i = 0; i < relay_stream_count(core->relay); i++)
        core->outs[i].events = 0;
    buffer_put(&payload, "\x93\x01\x91", 3);
    buffer_put(&payload, event, size);
    buffer_put(&payload, "\0", 1);
    send_payload(core, source, &payload);
    buffer_free(&payload);
    core->blames_filter = count_errors(core) > errors;
    return judge(core,
                 core->blames_filter || count_faults(core, source) > faults);
}

const char *try_core_error(const struct try_core *core)
{
    if (!core->blames_filter)
        return "the gateway takes it for no event, see standard error";
    return script_error_text(relay_pipeline(core->relay)->script);
}

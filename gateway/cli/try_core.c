#include "cli/try_core.h"

#include "base/log.h"
#include "base/memory.h"
#include "cli/place.h"
#include "cli/try_diff.h"
#include "cli/usage.h"
#include "codec/cursor.h"
#include "relay/pipeline.h"
#include "relay/sequence.h"
#include "relay/source.h"
#include "relay/stream.h"

#include <libgen.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { TIME_MS = 1 };

const char *const try_verdict_names[TRY_VERDICTS] = {"kept", "dropped", "split",
                                                     "lost", "dead_letter"};

/* ---- what the streams get ---- */

/* [time, [event, …], rank]: the relay's own, so it can be trusted. */
static void keep(struct try_out *out, const uint8_t *payload)
{
    const uint8_t *events, *end;
    uint32_t count;

    cursor_enter(&payload);
    events = payload = cursor_skip(payload);
    end = cursor_skip(payload);
    count = cursor_enter(&events);
    buffer_put(&out->bytes, events, (size_t)(end - events));
    out->events += count;
}

static bool keep_sent(void *context, const struct sink_head *head,
                      struct buffer *payload, size_t start)
{
    (void)head;
    keep(context, payload->data + start);
    return true;
}

static bool keep_forwarded(void *context, const struct sink_head *head,
                           const struct message *message)
{
    (void)head;
    keep(context, message->payload);
    return true;
}

/* ---- the configuration of one filter ---- */

bool try_core_is_filter(const char *path)
{
    return usage_has_ending(path, ".lua");
}

/* A YAML text in single quotes. */
static void put_quoted(struct buffer *out, const char *text)
{
    buffer_put(out, "'", 1);
    for (; *text != '\0'; text++)
        buffer_put(out, *text == '\'' ? "''" : text, *text == '\'' ? 2 : 1);
    buffer_put(out, "'", 1);
}

static void put_streams(struct buffer *out, const struct try_subject *subject)
{
    buffer_print(out, "streams:\n");
    for (size_t i = 0; i < subject->stream_count; i++) {
        buffer_print(out, "  - {name: ");
        put_quoted(out, subject->streams[i]);
        buffer_print(out, ", bind: 'ipc://%zu'}\n", i);
    }
}

/* One filter between one source and its streams, as if beside the filter. */
static struct config *read_filter(const struct try_subject *subject,
                                  struct buffer *mistakes)
{
    struct buffer text = {0};
    char *path = memory_text(subject->path, strlen(subject->path));
    struct config *config;

    buffer_print(&text, "sources: [{name: in, connect: 'ipc://in'}]\n");
    put_streams(&text, subject);
    buffer_print(&text, "filters:\n  - script: ");
    put_quoted(&text, basename(path));
    if (subject->options != NULL)
        buffer_print(&text, "\n    options: %s", subject->options);
    buffer_print(&text, "\n");
    config =
        config_read(subject->path, buffer_text(&text), text.size, mistakes);
    free(path);
    buffer_free(&text);
    return config;
}

/* What is wrong with YAML names a second place, as its last words. */
static void cut_place(char *mistake)
{
    char *begun = strstr(mistake, " that began at ");

    if (begun != NULL && strncmp(mistake, "this is not YAML: ", 18) == 0)
        *begun = '\0';
}

/*
 * Mistakes in a configuration that nobody wrote: their place in it says nothing
 * but that they are in the options, which stand in its last line.
 */
static void put_mistakes(struct buffer *out, const struct try_subject *subject,
                         struct buffer *found)
{
    size_t path_size = strlen(subject->path);
    unsigned last = (unsigned)subject->stream_count + 5;
    char *rest = (char *)buffer_text(found);

    for (char *at; (at = strsep(&rest, "\n")) != NULL;) {
        unsigned line = 0;
        int size = 0;

        if (strncmp(at, subject->path, path_size) == 0)
            sscanf(at + path_size, ":%u:%*u: %n", &line, &size);
        if (size > 0)
            cut_place(at += path_size + (size_t)size);
        if (*at != '\0')
            buffer_print(out, "%s%s\n", line >= last ? "--options: " : "", at);
    }
}

/* ---- open ---- */

static void add_steps(struct try_core *core, const struct chain *chain)
{
    for (size_t i = 0; i < chain->count; i++)
        core->steps[core->step_count++] = (struct try_step){
            .script = chain->steps[i].script,
            .path = script_filter_path(chain->steps[i].filter),
            .stream = chain->stream,
            .on_error = chain->steps[i].on_error};
}

static void list_steps(struct try_core *core)
{
    const struct pipeline *pipeline = relay_pipeline(core->relay);
    size_t count = pipeline->global.count;

    for (size_t i = 0; i < pipeline->stream_count; i++)
        count += pipeline->chains[i].count;
    core->steps = memory_new((count + 1) * sizeof *core->steps);
    add_steps(core, &pipeline->global);
    for (size_t i = 0; i < pipeline->stream_count; i++)
        add_steps(core, &pipeline->chains[i]);
}

static void set_out(struct try_core *core, size_t index, struct try_out *out)
{
    out->stream = relay_stream(core->relay, index)->name;
    relay_set_sink(core->relay, index,
                   (struct sink){.context = out,
                                 .send = keep_sent,
                                 .forward = keep_forwarded});
}

static void list_outs(struct try_core *core)
{
    core->out_count = core->config->stream_count;
    core->outs = memory_new(core->out_count * sizeof *core->outs);
    for (size_t i = 0; i < core->out_count; i++)
        set_out(core, i, &core->outs[i]);
    if (relay_stream_count(core->relay) > core->out_count)
        set_out(core, core->out_count, &core->letters);
}

static bool adopt(struct try_core *core, struct buffer *mistakes)
{
    struct place *place = place_find();
    const struct installed *installed = place_installed(place);
    struct plan *plan = plan_new(core->config, installed->directories,
                                 installed->count, false, NULL, mistakes);

    place_free(place);
    if (plan == NULL)
        return false;
    relay_adopt(core->relay, plan, core->now);
    relay_silence(core->relay);
    core->numbers =
        memory_new(relay_source_count(core->relay) * sizeof *core->numbers);
    list_outs(core);
    list_steps(core);
    return true;
}

static bool open_filter(struct try_core *core,
                        const struct try_subject *subject,
                        struct buffer *mistakes)
{
    struct buffer found = {0};
    bool opened;

    core->config = read_filter(subject, &found);
    opened = core->config != NULL && adopt(core, &found);
    put_mistakes(mistakes, subject, &found);
    buffer_free(&found);
    return opened;
}

bool try_core_open(struct try_core *core, const struct try_subject *subject,
                   struct buffer *mistakes)
{
    *core = (struct try_core){.relay = relay_new(),
                              .is_filter = try_core_is_filter(subject->path),
                              .now = {TIME_MS, TIME_MS}};
    if (core->is_filter)
        return open_filter(core, subject, mistakes);
    core->config = config_load(subject->path, mistakes);
    return core->config != NULL && adopt(core, mistakes);
}

void try_core_free(struct try_core *core)
{
    for (size_t i = 0; i < core->out_count; i++)
        buffer_free(&core->outs[i].bytes);
    buffer_free(&core->letters.bytes);
    for (size_t i = 0; i < core->step_count; i++)
        free(core->steps[i].first_failure);
    relay_free(core->relay);
    config_free(core->config);
    buffer_free(&core->log);
    free(core->numbers);
    free(core->outs);
    free(core->steps);
}

/* ---- before and after ---- */

static const struct step *step_of(const struct try_core *core, size_t index)
{
    const struct pipeline *pipeline = relay_pipeline(core->relay);
    const struct chain *chain = &pipeline->global;

    for (size_t next = 0; index >= chain->count; next++) {
        index -= chain->count;
        chain = &pipeline->chains[next];
    }
    return &chain->steps[index];
}

static void begin(struct try_core *core)
{
    buffer_clear(&core->log);
    log_redirect(&core->log);
    buffer_clear(&core->letters.bytes);
    core->letters.events = 0;
    for (size_t i = 0; i < core->out_count; i++) {
        const struct stream *stream = relay_stream(core->relay, i);
        struct try_out *out = &core->outs[i];

        buffer_clear(&out->bytes);
        out->events = 0;
        out->reserved = stream->record->reserved;
        memcpy(out->losses, stream->counters.losses, sizeof out->losses);
    }
    for (size_t i = 0; i < core->step_count; i++)
        core->steps[i].all = *script_filter_counters(step_of(core, i)->filter);
}

static void end_out(struct try_core *core, size_t index)
{
    const struct stream *stream = relay_stream(core->relay, index);
    struct try_out *out = &core->outs[index];

    out->lost = stream->record->reserved - out->reserved;
    out->total_events += out->events;
    out->total_lost += out->lost;
    for (int cause = 0; cause < LOSS_CAUSES; cause++)
        if (stream->counters.losses[cause] != out->losses[cause])
            out->cause = (enum loss_cause)cause;
}

static void end_step(struct try_core *core, size_t index)
{
    const struct step *step = step_of(core, index);
    const struct filter_counters *now = script_filter_counters(step->filter);
    struct try_step *told = &core->steps[index];

    told->did = (struct filter_counters){
        .kept = now->kept - told->all.kept,
        .dropped = now->dropped - told->all.dropped,
        .rewritten = now->rewritten - told->all.rewritten,
        .split = now->split - told->all.split,
        .errors = now->errors - told->all.errors,
        .emitted = now->emitted - told->all.emitted,
    };
    told->all = *now;
    if (told->did.errors == 0)
        return;
    core->failed = true;
    told->failure = step->failure;
    if (told->first_failure == NULL)
        told->first_failure = memory_text(step->failure, strlen(step->failure));
}

static void end(struct try_core *core)
{
    log_redirect(NULL);
    for (size_t i = 0; i < core->out_count; i++)
        end_out(core, i);
    for (size_t i = 0; i < core->step_count; i++)
        end_step(core, i);
}

bool try_is_lost(enum try_verdict verdict)
{
    return verdict == TRY_LOST || verdict == TRY_DEAD_LETTER;
}

/* ---- run ---- */

static bool has_same(const uint8_t *a, const uint8_t *b, const char *name)
{
    const uint8_t *one = try_field(a, name), *other = try_field(b, name);

    return one == other ||
           (one != NULL && other != NULL && try_is_same(one, other));
}

bool try_core_is_emitted(const struct try_core *core, const uint8_t *event,
                         const uint8_t *sent)
{
    for (size_t i = 0; i < core->step_count; i++)
        if (core->steps[i].did.emitted > 0)
            return !has_same(event, sent, "event_type") ||
                   !has_same(event, sent, "object_key");
    return false;
}

/* Did the stream get what is left of the event? */
static bool got(const struct try_core *core, const struct try_out *out,
                const uint8_t *event)
{
    const uint8_t *at = out->bytes.data;

    for (uint32_t left = out->events; left > 0; left--, at = cursor_skip(at))
        if (!try_core_is_emitted(core, event, at))
            return true;
    return false;
}

static enum try_verdict judge(const struct try_core *core, const uint8_t *event)
{
    bool sent = false, lost = false, split = false;

    for (size_t i = 0; i < core->out_count; i++) {
        sent = sent || got(core, &core->outs[i], event);
        lost = lost || core->outs[i].lost > 0;
    }
    for (size_t i = 0; i < core->step_count; i++)
        split = split || core->steps[i].did.split > 0;
    if (lost)
        return core->letters.events > 0 ? TRY_DEAD_LETTER : TRY_LOST;
    if (!sent)
        return TRY_DROPPED;
    return split ? TRY_SPLIT : TRY_KEPT;
}

static void receive(struct try_core *core, size_t source,
                    struct message message)
{
    uint8_t number[8];

    if (message.frames == 3 && message.sequence_size == sizeof number) {
        seq_write(++core->numbers[source], number);
        message.sequence = number;
    }
    relay_receive(core->relay, source, &message, core->now);
    relay_idle(core->relay, core->now);
}

/* `event` NULL: a message without any. */
static void receive_event(struct try_core *core, size_t source,
                          const struct try_moment *moment, const uint8_t *event,
                          size_t size)
{
    static const uint8_t zero[] = {0};
    const uint8_t *time = moment != NULL && moment->timestamp != NULL
                              ? moment->timestamp
                              : zero,
                  *rank = moment != NULL && moment->rank != NULL ? moment->rank
                                                                 : zero;
    struct buffer payload = {0};

    buffer_put(&payload, "\x93", 1);
    buffer_put(&payload, time, (size_t)(cursor_skip(time) - time));
    buffer_put(&payload, event != NULL ? "\x91" : "\x90", 1);
    buffer_put(&payload, event, size);
    buffer_put(&payload, rank, (size_t)(cursor_skip(rank) - rank));
    receive(core, source,
            (struct message){.frames = 3,
                             .sequence_size = 8,
                             .payload = payload.data,
                             .payload_size = payload.size,
                             .origin = &payload});
    buffer_free(&payload);
}

enum try_verdict try_core_send(struct try_core *core, size_t source,
                               const struct try_moment *moment,
                               const uint8_t *event, size_t size)
{
    struct source *from = relay_source(core->relay, source);
    uint64_t faults[EVENT_FAULTS];
    enum try_verdict verdict;

    memcpy(faults, from->counters.faults, sizeof faults);
    begin(core);
    /* Events of a file may be written by hand: a number that comes again says
     * nothing. */
    seq_forget_id(&from->record->tracker);
    receive_event(core, source, moment, event, size);
    end(core);
    core->fault = EVENT_OK;
    for (int fault = 0; fault < EVENT_FAULTS; fault++)
        if (from->counters.faults[fault] != faults[fault])
            core->fault = (enum event_fault)fault;
    verdict = judge(core, event);
    core->failed = core->failed || try_is_lost(verdict);
    return verdict;
}

void try_core_gap(struct try_core *core, size_t source, uint64_t missing)
{
    begin(core);
    if (core->numbers[source] == 0) /* nothing to break off from */
        receive_event(core, source, NULL, NULL, 0);
    core->numbers[source] += missing;
    receive_event(core, source, NULL, NULL, 0);
    receive_event(core, source, NULL, NULL, 0);
    end(core);
}

void try_core_restart(struct try_core *core, size_t source)
{
    begin(core);
    if (core->numbers[source] == 0)
        receive_event(core, source, NULL, NULL, 0);
    core->numbers[source] = 0;
    receive_event(core, source, NULL, NULL, 0);
    end(core);
}

void try_core_spoilt(struct try_core *core, size_t source,
                     struct message message)
{
    begin(core);
    receive(core, source, message);
    end(core);
}

void try_core_tick(struct try_core *core, uint64_t passed_ms, uint64_t wall_ms)
{
    core->now = (struct relay_now){TIME_MS + passed_ms, wall_ms};
    begin(core);
    relay_tick(core->relay, core->now);
    relay_idle(core->relay, core->now);
    end(core);
}

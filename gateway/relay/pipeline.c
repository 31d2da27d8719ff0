#include "relay/pipeline.h"

#include "base/memory.h"
#include "relay/loss.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- signatures: what feeds a stream, as one number ---- */

static uint64_t sign(uint64_t signature, const void *bytes, size_t size)
{
    for (size_t i = 0; i < size; i++)
        signature = (signature ^ ((const uint8_t *)bytes)[i]) * 0x100000001b3u;
    return signature;
}

/* With its closing NUL, so that neighbours do not run together. */
static uint64_t sign_text(uint64_t signature, const char *text)
{
    return sign(signature, text, strlen(text) + 1);
}

static uint64_t sign_chain(uint64_t signature, const struct chain *chain)
{
    for (size_t i = 0; i < chain->count; i++) {
        const struct step *step = &chain->steps[i];
        uint64_t filter = script_filter_signature(step->filter);

        signature = sign(signature, &filter, sizeof filter);
        signature = sign(signature, &step->on_error, sizeof step->on_error);
    }
    return sign_text(signature, "chain");
}

static uint64_t sign_value(uint64_t signature, const struct config_value *value)
{
    signature = sign(signature, &value->kind, sizeof value->kind);
    signature = sign(signature, &value->boolean, sizeof value->boolean);
    signature = sign(signature, &value->integer, sizeof value->integer);
    signature = sign(signature, &value->uinteger, sizeof value->uinteger);
    if (value->kind == CONFIG_STRING)
        signature = sign(signature, value->string, value->size);
    return sign_text(signature, "value");
}

static uint64_t sign_accept(uint64_t signature,
                            const struct config_stream *stream)
{
    for (size_t i = 0; i < stream->accept_count; i++) {
        const struct config_accept *accept = &stream->accept[i];

        signature = sign_text(signature, accept->field);
        for (size_t j = 0; j < accept->values->size; j++)
            signature = sign_value(signature, &accept->values->items[j]);
    }
    return sign_text(signature, "accept");
}

static uint64_t sign_sources(uint64_t signature, const struct config *config,
                             const struct config_stream *stream)
{
    for (size_t i = 0; i < stream->source_count; i++) {
        const struct config_source *source =
            &config->sources[stream->sources[i]];

        signature = sign_text(signature, source->name);
        signature = sign_text(signature, source->socket.endpoint);
        signature = sign_text(signature, source->topic);
    }
    return signature;
}

static uint64_t sign_feed(const struct pipeline *pipeline,
                          const struct config *config, size_t index)
{
    const struct config_stream *stream = &config->streams[index];
    uint64_t signature = 0xcbf29ce484222325u;

    signature = sign_sources(signature, config, stream);
    signature = sign_chain(signature, &pipeline->global);
    signature = sign_accept(signature, stream);
    signature = sign_chain(signature, &pipeline->chains[index]);
    signature = sign(signature, &stream->event_id, sizeof stream->event_id);
    return signature == 0 ? 1 : signature;
}

/* ---- building ---- */

/* False: the script can't be loaded, and `mistakes` says why. */
static bool step_load(struct step *step, struct script *script,
                      const struct config *config,
                      const struct config_filter *wanted,
                      struct buffer *mistakes)
{
    struct error error = {0};

    step->script = wanted->script;
    step->on_error = wanted->on_error;
    snprintf(step->gate.about, sizeof step->gate.about,
             "failures of filter %.60s", wanted->script);
    step->filter = script_load(script, wanted->script, wanted->options, &error);
    if (step->filter == NULL)
        buffer_print(mistakes, "%s:%u:%u: filter %s: %s\n", config->path,
                     wanted->mark.line, wanted->mark.column, wanted->script,
                     error.text);
    return step->filter != NULL;
}

/* Goes on behind a script that can't be loaded: all mistakes are told at once.
 */
static bool chain_load(struct chain *chain, struct script *script,
                       const struct config *config,
                       const struct config_filters *filters, const char *stream,
                       struct buffer *mistakes)
{
    bool loaded = true;

    chain->stream = stream;
    chain->steps = memory_new((filters->count + 1) * sizeof *chain->steps);
    for (size_t i = 0; i < filters->count; i++)
        loaded &= step_load(&chain->steps[i], script, config,
                            &filters->items[i], mistakes);
    chain->count = filters->count;
    return loaded;
}

static void set_reach(struct pipeline *pipeline, const struct config *config)
{
    for (size_t i = 0; i < config->stream_count; i++) {
        const struct config_stream *stream = &config->streams[i];
        uint64_t bit = UINT64_C(1) << i % 64;

        for (size_t j = 0; j < stream->source_count; j++)
            pipeline_reach(pipeline, stream->sources[j])[i / 64] |= bit;
        if (stream->filters.count > 0)
            pipeline->filtered[i / 64] |= bit;
    }
}

static bool load_chains(struct pipeline *pipeline, const struct config *config,
                        struct buffer *mistakes)
{
    bool loaded = chain_load(&pipeline->global, pipeline->script, config,
                             &config->filters, NULL, mistakes);

    for (size_t i = 0; i < config->stream_count; i++)
        loaded &= chain_load(&pipeline->chains[i], pipeline->script, config,
                             &config->streams[i].filters,
                             config->streams[i].name, mistakes);
    return loaded;
}

static struct script *make_script(const struct config *config,
                                  const char *const *installed,
                                  size_t installed_count, struct error *error)
{
    const char **streams = memory_new(config->stream_count * sizeof *streams);
    const char **sources = memory_new(config->source_count * sizeof *sources);
    char **path = config_script_path(config, installed, installed_count);
    struct script_world world = {.path = path,
                                 .streams = streams,
                                 .stream_count = config->stream_count,
                                 .sources = sources,
                                 .source_count = config->source_count,
                                 .limits = config->limits};
    struct script *script;

    for (size_t i = 0; i < config->stream_count; i++)
        streams[i] = config->streams[i].name;
    for (size_t i = 0; i < config->source_count; i++)
        sources[i] = config->sources[i].name;
    script = script_new(&world, error);
    config_paths_free(path);
    free(sources);
    free(streams);
    return script;
}

static struct pipeline *make_empty(const struct config *config)
{
    struct pipeline *pipeline = memory_new(sizeof *pipeline);
    size_t words = (config->stream_count + 63) / 64;

    pipeline->words = (uint32_t)words;
    pipeline->stream_count = config->stream_count;
    pipeline->source_count = config->source_count;
    pipeline->chains =
        memory_new(config->stream_count * sizeof *pipeline->chains);
    pipeline->feeds =
        memory_new(config->stream_count * sizeof *pipeline->feeds);
    pipeline->reach =
        memory_new(config->source_count * words * sizeof *pipeline->reach);
    pipeline->filtered = memory_new(words * sizeof *pipeline->filtered);
    return pipeline;
}

struct pipeline *pipeline_new(const struct config *config,
                              const char *const *installed,
                              size_t installed_count, struct buffer *mistakes)
{
    struct pipeline *pipeline = make_empty(config);
    struct error error = {0};

    pipeline->script = make_script(config, installed, installed_count, &error);
    if (pipeline->script == NULL)
        buffer_print(mistakes, "%s\n", error.text);
    if (pipeline->script == NULL || !load_chains(pipeline, config, mistakes)) {
        pipeline_free(pipeline);
        return NULL;
    }
    pipeline->batch = batch_new(pipeline->words);
    pipeline->accept = accept_new(config, pipeline->words);
    set_reach(pipeline, config);
    for (size_t i = 0; i < config->stream_count; i++)
        pipeline->feeds[i] = sign_feed(pipeline, config, i);
    return pipeline;
}

static void chain_free(struct chain *chain)
{
    for (size_t i = 0; i < chain->count; i++)
        log_gate_end(&chain->steps[i].gate);
    free(chain->steps);
}

void pipeline_free(struct pipeline *pipeline)
{
    if (pipeline == NULL)
        return;
    script_free(pipeline->script);
    batch_free(pipeline->batch);
    accept_free(pipeline->accept);
    chain_free(&pipeline->global);
    for (size_t i = 0; i < pipeline->stream_count; i++)
        chain_free(&pipeline->chains[i]);
    free(pipeline->chains);
    free(pipeline->feeds);
    free(pipeline->reach);
    free(pipeline->filtered);
    free(pipeline);
}

uint64_t *pipeline_reach(const struct pipeline *pipeline, size_t source)
{
    return pipeline->reach + source * pipeline->words;
}

/* ---- running ---- */

static const char *fate_text(enum config_on_error on_error)
{
    switch (on_error) {
    case CONFIG_ON_ERROR_DROP:
        return "dropped";
    case CONFIG_ON_ERROR_PASS:
        return "passed on unfiltered";
    default:
        return "lost";
    }
}

static void log_failure(struct step *step, const struct chain *chain,
                        const struct script *script, const struct batch *batch,
                        enum script_result result, const char *source)
{
    const struct event *event = &batch->slots[batch->current];

    log_gated(&step->gate, LOG_ERROR,
              "filter %s%s%s%s: %s; event %" PRIu64
              " of source \"%s\" is %s: %s",
              step->script, chain->stream ? " of stream \"" : "",
              chain->stream ? chain->stream : "", chain->stream ? "\"" : "",
              script_result_text(result), event_id(event), source,
              fate_text(step->on_error), script_error_text(script));
}

static void step_failed(struct step *step, struct batch *batch)
{
    struct event *event = &batch->slots[batch->current];

    script_filter_counters(step->filter)->errors++;
    batch->used = batch->mark; /* the copies that it made go with it */
    switch (step->on_error) {
    case CONFIG_ON_ERROR_LOSE:
        event->state = EVENT_LOST;
        event->cause = LOSS_FILTER;
        break;
    case CONFIG_ON_ERROR_DROP:
        event->state = EVENT_DROPPED;
        break;
    case CONFIG_ON_ERROR_PASS:
        event->edits = batch->before;
        break;
    }
}

void chain_run(struct chain *chain, struct script *script, struct batch *batch,
               const char *source)
{
    for (size_t i = 0; i < chain->count; i++) {
        struct step *step = &chain->steps[i];
        uint32_t from = batch->head;

        while (from != EVENT_END) {
            enum script_result result;

            /* Should the call fail before it reaches any event: this one. */
            batch->current = from;
            batch->before = batch->slots[from].edits;
            batch->mark = batch->used;
            result = script_run(step->filter, batch, from);
            if (result == SCRIPT_DONE)
                break;
            log_failure(step, chain, script, batch, result, source);
            step_failed(step, batch);
            from = batch->slots[batch->current].next;
        }
    }
}

/* ---- filters that keep failing ---- */

static void name_step(const struct chain *chain, const struct step *step,
                      struct buffer *out)
{
    buffer_print(out, "filter %s", step->script);
    if (chain->stream != NULL)
        buffer_print(out, " of stream \"%s\"", chain->stream);
}

static void step_change(const struct chain *chain, struct step *step)
{
    struct buffer name = {0};

    step->failing = !step->failing;
    name_step(chain, step, &name);
    if (step->failing)
        log_line(LOG_ERROR, "%s keeps failing: %d errors within %d s",
                 buffer_text(&name), PIPELINE_FAILING,
                 PIPELINE_WINDOW_MS / 1000);
    else
        log_line(LOG_INFO, "%s no longer keeps failing", buffer_text(&name));
    buffer_free(&name);
}

static void step_judge(const struct chain *chain, struct step *step, bool over)
{
    uint64_t errors = script_filter_counters(step->filter)->errors;
    bool many = errors - step->errors >= PIPELINE_FAILING;

    if (step->failing ? over && !many : many)
        step_change(chain, step);
    if (over)
        step->errors = errors;
}

static void chain_tick(struct chain *chain, bool over)
{
    for (size_t i = 0; i < chain->count; i++) {
        log_gate_tick(&chain->steps[i].gate);
        step_judge(chain, &chain->steps[i], over);
    }
}

void pipeline_tick(struct pipeline *pipeline, uint64_t now_ms)
{
    bool over = now_ms - pipeline->judged_ms >= PIPELINE_WINDOW_MS;

    chain_tick(&pipeline->global, over);
    for (size_t i = 0; i < pipeline->stream_count; i++)
        chain_tick(&pipeline->chains[i], over);
    if (over)
        pipeline->judged_ms = now_ms;
}

static void chain_tell_failing(const struct chain *chain, struct buffer *out)
{
    for (size_t i = 0; i < chain->count; i++) {
        if (!chain->steps[i].failing)
            continue;
        name_step(chain, &chain->steps[i], out);
        buffer_print(out, " keeps failing: see the log\n");
    }
}

void pipeline_tell_failing(const struct pipeline *pipeline, struct buffer *out)
{
    chain_tell_failing(&pipeline->global, out);
    for (size_t i = 0; i < pipeline->stream_count; i++)
        chain_tell_failing(&pipeline->chains[i], out);
}

#include "relay/pipeline.h"

#include "base/memory.h"
#include "base/signature.h"
#include "relay/loss.h"

#include <stdlib.h>
#include <string.h>

/* ---- signatures: what feeds a stream, as one number ---- */

/* With its closing NUL, so that neighbours do not run together. */
static uint64_t sign_text(uint64_t signature, const char *text)
{
    return signature_add(signature, text, strlen(text) + 1);
}

/* A letter makes no difference to those who do not get the event. */
static enum config_on_error fate_of(const struct step *step)
{
    return step->on_error == CONFIG_ON_ERROR_DEAD_LETTER ? CONFIG_ON_ERROR_LOSE
                                                         : step->on_error;
}

static uint64_t sign_chain(uint64_t signature, const struct chain *chain)
{
    for (size_t i = 0; i < chain->count; i++) {
        const struct step *step = &chain->steps[i];
        uint64_t filter = script_filter_signature(step->filter);
        enum config_on_error fate = fate_of(step);

        signature = signature_add(signature, &filter, sizeof filter);
        signature = signature_add(signature, &fate, sizeof fate);
    }
    return sign_text(signature, "chain");
}

static uint64_t sign_value(uint64_t signature, const struct config_value *value)
{
    signature = signature_add(signature, &value->kind, sizeof value->kind);
    signature =
        signature_add(signature, &value->boolean, sizeof value->boolean);
    signature =
        signature_add(signature, &value->integer, sizeof value->integer);
    signature =
        signature_add(signature, &value->uinteger, sizeof value->uinteger);
    if (value->kind == CONFIG_STRING)
        signature = signature_add(signature, value->string, value->size);
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
    uint64_t signature = SIGNATURE_EMPTY;

    signature = sign_sources(signature, config, stream);
    signature = sign_chain(signature, &pipeline->global);
    signature = sign_accept(signature, stream);
    signature = sign_chain(signature, &pipeline->chains[index]);
    signature =
        signature_add(signature, &stream->event_id, sizeof stream->event_id);
    return signature == 0 ? 1 : signature;
}

/* ---- building ---- */

static void set_reach(struct pipeline *pipeline, const struct config *config)
{
    for (size_t i = 0; i < config->stream_count; i++) {
        const struct config_stream *stream = &config->streams[i];
        uint64_t bit = UINT64_C(1) << i % 64;

        pipeline->own[i * pipeline->words + i / 64] = bit;
        pipeline->all[i / 64] |= bit;

        for (size_t j = 0; j < stream->source_count; j++)
            pipeline_reach(pipeline, stream->sources[j])[i / 64] |= bit;
        if (stream->filters.count > 0)
            pipeline->filtered[i / 64] |= bit;
    }
}

static void note_hooks(struct pipeline *pipeline, const struct chain *chain)
{
    for (size_t i = 0; i < chain->count; i++) {
        const struct script_hooks *hooks =
            script_filter_hooks(chain->steps[i].filter);

        pipeline->on_batch |= hooks->on_batch;
        pipeline->on_loss |= hooks->on_loss;
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

static void tell_failures(struct pipeline *pipeline, struct buffer *told)
{
    pipeline->global.told = told;
    for (size_t i = 0; i < pipeline->stream_count; i++)
        pipeline->chains[i].told = told;
}

static struct script *make_script(const struct config *config,
                                  const char *const *installed,
                                  size_t installed_count, bool trial,
                                  const struct keep *before,
                                  struct error *error)
{
    const char **streams = memory_new(config->stream_count * sizeof *streams);
    const char **sources = memory_new(config->source_count * sizeof *sources);
    const char *causes[LOSS_CAUSES];
    char **path = config_script_path(config, installed, installed_count);
    struct script_world world = {.path = path,
                                 .streams = streams,
                                 .stream_count = config->stream_count,
                                 .sources = sources,
                                 .source_count = config->source_count,
                                 .causes = causes,
                                 .cause_count = LOSS_CAUSES,
                                 .limits = config->limits,
                                 .trial = trial,
                                 .before = before};
    struct script *script;

    for (size_t i = 0; i < config->stream_count; i++)
        streams[i] = config->streams[i].name;
    for (size_t i = 0; i < config->source_count; i++)
        sources[i] = config->sources[i].name;
    for (int i = 0; i < LOSS_CAUSES; i++)
        causes[i] = loss_cause_name((enum loss_cause)i);
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
    pipeline->letters = config->dead_letters != NULL;
    pipeline->chains =
        memory_new(config->stream_count * sizeof *pipeline->chains);
    pipeline->feeds =
        memory_new(config_output_count(config) * sizeof *pipeline->feeds);
    pipeline->reach =
        memory_new(config->source_count * words * sizeof *pipeline->reach);
    pipeline->filtered = memory_new(words * sizeof *pipeline->filtered);
    pipeline->own =
        memory_new(config->stream_count * words * sizeof *pipeline->own);
    pipeline->all = memory_new(words * sizeof *pipeline->all);
    return pipeline;
}

struct pipeline *pipeline_new(const struct config *config,
                              const char *const *installed,
                              size_t installed_count, bool trial,
                              const struct keep *before,
                              struct buffer *mistakes)
{
    struct pipeline *pipeline = make_empty(config);
    struct error error = {0};

    pipeline->script =
        make_script(config, installed, installed_count, trial, before, &error);
    if (pipeline->script == NULL)
        buffer_print(mistakes, "%s\n", error.text);
    if (pipeline->script == NULL || !load_chains(pipeline, config, mistakes) ||
        config->broken) {
        pipeline_free(pipeline);
        return NULL;
    }
    if (trial)
        tell_failures(pipeline, mistakes);
    pipeline->batch = batch_new(pipeline->words);
    pipeline->accept = accept_new(config, pipeline->words);
    set_reach(pipeline, config);
    note_hooks(pipeline, &pipeline->global);
    for (size_t i = 0; i < config->stream_count; i++) {
        note_hooks(pipeline, &pipeline->chains[i]);
        pipeline->feeds[i] = sign_feed(pipeline, config, i);
    }
    if (pipeline->letters)
        pipeline->feeds[config->stream_count] = 1; /* whatever changes */
    return pipeline;
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
    free(pipeline->own);
    free(pipeline->all);
    free(pipeline);
}

uint64_t pipeline_errors(const struct pipeline *pipeline)
{
    uint64_t errors = chain_errors(&pipeline->global);

    for (size_t i = 0; i < pipeline->stream_count; i++)
        errors += chain_errors(&pipeline->chains[i]);
    return errors;
}

uint64_t *pipeline_reach(const struct pipeline *pipeline, size_t source)
{
    return pipeline->reach + source * pipeline->words;
}

/* ---- time ---- */

void pipeline_start(struct pipeline *pipeline, uint64_t now_ms)
{
    chain_start(&pipeline->global, now_ms);
    for (size_t i = 0; i < pipeline->stream_count; i++)
        chain_start(&pipeline->chains[i], now_ms);
}

void pipeline_tick(struct pipeline *pipeline, uint64_t now_ms)
{
    bool over = now_ms - pipeline->judged_ms >= CHAIN_WINDOW_MS;

    chain_tick(&pipeline->global, over);
    for (size_t i = 0; i < pipeline->stream_count; i++)
        chain_tick(&pipeline->chains[i], over);
    if (over)
        pipeline->judged_ms = now_ms;
}

void pipeline_silence(struct pipeline *pipeline)
{
    chain_silence(&pipeline->global);
    for (size_t i = 0; i < pipeline->stream_count; i++)
        chain_silence(&pipeline->chains[i]);
}

void pipeline_tell_failing(const struct pipeline *pipeline, struct buffer *out)
{
    chain_tell_failing(&pipeline->global, out);
    for (size_t i = 0; i < pipeline->stream_count; i++)
        chain_tell_failing(&pipeline->chains[i], out);
}

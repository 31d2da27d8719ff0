#include "relay/chain.h"

#include "base/memory.h"
#include "relay/loss.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- loading ---- */

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

bool chain_load(struct chain *chain, struct script *script,
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

void chain_free(struct chain *chain)
{
    for (size_t i = 0; i < chain->count; i++) {
        log_gate_end(&chain->steps[i].gate);
        free(chain->steps[i].failure);
    }
    free(chain->steps);
}

void chain_silence(struct chain *chain)
{
    for (size_t i = 0; i < chain->count; i++)
        chain->steps[i].gate.silent = true;
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

static void step_failed(struct step *step, const struct script *script,
                        struct batch *batch)
{
    struct event *event = &batch->slots[batch->current];
    const char *failure = script_error_text(script);

    script_filter_counters(step->filter)->errors++;
    free(step->failure);
    step->failure = memory_text(failure, strlen(failure));
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
            step_failed(step, script, batch);
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
                 buffer_text(&name), CHAIN_FAILING, CHAIN_WINDOW_MS / 1000);
    else
        log_line(LOG_INFO, "%s no longer keeps failing", buffer_text(&name));
    buffer_free(&name);
}

static void step_judge(const struct chain *chain, struct step *step, bool over)
{
    uint64_t errors = script_filter_counters(step->filter)->errors;
    bool many = errors - step->errors >= CHAIN_FAILING;

    if (step->failing ? over && !many : many)
        step_change(chain, step);
    if (over)
        step->errors = errors;
}

void chain_tick(struct chain *chain, bool over)
{
    for (size_t i = 0; i < chain->count; i++) {
        log_gate_tick(&chain->steps[i].gate);
        step_judge(chain, &chain->steps[i], over);
    }
}

void chain_tell_failing(const struct chain *chain, struct buffer *out)
{
    for (size_t i = 0; i < chain->count; i++) {
        if (!chain->steps[i].failing)
            continue;
        name_step(chain, &chain->steps[i], out);
        buffer_print(out, " keeps failing: see the log\n");
    }
}

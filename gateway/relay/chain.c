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
                      const struct script_wanted *place,
                      struct buffer *mistakes)
{
    struct error error = {0};

    step->script = wanted->script;
    step->on_error = wanted->on_error;
    snprintf(step->gate.about, sizeof step->gate.about,
             "failures of filter %.60s", wanted->script);
    step->filter = script_load(script, place, &error);
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
    for (size_t i = 0; i < filters->count; i++) {
        const struct config_filter *wanted = &filters->items[i];
        struct script_wanted place = {wanted->script, wanted->options, stream,
                                      (uint32_t)i + 1};

        if (!wanted->broken)
            loaded &= step_load(&chain->steps[i], script, config, wanted,
                                &place, mistakes);
    }
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

uint64_t chain_errors(const struct chain *chain)
{
    uint64_t errors = 0;

    for (size_t i = 0; i < chain->count; i++)
        errors += script_filter_counters(chain->steps[i].filter)->errors;
    return errors;
}

static const char *fate_text(enum config_on_error on_error)
{
    switch (on_error) {
    case CONFIG_ON_ERROR_DROP:
        return "dropped";
    case CONFIG_ON_ERROR_PASS:
        return "passed on unfiltered";
    case CONFIG_ON_ERROR_DEAD_LETTER:
        return "lost, with a dead letter";
    default:
        return "lost";
    }
}

/* A chain at work. */
struct run {
    struct chain *chain;
    struct script *script;
    struct batch *batch;
    const struct origin *origin;
};

static void log_failure(const struct run *run, struct step *step,
                        enum script_result result)
{
    const struct batch *batch = run->batch;
    const struct event *event = &batch->slots[batch->current];
    const char *stream = run->chain->stream;
    const char *source = run->origin->source;

    if (event->state != EVENT_LIVE)
        log_gated(&step->gate, LOG_ERROR, "filter %s%s%s%s: %s in %s: %s",
                  step->script, stream ? " of stream \"" : "",
                  stream ? stream : "", stream ? "\"" : "",
                  script_result_text(result), batch_hook(batch),
                  script_error_text(run->script));
    else
        log_gated(&step->gate, LOG_ERROR,
                  "filter %s%s%s%s: %s; event %" PRIu64 "%s%s%s is %s: %s",
                  step->script, stream ? " of stream \"" : "",
                  stream ? stream : "", stream ? "\"" : "",
                  script_result_text(result), event_id(event),
                  source ? " of source \"" : "", source ? source : "",
                  source ? "\"" : "", fate_text(step->on_error),
                  script_error_text(run->script));
}

/* The first failure of each filter in a trial. */
static void tell_failure(const struct run *run, const struct step *step,
                         enum script_result result)
{
    const struct batch *batch = run->batch;
    const struct event *event = &batch->slots[batch->current];
    const char *stream = run->chain->stream;
    const char *source = run->origin->source;
    char where[64];

    if (script_filter_counters(step->filter)->errors > 0)
        return;
    if (event->state == EVENT_LIVE)
        snprintf(where, sizeof where, "on event %" PRIu64 "%s", event_id(event),
                 source ? " of" : "");
    else
        snprintf(where, sizeof where, "in %s%s", batch_hook(batch),
                 source ? " for" : "");
    buffer_print(run->chain->told, "%s; filter %s%s%s%s %s %s%s%s%s\n",
                 script_error_text(run->script), step->script,
                 stream ? " of stream \"" : "", stream ? stream : "",
                 stream ? "\"" : "", script_result_text(result), where,
                 source ? " source \"" : "", source ? source : "",
                 source ? "\" (recently seen)" : "");
}

static bool loses(const struct step *step)
{
    return step->on_error == CONFIG_ON_ERROR_LOSE ||
           step->on_error == CONFIG_ON_ERROR_DEAD_LETTER;
}

static void lose(const struct batch *batch, struct event *event)
{
    uint64_t *reach = batch->reach + (size_t)batch->current * batch->words;

    event->state = EVENT_LOST;
    event->cause = LOSS_FILTER;
    memcpy(reach, batch->widest, batch->words * sizeof *reach);
}

/* `hook`: NULL for on_event. */
static void keep_failure(struct step *step, const char *hook, const char *text)
{
    struct buffer failure = {0};

    if (hook != NULL)
        buffer_print(&failure, "%s: ", hook);
    buffer_print(&failure, "%s", text);
    free(step->failure);
    step->failure = memory_text(buffer_text(&failure), failure.size);
    buffer_free(&failure);
}

/* The received event that a slot holds, or a copy of: its slot, by its bytes.
 * origin->count: a filter made it. */
static uint32_t received_slot(const struct run *run, const struct event *event)
{
    const struct event *slots = run->batch->slots;
    uint32_t slot = 0;

    while (slot < run->origin->count && slots[slot].bytes != event->bytes)
        slot++;
    return slot;
}

static void send_letter(const struct run *run, const struct step *step,
                        enum script_result result)
{
    const struct origin *origin = run->origin;
    const struct event *event = &run->batch->slots[run->batch->current];
    uint32_t slot = received_slot(run, event);
    uint32_t position = origin->position + slot;
    const struct letter letter = {
        .source = origin->source,
        .sequence = origin->numbered ? &run->batch->sequence : NULL,
        .position = slot < origin->count ? &position : NULL,
        .stream = run->chain->stream,
        .filter = step->script,
        .result = script_result_text(result),
        .error = script_error_text(run->script),
        .event = event};

    stream_append_letter(origin->letters, &letter);
}

/*
 * The fate of what the filter failed on.  Returns the slot to go on with: the
 * filter is told of the event that it lost itself, but not of a failure of
 * another hook, by which nothing is lost.
 */
static uint32_t step_failed(const struct run *run, struct step *step,
                            enum script_result result)
{
    struct batch *batch = run->batch;
    struct event *event = &batch->slots[batch->current];
    bool is_event = event->state == EVENT_LIVE;

    script_filter_counters(step->filter)->errors++;
    keep_failure(step, is_event ? NULL : batch_hook(batch),
                 script_error_text(run->script));
    if (is_event && step->on_error == CONFIG_ON_ERROR_DROP)
        event->state = EVENT_DROPPED;
    if (is_event && step->on_error == CONFIG_ON_ERROR_PASS)
        event->edits = batch->before;
    if (is_event && step->on_error == CONFIG_ON_ERROR_DEAD_LETTER)
        send_letter(run, step, result);
    if (is_event && loses(step)) {
        lose(batch, event);
        if (script_filter_hooks(step->filter)->on_loss)
            return batch->current;
    }
    return event->next;
}

static void step_run(const struct run *run, struct step *step)
{
    uint32_t from = run->batch->head;

    while (from != EVENT_END) {
        enum script_result result = script_run(step->filter, run->batch, from);

        if (result == SCRIPT_DONE || result == SCRIPT_OVER)
            return;
        if (run->chain->told != NULL)
            tell_failure(run, step, result);
        else
            log_failure(run, step, result);
        from = step_failed(run, step, result);
    }
}

void chain_run(struct chain *chain, struct script *script, struct batch *batch,
               const struct origin *origin)
{
    struct run run = {chain, script, batch, origin};

    for (size_t i = 0; i < chain->count; i++)
        step_run(&run, &chain->steps[i]);
}

void chain_call_tick(struct chain *chain, size_t index, struct script *script,
                     struct batch *batch, const struct origin *origin)
{
    struct run run = {chain, script, batch, origin};

    step_run(&run, &chain->steps[index]);
    batch->slots[batch->head].state = EVENT_DROPPED;
    for (size_t i = index + 1; i < chain->count; i++)
        step_run(&run, &chain->steps[i]);
}

/* ---- ticks ---- */

void chain_start(struct chain *chain, uint64_t now_ms)
{
    for (size_t i = 0; i < chain->count; i++) {
        struct step *step = &chain->steps[i];

        step->due_ms = now_ms + script_filter_hooks(step->filter)->every_ms;
    }
}

bool step_is_due(struct step *step, uint64_t now_ms)
{
    uint64_t every_ms = script_filter_hooks(step->filter)->every_ms;

    if (every_ms == 0 || now_ms < step->due_ms)
        return false;
    step->due_ms += every_ms;
    if (step->due_ms <= now_ms)
        step->due_ms = now_ms + every_ms;
    return true;
}

uint64_t step_time_left(const struct step *step, uint64_t now_ms)
{
    if (script_filter_hooks(step->filter)->every_ms == 0)
        return UINT64_MAX;
    return step->due_ms > now_ms ? step->due_ms - now_ms : 0;
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
        script_filter_tick(chain->steps[i].filter);
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

#include "relay/trial.h"

#include "base/log.h"
#include "relay/pipeline.h"
#include "relay/recent.h"
#include "relay/source.h"
#include "script/keep.h"

#include <string.h>

enum { DAY_MS = 86400000 }; /* the longest time between two ticks */

/* ---- streams that lead nowhere ---- */

static bool let_go(void *context, const struct sink_head *head,
                   struct buffer *payload, size_t start)
{
    (void)context;
    (void)head;
    (void)payload;
    (void)start;
    return true;
}

/* Takes `plan`. */
static struct relay *make_relay(struct plan *plan)
{
    struct relay *relay = relay_new();

    relay_adopt(relay, plan, (struct relay_now){0});
    for (size_t i = 0; i < relay_stream_count(relay); i++)
        relay_set_sink(relay, i, (struct sink){.send = let_go});
    return relay;
}

/* ---- running ---- */

/* What was recently seen of the source of that name; NULL: nothing. */
static const struct recent *recent_of(const struct relay *relay,
                                      const char *name)
{
    for (size_t i = 0; i < relay_source_count(relay); i++)
        if (strcmp(relay_source(relay, i)->name, name) == 0)
            return &relay_source(relay, i)->recent;
    return NULL;
}

static uint32_t count_recent(const struct relay *relay,
                             const struct config *config)
{
    uint32_t count = 0;

    for (size_t i = 0; i < config->source_count; i++) {
        const struct recent *recent = recent_of(relay, config->sources[i].name);

        count += recent == NULL ? 0 : recent_count(recent);
    }
    return count;
}

/* False: it is over.  Each message is its source's first: what is missing
 * between two that were kept is no loss. */
static bool try_message(struct trial *trial, struct relay *aside, size_t index,
                        const struct message *message)
{
    struct source *source = relay_source(aside, index);
    const struct pipeline *pipeline = relay_pipeline(aside);
    uint64_t before = source->counters.events;

    source->record->tracker.started = false;
    relay_receive(aside, index, message, (struct relay_now){0});
    if (pipeline_errors(pipeline) > 0)
        trial->end = TRIAL_FAILED;
    if (trial->end != TRIAL_FINE || script_is_over(pipeline->script))
        return false;
    trial->tried++;
    trial->events += source->counters.events - before;
    return true;
}

/* The messages of all sources, the oldest of each first.  False: it is over. */
static bool try_recent(struct trial *trial, const struct relay *relay,
                       struct relay *aside)
{
    bool more = true;

    for (uint32_t turn = 0; more && turn < RECENT_MESSAGES; turn++)
        for (size_t i = 0; more && i < relay_source_count(aside); i++) {
            const struct recent *recent =
                recent_of(relay, relay_source(aside, i)->name);
            struct message message;

            if (recent == NULL || turn >= recent_count(recent))
                continue;
            message = recent_at(recent, turn);
            more = try_message(trial, aside, i, &message);
        }
    return more;
}

/* A day goes by, so that the time of each on_tick comes, once. */
static void try_ticks(struct trial *trial, struct relay *aside)
{
    relay_tick(aside, (struct relay_now){DAY_MS, DAY_MS});
    if (pipeline_errors(relay_pipeline(aside)) > 0)
        trial->end = TRIAL_FAILED;
}

/* What the current filters hold goes on in the new ones: written down now. */
static const struct keep *save(const struct relay *relay)
{
    const struct pipeline *pipeline = relay_pipeline(relay);

    if (pipeline == NULL)
        return NULL;
    script_save(pipeline->script);
    return script_keep(pipeline->script);
}

/* Returns what was tried, as plan_signature has it. */
static uint64_t run_trial(struct trial *trial, const struct relay *relay,
                          const struct config *config,
                          const char *const *installed, size_t installed_count,
                          const struct keep *before, struct buffer *mistakes)
{
    struct plan *plan =
        plan_new(config, installed, installed_count, true, before, mistakes);
    struct relay *aside;
    uint64_t signature;

    if (plan == NULL) {
        trial->end = TRIAL_BROKEN;
        return 0;
    }
    signature = plan_signature(plan);
    aside = make_relay(plan);
    if (try_recent(trial, relay, aside))
        try_ticks(trial, aside);
    relay_free(aside);
    return signature;
}

struct plan *trial_plan(struct trial *trial, const struct relay *relay,
                        const struct config *config,
                        const char *const *installed, size_t installed_count,
                        bool skip, struct buffer *mistakes)
{
    const struct keep *before = save(relay);
    struct plan *plan;
    uint64_t tried = 0;

    *trial = (struct trial){.messages = count_recent(relay, config)};
    if (trial->messages > 0 && !skip) {
        log_mute(true);
        tried = run_trial(trial, relay, config, installed, installed_count,
                          before, mistakes);
        log_mute(false);
    }
    if (trial->end != TRIAL_FINE)
        return NULL;
    plan =
        plan_new(config, installed, installed_count, false, before, mistakes);
    if (plan == NULL)
        trial->end = TRIAL_BROKEN;
    if (plan == NULL || tried == 0 || tried == plan_signature(plan))
        return plan;
    trial->end = TRIAL_MOVED;
    buffer_print(mistakes,
                 "%s: a script changed while it was tried: reload again\n",
                 config->path);
    plan_free(plan);
    return NULL;
}

void trial_tell_state(const struct relay *relay, const struct plan *next,
                      struct buffer *out)
{
    const struct pipeline *current = relay_pipeline(relay);

    if (current != NULL)
        keep_tell(script_keep(current->script),
                  script_keep(next->pipeline->script), out);
}

#include "base/log.h"
#include "relay/relay_parts.h"
#include "relay/source.h"
#include "relay/stream.h"

#include <inttypes.h>

struct occasion relay_occasion(struct relay *relay)
{
    return (struct occasion){relay->plan->pipeline, relay->sources,
                             relay->streams, &relay->moment};
}

/* Streams first, so that what filters emit comes behind the gap. */
void relay_lose(struct relay *relay, size_t index, enum loss_cause cause,
                uint64_t width)
{
    struct occasion occasion = relay_occasion(relay);
    const struct pipeline *pipeline = relay->plan->pipeline;
    const uint64_t *reach = pipeline_reach(pipeline, index);

    relay->sources[index]->counters.losses[cause]++;
    for (size_t i = 0; i < pipeline->stream_count; i++)
        if (reach[i / 64] >> i % 64 & 1)
            stream_lose(relay->streams[i], cause, width, (uint32_t)index);
    if (pipeline->on_loss)
        occasion_loss(&occasion, index, cause, width);
}

static void lose_gap(struct relay *relay, size_t index, uint64_t number,
                     uint64_t missing)
{
    struct source *source = relay->sources[index];

    source->counters.gaps++;
    source->counters.missing += missing;
    log_gated(&source->gates[LOSS_GAP], LOG_WARN,
              "source \"%s\": %" PRIu64 " missing, number %" PRIu64
              " to %" PRIu64,
              source->name, missing, number - missing, number - 1);
    relay_lose(relay, index, LOSS_GAP, missing);
}

static void lose_restart(struct relay *relay, size_t index, uint64_t number,
                         const struct seq_tracker *before)
{
    struct source *source = relay->sources[index];

    source->counters.restarts++;
    log_gated(&source->gates[LOSS_RESTART], LOG_WARN,
              "source \"%s\": the publisher started over: number %" PRIu64
              " after %" PRIu64,
              source->name, number, before->last);
    relay_lose(relay, index, LOSS_RESTART, 1);
}

void relay_judge(struct relay *relay, size_t index, uint64_t number,
                 const struct batch_header *header)
{
    struct seq_tracker *tracker = &relay->sources[index]->record->tracker;
    struct seq_tracker before = *tracker;
    struct seq_judgement judgement =
        seq_track(tracker, number, header->first_id, header->last_id);

    relay->sources[index]->guard_since_ms = relay->moment.now.steady_ms;
    if (judgement.guard)
        relay_lose(relay, index, LOSS_GUARD, 1);
    if (judgement.verdict == SEQ_GAP)
        lose_gap(relay, index, number, judgement.missing);
    if (judgement.verdict == SEQ_RESTART)
        lose_restart(relay, index, number, &before);
}

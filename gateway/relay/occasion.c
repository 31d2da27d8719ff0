#include "relay/occasion.h"

#include "relay/window.h"

static struct window window_of(const struct occasion *occasion,
                               const struct batch_header *header)
{
    return (struct window){.pipeline = occasion->pipeline,
                           .streams = occasion->streams,
                           .source_index = EVENT_END,
                           .reach = occasion->pipeline->all,
                           .header = header};
}

void occasion_loss(const struct occasion *occasion, size_t source,
                   enum loss_cause cause, uint64_t width)
{
    struct batch *batch = occasion->pipeline->batch;
    struct batch_header header = moment_enter_now(occasion->moment);
    struct window window = window_of(occasion, &header);

    window.source = occasion->sources[source];
    window.source_index = (uint32_t)source;
    window.reach = pipeline_reach(occasion->pipeline, source);
    window.count = width;
    window.last_id = window.source->last_id;
    batch_occasion(batch, EVENT_TOLD)->cause = (uint8_t)cause;
    window_run(&window);
    batch_close(batch);
}

/* ---- ticks ---- */

/* An event that belongs to no source comes behind all that there were. */
static uint64_t highest_id(const struct occasion *occasion)
{
    uint64_t highest = 0;

    for (size_t i = 0; i < occasion->pipeline->source_count; i++)
        if (occasion->sources[i]->last_id > highest)
            highest = occasion->sources[i]->last_id;
    return highest;
}

/* `stream`: whose chain it is; EVENT_END: the global one. */
static void tick(const struct occasion *occasion, size_t stream, size_t step)
{
    struct pipeline *pipeline = occasion->pipeline;
    struct batch_header header = moment_enter_now(occasion->moment);
    struct window window = window_of(occasion, &header);

    window.last_id = highest_id(occasion);
    batch_occasion(pipeline->batch, EVENT_TICK);
    if (stream == EVENT_END) {
        window_tick(&window, step);
    } else {
        window.reach = pipeline->own + stream * pipeline->words;
        window_tick_stream(&window, stream, step);
    }
    batch_close(pipeline->batch);
}

static uint64_t tick_chain(const struct occasion *occasion, struct chain *chain,
                           size_t stream)
{
    uint64_t now_ms = occasion->moment->now.steady_ms;
    uint64_t least = UINT64_MAX;

    for (size_t i = 0; i < chain->count; i++) {
        uint64_t left;

        if (step_is_due(&chain->steps[i], now_ms))
            tick(occasion, stream, i);
        left = step_time_left(&chain->steps[i], now_ms);
        least = left < least ? left : least;
    }
    return least;
}

uint64_t occasion_tick(const struct occasion *occasion)
{
    struct pipeline *pipeline = occasion->pipeline;
    uint64_t least = tick_chain(occasion, &pipeline->global, EVENT_END);

    for (size_t i = 0; i < pipeline->stream_count; i++) {
        uint64_t left = tick_chain(occasion, &pipeline->chains[i], i);

        least = left < least ? left : least;
    }
    return least;
}

/*
 * The last words of kvgate try: what each filter and stream made of all.
 */
#include "cli/try_paint.h"
#include "cli/try_print.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

static void put_counts(const struct try_print *print)
{
    static const enum try_paint verdict_paints[TRY_VERDICTS] = {
        PAINT_GOOD, PAINT_LITTLE, PAINT_SEVERAL, PAINT_BAD, PAINT_BAD};

    try_paint(print, PAINT_BOLD, "%" PRIu64 " event%s", print->events,
              print->events == 1 ? "" : "s");
    for (size_t i = 0; i < TRY_VERDICTS; i++) {
        if (i == TRY_DEAD_LETTER && print->core->letters.stream == NULL)
            continue; /* nowhere to go */
        buffer_print(print->out, i == 0 ? ": " : ", ");
        try_paint(print, print->verdicts[i] > 0 ? verdict_paints[i] : PAINT_DIM,
                  "%" PRIu64 " %s", print->verdicts[i], try_verdict_names[i]);
    }
    buffer_print(print->out, "\n");
}

/* How a table calls a filter. */
static void name_step(const struct try_step *step, char *name, size_t room)
{
    snprintf(name, room, "%s%s%s", step->script,
             step->stream != NULL ? " on " : "",
             step->stream != NULL ? step->stream : "");
}

static void put_filter(const struct try_print *print,
                       const struct try_step *step, int width)
{
    char name[128];

    name_step(step, name, sizeof name);
    buffer_print(print->out,
                 "%-*s %7" PRIu64 " %8" PRIu64 " %10" PRIu64 " %6" PRIu64
                 " %8" PRIu64,
                 width, name, step->all.kept, step->all.dropped,
                 step->all.rewritten, step->all.split, step->all.emitted);
    try_paint(print, step->all.errors > 0 ? PAINT_BAD : PAINT_PLAIN,
              " %7" PRIu64, step->all.errors);
    buffer_print(print->out, "\n");
    if (step->first_failure != NULL)
        buffer_print(print->out, "  first error: %s\n", step->first_failure);
}

static void put_stream(const struct try_print *print, const struct try_out *out,
                       int width)
{
    buffer_print(print->out, "%-*s %7" PRIu64, width, out->stream,
                 out->total_events);
    try_paint(print, out->total_lost > 0 ? PAINT_BAD : PAINT_PLAIN,
              " %8" PRIu64, out->total_lost);
    buffer_print(print->out, "\n");
}

/* Of the first column of both tables. */
static int find_width(const struct try_core *core)
{
    size_t width = sizeof "filter" - 1;
    char name[128];

    for (size_t i = 0; i < core->step_count; i++) {
        name_step(&core->steps[i], name, sizeof name);
        width = strlen(name) > width ? strlen(name) : width;
    }
    for (size_t i = 0; i < core->out_count; i++)
        if (strlen(core->outs[i].stream) > width)
            width = strlen(core->outs[i].stream);
    return (int)width;
}

/* What filters counted themselves, as /metrics has it. */
static void put_metrics(const struct try_print *print)
{
    struct buffer samples = {0};

    try_put_samples(print->core, &samples);
    if (samples.size > 0)
        try_paint(print, PAINT_DIM, "metrics\n");
    buffer_put(print->out, samples.data, samples.size);
    buffer_free(&samples);
}

void try_text_summary(const struct try_print *print)
{
    const struct try_core *core = print->core;
    int width = find_width(core);

    put_counts(print);
    buffer_print(print->out, "\n");
    if (core->step_count > 0)
        try_paint(print, PAINT_DIM, "%-*s %7s %8s %10s %6s %8s %7s\n", width,
                  "filter", "kept", "dropped", "rewritten", "split", "emitted",
                  "errors");
    for (size_t i = 0; i < core->step_count; i++)
        put_filter(print, &core->steps[i], width);
    try_paint(print, PAINT_DIM, "%-*s %7s %8s\n", width, "stream", "events",
              "left out");
    for (size_t i = 0; i < core->out_count; i++)
        put_stream(print, &core->outs[i], width);
    put_metrics(print);
}

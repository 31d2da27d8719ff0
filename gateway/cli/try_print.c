#include "cli/try_print.h"

#include "base/metrics.h"
#include "cli/try_diff.h"
#include "codec/cursor.h"
#include "codec/event.h"
#include "relay/pipeline.h"

#include <string.h>

const uint8_t *try_out_event(const struct try_out *out, uint32_t index)
{
    const uint8_t *at = out->bytes.data;

    if (index >= out->events)
        return NULL;
    while (index-- > 0)
        at = cursor_skip(at);
    return at;
}

const struct try_step *try_blame(const struct try_core *core,
                                 const struct try_out *out)
{
    if (out->cause != LOSS_FILTER)
        return NULL;
    for (size_t i = 0; i < core->step_count; i++) {
        const struct try_step *step = &core->steps[i];

        if (step->did.errors > 0 && step->on_error != CONFIG_ON_ERROR_DROP &&
            step->on_error != CONFIG_ON_ERROR_PASS &&
            (step->stream == NULL || strcmp(step->stream, out->stream) == 0))
            return step;
    }
    return NULL;
}

const char *try_cause(const struct try_core *core, const struct try_out *out)
{
    switch (out->cause) {
    case LOSS_EVENT:
        return event_fault_text(core->fault);
    case LOSS_SIZE:
        return "it does not fit a message of the stream";
    case LOSS_SPACE:
        return "filters made more events of it than there is room for";
    default:
        return loss_cause_name(out->cause);
    }
}

void try_put_samples(const struct try_core *core, struct buffer *out)
{
    struct buffer text = {0};
    struct metrics metrics = {.out = &text};
    char *rest;

    script_print_metrics(relay_pipeline(core->relay)->script, &metrics);
    rest = (char *)buffer_text(&text);
    for (char *line; (line = strsep(&rest, "\n")) != NULL;)
        if (*line != '\0' && *line != '#')
            buffer_print(out, "%s\n", line);
    buffer_free(&text);
}

/* Did any stream get it otherwise than it was? */
static bool is_changed(const struct try_core *core, const uint8_t *event)
{
    size_t size = (size_t)(cursor_skip(event) - event);

    for (size_t i = 0; i < core->out_count; i++) {
        const struct try_out *out = &core->outs[i];

        if (out->events > 1 ||
            (out->events == 1 && (out->bytes.size != size ||
                                  memcmp(out->bytes.data, event, size) != 0)))
            return true;
    }
    return false;
}

void try_print_event(struct try_print *print, const struct try_told *told)
{
    print->events++;
    print->verdicts[told->verdict]++;
    if (print->only != 0 && (print->only & 1u << told->verdict) == 0 &&
        ((print->only & TRY_CHANGED) == 0 ||
         !is_changed(print->core, told->event)))
        return;
    if (print->json)
        try_json_event(print, told);
    else
        try_text_event(print, told);
}

void try_print_mark(struct try_print *print, const struct try_mark *mark)
{
    if (print->only != 0)
        return;
    if (print->json)
        try_json_mark(print, mark);
    else
        try_text_mark(print, mark);
}

void try_print_summary(struct try_print *print)
{
    if (print->json)
        try_json_summary(print);
    else
        try_text_summary(print);
}

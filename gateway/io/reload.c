#include "io/reload.h"

#include "base/json.h"

#include <inttypes.h>
#include <string.h>

/* How the new behaviour was tried, where it is in force. */
static void print_trial(const struct reload *reload, struct buffer *out)
{
    const struct trial *trial = &reload->trial;

    if (reload->force)
        buffer_print(out, "forced: not tried on recent events\n");
    else if (trial->messages == 0)
        buffer_print(out, "there are no recent events to try it on\n");
    else
        buffer_print(
            out, "tried on %" PRIu64 " recent events in %" PRIu32 " messages\n",
            trial->events, trial->tried);
    if (!reload->force && trial->tried < trial->messages)
        buffer_print(out,
                     "%" PRIu32 " recent messages were not tried: "
                     "there is a second for all of them\n",
                     trial->messages - trial->tried);
}

void reload_print(struct reload *reload, struct buffer *out)
{
    buffer_put(out, reload->mistakes.data, reload->mistakes.size);
    buffer_put(out, reload->notes.data, reload->notes.size);
    if (reload->end == RELOAD_DONE)
        print_trial(reload, out);
    if (reload->trial.end == TRIAL_FAILED)
        buffer_print(out,
                     "POST /reload?force=true reloads without this trial\n");
    buffer_print(out, "events were held for %.1f ms\n",
                 (double)reload->took_us / 1000);
    buffer_print(out,
                 reload->end == RELOAD_DONE
                     ? "generation %" PRIu64 " is in force\n"
                     : "nothing changed, generation %" PRIu64
                       " stays in force\n",
                 reload->generation);
}

static void put_lines(struct json *json, const char *name, struct buffer *lines)
{
    const char *at = buffer_text(lines);

    json_key(json, name);
    json_array(json);
    while (*at != '\0') {
        size_t size = strcspn(at, "\n");

        json_string(json, at, size);
        at += size;
        at += *at == '\n';
    }
    json_end(json);
}

void reload_print_json(struct reload *reload, struct buffer *out)
{
    static const char *const ends[] = {"done", "wrong", "refused"};
    struct json json = {.out = out};

    json_object(&json);
    json_key(&json, "result");
    json_text(&json, ends[reload->end]);
    json_key(&json, "generation");
    json_u64(&json, reload->generation);
    json_key(&json, "took_ms");
    json_double(&json, (double)reload->took_us / 1000);
    put_lines(&json, "mistakes", &reload->mistakes);
    put_lines(&json, "notes", &reload->notes);
    json_key(&json, "trial");
    json_object(&json);
    json_key(&json, "forced");
    json_bool(&json, reload->force);
    json_key(&json, "recent_messages");
    json_u64(&json, reload->trial.messages);
    json_key(&json, "tried_messages");
    json_u64(&json, reload->trial.tried);
    json_key(&json, "tried_events");
    json_u64(&json, reload->trial.events);
    json_end(&json);
    json_end(&json);
    buffer_print(out, "\n");
}

void reload_free(struct reload *reload)
{
    buffer_free(&reload->mistakes);
    buffer_free(&reload->notes);
}

#include "relay/source.h"

#include "base/memory.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct source *source_new(const struct config_source *config,
                          struct continuity *continuity)
{
    struct source *source = memory_new(sizeof *source);

    source->name = memory_text(config->name, strlen(config->name));
    source->record = continuity_source(continuity, config->name);
    source->reader = batch_reader_new();
    for (int cause = 0; cause < LOSS_CAUSES; cause++)
        snprintf(source->gates[cause].about, sizeof source->gates[cause].about,
                 "%s losses of source \"%.60s\"",
                 loss_cause_name((enum loss_cause)cause), config->name);
    source_configure(source, config);
    return source;
}

void source_free(struct source *source)
{
    for (int cause = 0; cause < LOSS_CAUSES; cause++)
        log_gate_end(&source->gates[cause]);
    batch_reader_free(source->reader);
    recent_forget(&source->recent);
    free(source->endpoint);
    free(source->name);
    free(source);
}

void source_configure(struct source *source, const struct config_source *config)
{
    if (source->endpoint == NULL)
        source->endpoint = memory_text(config->socket.endpoint,
                                       strlen(config->socket.endpoint));
    source->record->tracker.guard = config->gap_guard;
}

void source_silence(struct source *source)
{
    for (int cause = 0; cause < LOSS_CAUSES; cause++)
        source->gates[cause].silent = true;
}

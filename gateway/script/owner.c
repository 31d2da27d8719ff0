#include "script/owner.h"

#include "base/memory.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void owner_set(struct owner *owner, const char *script, const char *stream,
               uint32_t position, uint32_t ordinal)
{
    if (stream == NULL)
        stream = "";
    owner->script = memory_text(script, strlen(script));
    owner->stream = memory_text(stream, strlen(stream));
    owner->position = position;
    owner->ordinal = ordinal;
    snprintf(owner->gate.about, sizeof owner->gate.about,
             "lines of filter %.60s", script);
}

void owner_clear(struct owner *owner)
{
    log_gate_end(&owner->gate);
    free(owner->script);
    free(owner->stream);
}

void owner_name(const struct owner *owner, struct buffer *out)
{
    buffer_print(out, "filter %s", owner->script);
    if (*owner->stream != '\0')
        buffer_print(out, " of stream \"%s\"", owner->stream);
    if (owner->ordinal > 1)
        buffer_print(out, " (number %u of its name)", owner->ordinal);
}

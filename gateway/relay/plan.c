#include "relay/plan.h"

#include "base/memory.h"
#include "base/signature.h"
#include "relay/pipeline.h"

#include <stdlib.h>

struct plan *plan_new(const struct config *config, const char *const *installed,
                      size_t installed_count, bool trial,
                      const struct keep *before, struct buffer *mistakes)
{
    struct pipeline *pipeline = pipeline_new(config, installed, installed_count,
                                             trial, before, mistakes);
    struct plan *plan;

    if (pipeline == NULL)
        return NULL;
    plan = memory_new(sizeof *plan);
    plan->config = config;
    plan->pipeline = pipeline;
    return plan;
}

void plan_free(struct plan *plan)
{
    if (plan == NULL)
        return;
    pipeline_free(plan->pipeline);
    free(plan);
}

uint64_t plan_signature(const struct plan *plan)
{
    const struct pipeline *pipeline = plan->pipeline;

    return signature_add(SIGNATURE_EMPTY, pipeline->feeds,
                         pipeline->stream_count * sizeof *pipeline->feeds);
}

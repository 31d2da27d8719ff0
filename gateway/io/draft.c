#include "io/draft.h"

bool draft_load(struct draft *draft, const char *path,
                const struct installed *installed, struct buffer *mistakes)
{
    *draft = (struct draft){.config = config_load(path, mistakes)};
    if (draft->config == NULL)
        return false;
    draft->plan = plan_new(draft->config, installed->directories,
                           installed->count, mistakes);
    if (draft->plan != NULL)
        return true;
    draft_free(draft);
    return false;
}

void draft_free(struct draft *draft)
{
    plan_free(draft->plan);
    config_free(draft->config);
    *draft = (struct draft){0};
}

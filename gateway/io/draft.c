#include "io/draft.h"

static bool has_plan(struct draft *draft)
{
    if (draft->plan != NULL)
        return true;
    draft_free(draft);
    return false;
}

bool draft_load(struct draft *draft, const char *path,
                const struct installed *installed, struct buffer *mistakes)
{
    *draft = (struct draft){.config = config_load(path, mistakes)};
    if (draft->config == NULL)
        return false;
    draft->plan = plan_new(draft->config, installed->directories,
                           installed->count, false, NULL, mistakes);
    return has_plan(draft);
}

bool draft_reload(struct draft *draft, const char *path,
                  const struct installed *installed, const struct relay *relay,
                  bool skip, struct trial *trial, struct buffer *mistakes)
{
    *draft = (struct draft){.config = config_reload(path, mistakes)};
    if (draft->config == NULL)
        return false;
    draft->plan =
        trial_plan(trial, relay, draft->config, installed->directories,
                   installed->count, skip, mistakes);
    return has_plan(draft);
}

void draft_free(struct draft *draft)
{
    plan_free(draft->plan);
    config_free(draft->config);
    *draft = (struct draft){0};
}

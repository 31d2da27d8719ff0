#include "io/draft.h"

/* Secrets are read although a script is wrong: all mistakes in one run. */
static bool is_complete(struct draft *draft, struct buffer *mistakes)
{
    if (config_read_secrets(draft->config, mistakes) && draft->plan != NULL)
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
    return is_complete(draft, mistakes);
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
    return is_complete(draft, mistakes);
}

void draft_free(struct draft *draft)
{
    plan_free(draft->plan);
    config_free(draft->config);
    *draft = (struct draft){0};
}

#include "io/draft.h"

#include "base/error.h"

bool draft_load(struct draft *draft, const char *path,
                const struct installed *installed, struct buffer *mistakes)
{
    struct error error = {0};

    *draft = (struct draft){.config = config_load(path, mistakes)};
    if (draft->config == NULL)
        return false;
    draft->plan = plan_new(draft->config, installed->directories,
                           installed->count, &error);
    if (draft->plan != NULL)
        return true;
    buffer_print(mistakes, "%s\n", error.text);
    draft_free(draft);
    return false;
}

void draft_free(struct draft *draft)
{
    plan_free(draft->plan);
    config_free(draft->config);
    *draft = (struct draft){0};
}

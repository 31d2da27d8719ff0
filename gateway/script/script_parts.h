/*
 * script_parts - what the files behind script.h share
 *
 *   script.c         a state: made, run, freed
 *   script_filter.c  filters: loaded, and what is known of them
 */
#ifndef SCRIPT_SCRIPT_PARTS_H
#define SCRIPT_SCRIPT_PARTS_H

#include "script/border.h"
#include "script/heap.h"
#include "script/owner.h"
#include "script/script.h"
#include "script/watchdog.h"

#include <lua.h>

struct script_filter {
    struct script_filter *older;
    struct script *script;
    struct filter_counters counters;
    struct owner owner;
    char *path;
    uint64_t signature;
    struct script_hooks hooks;
    int run; /* registry reference of the driver's function */
};

/* References into the registry are made once, because looking a name up may
 * allocate, and nothing that allocates is called outside a protected call. */
struct script {
    lua_State *L;
    struct border *border;
    struct script_filter *filters;
    struct keep *keep;
    char **path;
    int describe; /* fault.describe */
    int loader;   /* the table of lua/kvgate/loader.lua */
    int load;     /* script_load_filter */
    int collect;  /* heap_collect */
    struct config_limits limits;
    struct heap *heap;
    struct watchdog *dog;
    enum { IN_FORCE = 0, TRIAL, TRIAL_RUNS, TRIAL_OVER } stage;
    char error[4096];
};

/* Call what is on the stack, `arguments` under the top; drops all results.
 * On failure the message is in script->error.  Returns lua_pcall's status. */
int script_call(struct script *script, int arguments);

/* Put what ran into a limit, and could not describe itself, into
 * script->error. */
void script_tell_limit(struct script *script, const char *filter, int status,
                       bool stopped);

/* What script_load calls protected. */
int script_load_filter(lua_State *L);

void script_filters_free(struct script *script);

#endif

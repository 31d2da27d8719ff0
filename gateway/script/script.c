#include "script/script_parts.h"

#include "base/log.h"
#include "base/memory.h"
#include "codec/batch.h"
#include "script/keep.h"
#include "script/kept.h"
#include "script/metric.h"
#include "script/proof.h"
#include "script/state.h"

#include <assert.h>
#include <inttypes.h>
#include <lauxlib.h>
#include <lua.h>
#include <luajit.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

_Static_assert((int)SCRIPT_NO_VERDICT == (int)BORDER_NO_VERDICT, "one enum");
_Static_assert((int)SCRIPT_BAD_STREAM == (int)BORDER_BAD_STREAM, "one enum");
_Static_assert((int)SCRIPT_TOO_MANY == (int)BORDER_TOO_MANY, "one enum");
_Static_assert((int)SCRIPT_NO_MEMORY == (int)BORDER_NO_MEMORY, "one enum");

const char *script_result_text(enum script_result result)
{
    switch (result) {
    case SCRIPT_DONE:
        return "done";
    case SCRIPT_RAISED:
        return "raised an error";
    case SCRIPT_NO_VERDICT:
        return "returned no verdict";
    case SCRIPT_BAD_STREAM:
        return "named an unknown stream";
    case SCRIPT_TOO_MANY:
        return "made too many events";
    case SCRIPT_NO_MEMORY:
        return "ran out of memory";
    case SCRIPT_BUDGET:
        return "ran out of time";
    case SCRIPT_OVER:
        return "was not tried";
    }
    return "ended in an unknown way";
}

/* ---- protected calls ---- */

/* Only reached if this folder calls Lua unprotected, which it must not. */
static int panic(lua_State *L)
{
    log_line(LOG_ERROR, "Lua failed outside a protected call: %s",
             lua_type(L, -1) == LUA_TSTRING ? lua_tostring(L, -1) : "?");
    abort();
}

/* Keep the message on top of the stack, without any allocation of Lua's. */
static void keep_error(struct script *script)
{
    const char *text = "an error without a message";

    if (lua_type(script->L, -1) == LUA_TSTRING)
        text = lua_tostring(script->L, -1);
    snprintf(script->error, sizeof script->error, "%s", text);
}

int script_call(struct script *script, int arguments)
{
    lua_State *L = script->L;
    int base = lua_gettop(L) - arguments; /* the function */
    int status;

    lua_rawgeti(L, LUA_REGISTRYINDEX, script->describe);
    lua_insert(L, base);
    status = lua_pcall(L, arguments, 0, base);
    if (status != 0)
        keep_error(script);
    lua_settop(L, base - 1);
    return status;
}

/* Call with what the heap has to collect, if it has. */
static void tidy(struct script *script)
{
    if (!heap_is_due(script->heap))
        return;
    lua_rawgeti(script->L, LUA_REGISTRYINDEX, script->collect);
    lua_pushlightuserdata(script->L, script->heap);
    if (lua_pcall(script->L, 1, 0, 0) != 0)
        lua_pop(script->L, 1);
}

static bool is_out_of_memory(const struct script *script, int status)
{
    return status == LUA_ERRMEM ||
           (status == LUA_ERRERR && script->border->breach == BORDER_NO_MEMORY);
}

/* Where the stack was full there was no room to find the place, either. */
static void add_filter(struct script *script, const char *filter)
{
    char text[128];

    snprintf(text, sizeof text, "%.127s", script->error);
    snprintf(script->error, sizeof script->error, "%s: %s", filter, text);
}

void script_tell_limit(struct script *script, const char *filter, int status,
                       bool stopped)
{
    if (status != 0 && stopped)
        snprintf(script->error, sizeof script->error, "%s",
                 watchdog_text(script->dog));
    else if (is_out_of_memory(script, status))
        snprintf(script->error, sizeof script->error,
                 "%s: all filters together would take more than %" PRIu64
                 " bytes",
                 filter, script->limits.memory);
    else if (status == LUA_ERRERR)
        add_filter(script, filter);
}

/* ---- a new state ---- */

static void require_module(lua_State *L, const char *name)
{
    lua_getglobal(L, "require");
    lua_pushstring(L, name);
    lua_call(L, 1, 1);
}

struct opening {
    struct script *script;
    struct script_world world;
};

static int open_state(lua_State *L)
{
    const struct opening *opening = lua_touserdata(L, 1);
    struct script *script = opening->script;

    state_fill(L, script->border, &opening->world);
    require_module(L, "kvgate.loader");
    script->loader = luaL_ref(L, LUA_REGISTRYINDEX);
    require_module(L, "kvgate.fault");
    lua_getfield(L, -1, "describe");
    script->describe = luaL_ref(L, LUA_REGISTRYINDEX);
    lua_pushcfunction(L, script_load_filter);
    script->load = luaL_ref(L, LUA_REGISTRYINDEX);
    lua_pushcfunction(L, heap_collect);
    script->collect = luaL_ref(L, LUA_REGISTRYINDEX);
    return 0;
}

static char **copy_path(char *const *path)
{
    size_t count = 0;
    char **copy;

    while (path[count] != NULL)
        count++;
    copy = memory_new((count + 1) * sizeof *copy);
    for (size_t i = 0; i < count; i++)
        copy[i] = memory_text(path[i], strlen(path[i]));
    return copy;
}

/* Compiled code must be stoppable.  False, and `error`: it isn't, and the
 * configuration insists. */
static bool choose_compiler(enum config_jit jit, bool *compiled,
                            struct error *error)
{
    *compiled = jit != CONFIG_JIT_OFF && proof_holds();
    if (*compiled || jit == CONFIG_JIT_OFF)
        return true;
    if (jit == CONFIG_JIT_ON) {
        error_set(error, "jit: this LuaJIT's compiled loops cannot be stopped, "
                         "expected \"auto\" or \"off\"");
        return false;
    }
    log_line(LOG_WARN, "this LuaJIT's compiled loops cannot be stopped: "
                       "filters run without the compiler");
    return true;
}

static bool open_runtime(struct script *script,
                         const struct script_world *world, struct error *error)
{
    struct opening opening = {script, *world};

    opening.world.path = script->path;
    lua_atpanic(script->L, panic);
    if (lua_cpcall(script->L, open_state, &opening) == 0)
        return true;
    keep_error(script);
    error_set(error, "the filters' runtime cannot start: %s", script->error);
    return false;
}

static bool set_limits(struct script *script, struct error *error)
{
    const struct config_limits *limits = &script->limits;
    bool compiled;

    if (script->stage == TRIAL)
        compiled = false;
    else if (!choose_compiler(limits->jit, &compiled, error))
        return false;
    if (!compiled)
        luaJIT_setmode(script->L, 0, LUAJIT_MODE_ENGINE | LUAJIT_MODE_OFF);
    script->heap = heap_new(script->L, limits->memory, &script->border->breach,
                            BORDER_NO_MEMORY);
    script->dog = watchdog_new(script->L, limits->stuck_ms, compiled, error);
    return script->dog != NULL;
}

struct script *script_new(const struct script_world *world, struct error *error)
{
    struct script *script = memory_new(sizeof *script);

    script->limits =
        world->limits.event_ms == 0 ? config_limits_default() : world->limits;
    script->stage = world->trial ? TRIAL : IN_FORCE;
    script->path = copy_path(world->path);
    script->border = border_new();
    script->keep = keep_new(world->before, world->trial);
    script->border->keep = script->keep;
    script->L = luaL_newstate();
    if (script->L == NULL)
        error_set(error, "LuaJIT cannot start: no memory for it");
    if (script->L == NULL || !open_runtime(script, world, error) ||
        !set_limits(script, error)) {
        script_free(script);
        return NULL;
    }
    return script;
}

void script_free(struct script *script)
{
    if (script == NULL)
        return;
    watchdog_free(script->dog);
    heap_free(script->heap);
    if (script->L != NULL)
        lua_close(script->L);
    script_filters_free(script);
    keep_free(script->keep);
    border_free(script->border);
    for (char **folder = script->path; *folder != NULL; folder++)
        free(*folder);
    free(script->path);
    free(script);
}

/* ---- running ---- */

static enum script_result classify(const struct script *script, int status,
                                   bool stopped)
{
    const struct border *border = script->border;

    if (status == 0)
        return SCRIPT_DONE;
    if (stopped)
        return SCRIPT_BUDGET;
    if (is_out_of_memory(script, status))
        return SCRIPT_NO_MEMORY;
    if (border->breach != 0)
        return (enum script_result)border->breach;
    if (border->result != 0)
        return (enum script_result)border->result;
    return SCRIPT_RAISED;
}

/* Should the call fail before it reaches any event, it is `from` that failed.
 */
static void show(struct border *border, struct script_filter *filter,
                 struct batch *batch, uint32_t from)
{
    batch->current = from;
    batch->before = batch->slots[from].edits;
    batch->mark = batch->used;
    border->counters = &filter->counters;
    border->owner = &filter->owner;
    border->tail = EVENT_END;
    border->result = SCRIPT_DONE;
    border->breach = SCRIPT_DONE;
    border->nested = 0;
    border_show(border, batch);
}

/* What a call that failed left behind. */
static void take_back(struct script_filter *filter, struct batch *batch)
{
    batch->slots[batch->current].touched = 0;
    filter->counters.emitted -= batch_take_back(batch);
}

/* The clock of a trial starts with its first run. */
static bool is_over(struct script *script)
{
    if (script->stage == TRIAL) {
        watchdog_limit(script->dog, SCRIPT_TRIAL_MS);
        script->stage = TRIAL_RUNS;
    }
    if (watchdog_is_late(script->dog))
        script->stage = TRIAL_OVER;
    return script->stage == TRIAL_OVER;
}

/* What was stopped ends a trial; only its own slowness is a failure. */
static enum script_result end_trial(struct script *script)
{
    script->stage = TRIAL_OVER;
    return watchdog_is_late(script->dog) ? SCRIPT_OVER : SCRIPT_BUDGET;
}

enum script_result script_run(struct script_filter *filter, struct batch *batch,
                              uint32_t from)
{
    struct script *script = filter->script;
    enum script_result result;
    bool stopped;
    int status;

    if (from == EVENT_END)
        return SCRIPT_DONE;
    if (script->stage != IN_FORCE && is_over(script))
        return SCRIPT_OVER;
    assert(from < batch->used);
    show(script->border, filter, batch, from);
    lua_rawgeti(script->L, LUA_REGISTRYINDEX, filter->run);
    lua_pushinteger(script->L, (lua_Integer)from);
    watchdog_begin(script->dog, filter->path, batch, script->limits.event_ms);
    status = script_call(script, 1);
    stopped = watchdog_end(script->dog);
    border_show(script->border, NULL);
    result = classify(script, status, stopped);
    if (result != SCRIPT_DONE)
        take_back(filter, batch);
    script_tell_limit(script, filter->path, status, stopped);
    tidy(script);
    if (stopped && script->stage != IN_FORCE)
        return end_trial(script);
    return result;
}

const char *script_error_text(const struct script *script)
{
    return script->error;
}

bool script_is_over(const struct script *script)
{
    return script->stage == TRIAL_OVER;
}

const struct keep *script_keep(const struct script *script)
{
    return script->keep;
}

void script_print_metrics(const struct script *script, struct metrics *out)
{
    metric_list_print(script->border->metric_list, out);
}

void script_save(struct script *script)
{
    kept_save(script->L, script->border, script->loader);
}

size_t script_memory(const struct script *script)
{
    return (size_t)lua_gc(script->L, LUA_GCCOUNT, 0) * 1024 +
           (size_t)lua_gc(script->L, LUA_GCCOUNTB, 0);
}

/*
 * A script as a Lua object, for the specs of scripts and filters.
 *
 *   script = gateway.script { path = {…}, streams = {…}, sources = {…},
 *     limits = { event = 20, memory = 2 ^ 24, jit = "off" },   ms, bytes
 *     trial = true }
 *   filter = script:load("route.lua", "{ route: { a: x } }")   options as YAML
 *   report = script:run(payload, { filter, … }, "lose" or "pass")
 *
 * Runs payloads through the real batch reader.  What fails comes as nil and a
 * text.
 */
#include "script/script.h"
#include "base/buffer.h"
#include "base/config_yaml.h"
#include "base/memory.h"
#include "codec/batch.h"
#include "script/module/module.h"

#include <inttypes.h>
#include <lauxlib.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char type_name[] = "gateway.script";

enum { NAMES_MAX = 512, MODULE_FILTERS_MAX = 256 };

struct names {
    char *items[NAMES_MAX + 1]; /* closed by NULL */
    size_t count;
};

struct object {
    struct script *script;
    struct batch *batch;
    struct batch_reader *reader;
    struct script_filter *filters[MODULE_FILTERS_MAX];
    int count;
    struct names path, streams, sources;
};

static struct object *check_object(lua_State *L)
{
    return luaL_checkudata(L, 1, type_name);
}

static int push_failure(lua_State *L, const char *text)
{
    lua_pushnil(L);
    lua_pushstring(L, text);
    return 2;
}

/* ---- gateway.script ---- */

static void read_names(lua_State *L, const char *key, struct names *names)
{
    lua_getfield(L, 1, key);
    names->count = lua_istable(L, -1) ? lua_objlen(L, -1) : 0;
    luaL_argcheck(L, names->count <= NAMES_MAX, 1, "too many names");
    for (size_t i = 0; i < names->count; i++) {
        size_t size;
        const char *name;

        lua_rawgeti(L, -1, (int)i + 1);
        name = luaL_checklstring(L, -1, &size);
        names->items[i] = memory_text(name, size);
        lua_pop(L, 1);
    }
    lua_pop(L, 1);
}

static void free_names(struct names *names)
{
    for (size_t i = 0; i < NAMES_MAX && names->items[i] != NULL; i++)
        free(names->items[i]);
}

static void read_limit(lua_State *L, const char *name, uint64_t *limit)
{
    lua_getfield(L, -1, name);
    *limit = (uint64_t)luaL_optnumber(L, -1, (lua_Number)*limit);
    lua_pop(L, 1);
}

static struct config_limits read_limits(lua_State *L)
{
    static const char *const words[] = {"auto", "on", "off", NULL};
    struct config_limits limits = config_limits_default();

    lua_getfield(L, 1, "limits");
    if (lua_istable(L, -1)) {
        read_limit(L, "event", &limits.event_ms);
        read_limit(L, "load", &limits.load_ms);
        read_limit(L, "stuck", &limits.stuck_ms);
        read_limit(L, "memory", &limits.memory);
        lua_getfield(L, -1, "jit");
        limits.jit = (enum config_jit)luaL_checkoption(L, -1, "auto", words);
        lua_pop(L, 1);
    }
    lua_pop(L, 1);
    return limits;
}

static bool read_trial(lua_State *L)
{
    bool trial;

    lua_getfield(L, 1, "trial");
    trial = lua_toboolean(L, -1);
    lua_pop(L, 1);
    return trial;
}

static struct script *make_script(lua_State *L, const struct object *object,
                                  struct error *error)
{
    struct script_world world = {
        .path = object->path.items,
        .streams = (const char *const *)object->streams.items,
        .stream_count = object->streams.count,
        .sources = (const char *const *)object->sources.items,
        .source_count = object->sources.count,
        .limits = read_limits(L),
        .trial = read_trial(L)};

    return script_new(&world, error);
}

static int object_new(lua_State *L)
{
    struct object *object;
    struct error error = {0};

    luaL_checktype(L, 1, LUA_TTABLE);
    object = lua_newuserdata(L, sizeof *object);
    memset(object, 0, sizeof *object);
    luaL_getmetatable(L, type_name);
    lua_setmetatable(L, -2);
    read_names(L, "path", &object->path);
    read_names(L, "streams", &object->streams);
    read_names(L, "sources", &object->sources);
    object->batch = batch_new((uint32_t)(object->streams.count + 63) / 64);
    object->reader = batch_reader_new();
    object->script = make_script(L, object, &error);
    return object->script == NULL ? push_failure(L, error.text) : 1;
}

static int object_gc(lua_State *L)
{
    struct object *object = check_object(L);

    script_free(object->script);
    batch_reader_free(object->reader);
    batch_free(object->batch);
    free_names(&object->path);
    free_names(&object->streams);
    free_names(&object->sources);
    return 0;
}

/* ---- script:load and what is known of a filter ---- */

static bool read_options(const char *text, size_t size,
                         struct config_value *options, struct buffer *mistakes)
{
    struct config_mistakes found = {0};

    config_yaml_read(text, size, options, &found);
    config_mistakes_print(&found, "options", mistakes);
    config_mistakes_free(&found);
    return mistakes->size == 0;
}

/* script:load(name, yaml) -> filter, or nil and what is wrong */
static int object_load(lua_State *L)
{
    struct object *object = check_object(L);
    const char *name = luaL_checkstring(L, 2);
    size_t size;
    const char *text = luaL_optlstring(L, 3, "{}", &size);
    struct config_value options = {0};
    struct buffer mistakes = {0};
    struct error error = {0};
    struct script_filter *filter = NULL;
    uint32_t position = (uint32_t)object->count + 1;

    luaL_argcheck(L, object->count < MODULE_FILTERS_MAX, 1, "too many filters");
    if (read_options(text, size, &options, &mistakes))
        filter = script_load(object->script,
                             &(struct script_wanted){.name = name,
                                                     .options = &options,
                                                     .position = position},
                             &error);
    else
        error_set(&error, "%s", buffer_text(&mistakes));
    config_value_clear(&options);
    buffer_free(&mistakes);
    if (filter == NULL)
        return push_failure(L, error.text);
    object->filters[object->count++] = filter;
    lua_pushinteger(L, object->count);
    return 1;
}

static struct script_filter *check_filter(lua_State *L, struct object *object,
                                          int index)
{
    lua_Integer number = luaL_checkinteger(L, index);

    luaL_argcheck(L, number >= 1 && number <= object->count, index,
                  "no such filter");
    return object->filters[number - 1];
}

/* script:about(filter) -> { path, signature, kept, … } */
static int object_about(lua_State *L)
{
    struct script_filter *filter = check_filter(L, check_object(L), 2);
    const struct filter_counters *counters = script_filter_counters(filter);
    const struct {
        const char *name;
        uint64_t value;
    } list[] = {{"kept", counters->kept},
                {"dropped", counters->dropped},
                {"rewritten", counters->rewritten},
                {"split", counters->split},
                {"emitted", counters->emitted}};
    char signature[17];

    snprintf(signature, sizeof signature, "%016" PRIx64,
             script_filter_signature(filter));
    lua_newtable(L);
    lua_pushstring(L, script_filter_path(filter));
    lua_setfield(L, -2, "path");
    lua_pushstring(L, signature);
    lua_setfield(L, -2, "signature");
    for (size_t i = 0; i < sizeof list / sizeof *list; i++) {
        lua_pushnumber(L, (lua_Number)list[i].value);
        lua_setfield(L, -2, list[i].name);
    }
    return 1;
}

static int object_memory(lua_State *L)
{
    lua_pushnumber(L, (lua_Number)script_memory(check_object(L)->script));
    return 1;
}

/* ---- script:run ---- */

static const char *state_name(uint8_t state)
{
    static const char *const names[] = {[EVENT_LIVE] = "live",
                                        [EVENT_DROPPED] = "dropped",
                                        [EVENT_LOST] = "lost"};

    return names[state];
}

/* What a failed filter leaves behind, as the relay does it. */
static void settle(struct batch *batch, bool pass)
{
    struct event *event = &batch->slots[batch->current];

    if (pass)
        event->edits = batch->before;
    else
        event->state = EVENT_LOST;
}

/* Append { slot, result, error } to the list `failures`. */
static void push_result(lua_State *L, int failures, const struct object *object,
                        enum script_result result)
{
    lua_newtable(L);
    lua_pushinteger(L, (lua_Integer)object->batch->current);
    lua_setfield(L, -2, "slot");
    lua_pushstring(L, script_result_text(result));
    lua_setfield(L, -2, "result");
    lua_pushstring(L, script_error_text(object->script));
    lua_setfield(L, -2, "error");
    lua_rawseti(L, failures, (int)lua_objlen(L, failures) + 1);
}

static void run_filter(lua_State *L, int failures, const struct object *object,
                       struct script_filter *filter, bool pass)
{
    struct batch *batch = object->batch;
    uint32_t from = batch->head;

    while (from != EVENT_END) {
        enum script_result result = script_run(filter, batch, from);

        if (result == SCRIPT_DONE)
            return;
        push_result(L, failures, object, result);
        settle(batch, pass);
        from = batch->slots[batch->current].next;
    }
}

static void push_reach(lua_State *L, const struct object *object, uint32_t slot)
{
    const struct batch *batch = object->batch;
    const uint64_t *reach = batch->reach + (size_t)slot * batch->words;
    int count = 0;

    lua_newtable(L);
    for (size_t i = 0; i < object->streams.count; i++) {
        if (!(reach[i / 64] >> i % 64 & 1))
            continue;
        lua_pushstring(L, object->streams.items[i]);
        lua_rawseti(L, -2, ++count);
    }
}

static void push_bytes(lua_State *L, const struct event *event)
{
    struct buffer out = {0};
    uint8_t *start = buffer_reserve(&out, event_write_bound(event));

    out.size = (size_t)(event_write(event, NULL, start) - start);
    lua_pushlstring(L, (const char *)out.data, out.size);
    buffer_free(&out);
}

/* Append { slot, state, reach, bytes } to the list `events`. */
static void push_event(lua_State *L, int events, const struct object *object,
                       uint32_t slot)
{
    const struct event *event = &object->batch->slots[slot];

    lua_newtable(L);
    lua_pushinteger(L, (lua_Integer)slot);
    lua_setfield(L, -2, "slot");
    lua_pushstring(L, state_name(event->state));
    lua_setfield(L, -2, "state");
    push_reach(L, object, slot);
    lua_setfield(L, -2, "reach");
    if (event->bytes != NULL) {
        push_bytes(L, event);
        lua_setfield(L, -2, "bytes");
    }
    lua_rawseti(L, events, (int)lua_objlen(L, events) + 1);
}

static void fill_reach(const struct batch *batch)
{
    for (uint32_t slot = 0; slot < batch->used; slot++)
        memset(batch->reach + (size_t)slot * batch->words, 0xff,
               batch->words * sizeof *batch->reach);
}

/* One window: arguments 1 to 4 of script:run, then the two lists. */
static void run_window(lua_State *L, const struct object *object, bool pass)
{
    struct batch *batch = object->batch;

    fill_reach(batch);
    for (size_t i = 1; i <= lua_objlen(L, 3); i++) {
        lua_rawgeti(L, 3, (int)i);
        run_filter(L, 6, object, check_filter(L, (struct object *)object, -1),
                   pass);
        lua_pop(L, 1);
    }
    for (uint32_t slot = batch->head; slot != EVENT_END;
         slot = batch->slots[slot].next)
        push_event(L, 5, object, slot);
}

/* script:run(payload, filters, on_error) -> { events, failures } */
static int object_run(lua_State *L)
{
    static const char *const fates[] = {"lose", "pass", NULL};
    struct object *object = check_object(L);
    struct batch_header header;
    size_t size;
    const char *payload = luaL_checklstring(L, 2, &size);
    bool pass;
    enum batch_fault fault;

    luaL_checktype(L, 3, LUA_TTABLE);
    pass = luaL_checkoption(L, 4, "lose", fates) == 1;
    lua_settop(L, 4);
    lua_newtable(L);
    lua_newtable(L); /* stack: arguments, events, failures */
    fault = batch_open(object->reader, object->batch, (const uint8_t *)payload,
                       size, &header);
    if (fault != BATCH_OK)
        return push_failure(L, batch_fault_text(fault));
    object->batch->timestamp = header.timestamp;
    object->batch->rank = header.rank;
    while (batch_next(object->reader, object->batch) > 0)
        run_window(L, object, pass);
    batch_close(object->batch);
    lua_newtable(L);
    lua_insert(L, 5); /* stack: arguments, report, events, failures */
    lua_setfield(L, 5, "failures");
    lua_setfield(L, 5, "events");
    return 1;
}

static const luaL_Reg methods[] = {{"load", object_load},
                                   {"about", object_about},
                                   {"memory", object_memory},
                                   {"run", object_run},
                                   {NULL, NULL}};

static const luaL_Reg functions[] = {{"script", object_new}, {NULL, NULL}};

void module_script(lua_State *L)
{
    module_class(L, type_name, methods, object_gc);
    luaL_register(L, NULL, functions);
}

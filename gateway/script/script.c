#include "script/script.h"

#include "base/log.h"
#include "base/memory.h"
#include "codec/batch.h"
#include "codec/field.h"
#include "script/border.h"
#include "script/embedded.h"
#include "script/finder.h"
#include "script/options.h"
#include "script/signature.h"

#include <assert.h>
#include <lauxlib.h>
#include <lua.h>
#include <luajit.h>
#include <lualib.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

_Static_assert((int)SCRIPT_NO_VERDICT == (int)BORDER_NO_VERDICT, "one enum");
_Static_assert((int)SCRIPT_BAD_STREAM == (int)BORDER_BAD_STREAM, "one enum");
_Static_assert((int)SCRIPT_TOO_MANY == (int)BORDER_TOO_MANY, "one enum");
_Static_assert((int)SCRIPT_NO_MEMORY == (int)BORDER_NO_MEMORY, "one enum");

struct script_filter {
    struct script_filter *older;
    struct script *script;
    struct filter_counters counters;
    char *path;
    uint64_t signature;
    int run; /* registry reference of the driver's function */
};

/* References into the registry are made once, because looking a name up may
 * allocate, and nothing that allocates is called outside a protected call. */
struct script {
    lua_State *L;
    struct border *border;
    struct script_filter *filters;
    char **path;
    int describe; /* fault.describe */
    int loader;   /* the table of lua/kvgate/loader.lua */
    int load;     /* load_filter, below */
    char error[4096];
};

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

/* Call what is on the stack, `arguments` under the top; drops all results.
 * On failure the message is in script->error.  Returns lua_pcall's status. */
static int call(struct script *script, int arguments)
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

/* ---- a new state ---- */

static void open_libraries(lua_State *L)
{
    static const luaL_Reg libraries[] = {{"", luaopen_base},
                                         {LUA_LOADLIBNAME, luaopen_package},
                                         {LUA_TABLIBNAME, luaopen_table},
                                         {LUA_STRLIBNAME, luaopen_string},
                                         {LUA_MATHLIBNAME, luaopen_math},
                                         {LUA_OSLIBNAME, luaopen_os},
                                         {LUA_DBLIBNAME, luaopen_debug},
                                         {LUA_BITLIBNAME, luaopen_bit},
                                         {LUA_JITLIBNAME, luaopen_jit},
                                         {LUA_FFILIBNAME, luaopen_ffi},
                                         {NULL, NULL}};

    for (const luaL_Reg *library = libraries; library->func != NULL;
         library++) {
        lua_pushcfunction(L, library->func);
        lua_pushstring(L, library->name);
        lua_call(L, 1, 0);
    }
}

/* No module of the runtime comes from a file. */
static void seal_package(lua_State *L)
{
    lua_getglobal(L, LUA_LOADLIBNAME);
    lua_pushliteral(L, "");
    lua_setfield(L, -2, "path");
    lua_pushliteral(L, "");
    lua_setfield(L, -2, "cpath");
    lua_pop(L, 1);
}

/* Many filters make many traces; the defaults are for one program. */
static void tune_compiler(lua_State *L)
{
    static const char *const options[] = {"maxtrace=4000", "maxmcode=4096",
                                          "maxside=200", NULL};

    lua_getglobal(L, LUA_JITLIBNAME);
    lua_getfield(L, -1, "opt");
    for (const char *const *option = options; *option != NULL; option++) {
        lua_getfield(L, -1, "start");
        lua_pushstring(L, *option);
        lua_call(L, 1, 0);
    }
    lua_pop(L, 2); /* stack: as found */
}

static bool is_declaration(const struct embedded_file *file)
{
    return strstr(file->name, ".lua") == NULL;
}

static void declare(lua_State *L, const struct embedded_file *file)
{
    lua_getglobal(L, "require");
    lua_pushliteral(L, "ffi");
    lua_call(L, 1, 1);
    lua_getfield(L, -1, "cdef");
    lua_pushlstring(L, file->text, file->size);
    lua_call(L, 1, 0);
    lua_pop(L, 1);
}

/* Make an embedded module loadable: package.preload["kvgate.x"] = its chunk. */
static void preload(lua_State *L, const struct embedded_file *file)
{
    char name[64];
    char chunk[64];

    snprintf(chunk, sizeof chunk, "=%s", file->name);
    snprintf(name, sizeof name, "kvgate.%.*s",
             (int)(strlen(file->name) - strlen("kvgate/.lua")),
             file->name + strlen("kvgate/"));
    lua_getglobal(L, LUA_LOADLIBNAME);
    lua_getfield(L, -1, "preload");
    if (luaL_loadbuffer(L, file->text, file->size, chunk) != 0)
        lua_error(L);
    lua_setfield(L, -2, name);
    lua_pop(L, 2);
}

static void embed(lua_State *L)
{
    for (const struct embedded_file *file = embedded_files; file->name != NULL;
         file++) {
        if (is_declaration(file))
            declare(L, file);
        else
            preload(L, file);
    }
}

static const char *embedded_text(const char *name)
{
    const struct embedded_file *file = embedded_files;

    while (file->name != NULL && strcmp(file->name, name) != 0)
        file++;
    return file->text;
}

/* ---- what the runtime may know: package.loaded["kvgate.world"] ---- */

static void push_names(lua_State *L, const char *const *names, size_t count)
{
    lua_createtable(L, (int)count, 0);
    for (size_t i = 0; i < count; i++) {
        lua_pushstring(L, names[i]);
        lua_rawseti(L, -2, (int)i + 1);
    }
}

static void push_indexes(lua_State *L, const char *const *names, size_t count)
{
    lua_createtable(L, 0, (int)count);
    for (size_t i = 0; i < count; i++) {
        lua_pushinteger(L, (lua_Integer)i);
        lua_setfield(L, -2, names[i]);
    }
}

static const char *kind_name(enum field_kind kind)
{
    static const char *const names[] = {[FIELD_KIND_TEXT] = "text",
                                        [FIELD_KIND_NUMBER] = "number",
                                        [FIELD_KIND_U64] = "u64",
                                        [FIELD_KIND_HASHES] = "hashes",
                                        [FIELD_KIND_LIST] = "list"};

    return names[kind];
}

static void push_fields(lua_State *L)
{
    lua_createtable(L, EVENT_FIELDS, 0);
    for (int i = 0; i < EVENT_FIELDS; i++) {
        lua_createtable(L, 0, 2);
        lua_pushstring(L, field_table[i].name);
        lua_setfield(L, -2, "name");
        lua_pushstring(L, kind_name(field_table[i].kind));
        lua_setfield(L, -2, "kind");
        lua_rawseti(L, -2, i + 1);
    }
}

/*
 * apart(f, …) calls f.  To LuaJIT, a call into C is where one trace ends and
 * the next begins.  What loops goes through here, or recording a script's own
 * loop would fail at the inner one again and again, until LuaJIT gave up on the
 * functions in between, which all filters share.
 */
static int apart(lua_State *L)
{
    lua_call(L, lua_gettop(L) - 1, 1);
    return 1;
}

static void set_world(lua_State *L, const struct script *script,
                      const struct script_world *world)
{
    lua_getglobal(L, LUA_LOADLIBNAME);
    lua_getfield(L, -1, "loaded");
    lua_newtable(L); /* stack: package, loaded, world */
    lua_pushlightuserdata(L, script->border);
    lua_setfield(L, -2, "border");
    push_indexes(L, world->streams, world->stream_count);
    lua_setfield(L, -2, "streams");
    push_names(L, world->streams, world->stream_count);
    lua_setfield(L, -2, "stream_names");
    push_names(L, world->sources, world->source_count);
    lua_setfield(L, -2, "sources");
    push_fields(L);
    lua_setfield(L, -2, "fields");
    lua_pushstring(L, embedded_text("kvgate/driver.lua"));
    lua_setfield(L, -2, "driver");
    lua_pushcfunction(L, apart);
    lua_setfield(L, -2, "apart");
    finder_push(L, script->path);
    lua_setfield(L, -2, "find");
    lua_setfield(L, -2, "kvgate.world");
    lua_pop(L, 2);
}

static void require_module(lua_State *L, const char *name)
{
    lua_getglobal(L, "require");
    lua_pushstring(L, name);
    lua_call(L, 1, 1);
}

struct opening {
    struct script *script;
    const struct script_world *world;
};

static int load_filter(lua_State *L);

static int open_state(lua_State *L)
{
    const struct opening *opening = lua_touserdata(L, 1);
    struct script *script = opening->script;

    open_libraries(L);
    seal_package(L);
    tune_compiler(L);
    embed(L);
    set_world(L, script, opening->world);
    require_module(L, "kvgate.loader");
    script->loader = luaL_ref(L, LUA_REGISTRYINDEX);
    require_module(L, "kvgate.fault");
    lua_getfield(L, -1, "describe");
    script->describe = luaL_ref(L, LUA_REGISTRYINDEX);
    lua_pushcfunction(L, load_filter);
    script->load = luaL_ref(L, LUA_REGISTRYINDEX);
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

struct script *script_new(const struct script_world *world, struct error *error)
{
    struct script *script = memory_new(sizeof *script);
    struct opening opening = {script, world};

    script->path = copy_path(world->path);
    script->border = border_new();
    script->L = luaL_newstate();
    if (script->L == NULL) {
        error_set(error, "LuaJIT cannot start: no memory for it");
        script_free(script);
        return NULL;
    }
    lua_atpanic(script->L, panic);
    if (lua_cpcall(script->L, open_state, &opening) != 0) {
        keep_error(script);
        error_set(error, "the filters' runtime cannot start: %s",
                  script->error);
        script_free(script);
        return NULL;
    }
    return script;
}

static void free_filters(struct script *script)
{
    while (script->filters != NULL) {
        struct script_filter *filter = script->filters;

        script->filters = filter->older;
        free(filter->path);
        free(filter);
    }
}

void script_free(struct script *script)
{
    if (script == NULL)
        return;
    if (script->L != NULL)
        lua_close(script->L);
    free_filters(script);
    border_free(script->border);
    for (char **folder = script->path; *folder != NULL; folder++)
        free(*folder);
    free(script->path);
    free(script);
}

/* ---- loading ---- */

struct loading {
    struct script *script;
    struct script_filter *filter;
    const char *name;
    const struct config_value *options;
};

static uint64_t sign(lua_State *L, int index,
                     const struct config_value *options)
{
    size_t size;
    const char *texts = lua_tolstring(L, index, &size);
    uint64_t signature = signature_add(SIGNATURE_EMPTY, texts, size);
    uint64_t chosen = options == NULL ? 0 : options_hash(options);

    return signature_add(signature, &chosen, sizeof chosen);
}

/* loader.load(name, options, counters) -> run, path, texts */
static int load_filter(lua_State *L)
{
    const struct loading *loading = lua_touserdata(L, 1);
    struct script_filter *filter = loading->filter;
    const struct config_value *options = loading->options;

    lua_rawgeti(L, LUA_REGISTRYINDEX, loading->script->loader);
    lua_getfield(L, 2, "load");
    lua_pushstring(L, loading->name);
    if (options == NULL || options->kind == CONFIG_NULL)
        lua_newtable(L);
    else
        options_push(L, options, loading->script->border, 2);
    lua_pushlightuserdata(L, &filter->counters);
    lua_call(L, 3, 3); /* stack: loading, loader, run, path, texts */
    filter->signature = sign(L, 5, options);
    filter->path = memory_text(lua_tostring(L, 4), lua_objlen(L, 4));
    lua_pushvalue(L, 3);
    filter->run = luaL_ref(L, LUA_REGISTRYINDEX);
    return 0;
}

struct script_filter *script_load(struct script *script, const char *name,
                                  const struct config_value *options,
                                  struct error *error)
{
    struct script_filter *filter = memory_new(sizeof *filter);
    struct loading loading = {script, filter, name, options};

    filter->script = script;
    filter->older = script->filters;
    script->filters = filter;
    lua_rawgeti(script->L, LUA_REGISTRYINDEX, script->load);
    lua_pushlightuserdata(script->L, &loading);
    if (call(script, 1) == 0)
        return filter;
    error_set(error, "%s", script->error);
    script->filters = filter->older;
    free(filter->path);
    free(filter);
    return NULL;
}

const char *script_filter_path(const struct script_filter *filter)
{
    return filter->path;
}

uint64_t script_filter_signature(const struct script_filter *filter)
{
    return filter->signature;
}

struct filter_counters *script_filter_counters(struct script_filter *filter)
{
    return &filter->counters;
}

/* ---- running ---- */

static enum script_result classify(const struct border *border, int status)
{
    if (status == LUA_ERRMEM)
        return SCRIPT_NO_MEMORY;
    if (border->breach != 0)
        return (enum script_result)border->breach;
    if (border->result != 0)
        return (enum script_result)border->result;
    return SCRIPT_RAISED;
}

enum script_result script_run(struct script_filter *filter, struct batch *batch,
                              uint32_t from)
{
    struct script *script = filter->script;
    struct border *border = script->border;
    int status;

    if (from == EVENT_END)
        return SCRIPT_DONE;
    assert(from < batch->used);
    batch->current = from;
    batch->before = batch->slots[from].edits;
    border->result = SCRIPT_DONE;
    border->breach = SCRIPT_DONE;
    border_show(border, batch);
    lua_rawgeti(script->L, LUA_REGISTRYINDEX, filter->run);
    lua_pushinteger(script->L, (lua_Integer)from);
    status = call(script, 1);
    border_show(border, NULL);
    if (status == 0)
        return SCRIPT_DONE;
    if (status == LUA_ERRMEM) /* the handler was not called */
        snprintf(script->error, sizeof script->error,
                 "%s: LuaJIT has no memory left", filter->path);
    batch->slots[batch->current].touched = 0;
    return classify(border, status);
}

const char *script_error_text(const struct script *script)
{
    return script->error;
}

size_t script_memory(const struct script *script)
{
    return (size_t)lua_gc(script->L, LUA_GCCOUNT, 0) * 1024 +
           (size_t)lua_gc(script->L, LUA_GCCOUNTB, 0);
}

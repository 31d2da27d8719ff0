#include "script/state.h"

#include "codec/field.h"
#include "script/embedded.h"
#include "script/finder.h"
#include "script/kept.h"

#include <lauxlib.h>
#include <luajit.h>
#include <lualib.h>
#include <stdio.h>
#include <string.h>

/* ---- libraries ---- */

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

static void set_world(lua_State *L, struct border *border,
                      const struct script_world *world)
{
    lua_getglobal(L, LUA_LOADLIBNAME);
    lua_getfield(L, -1, "loaded");
    lua_newtable(L); /* stack: package, loaded, world */
    lua_pushlightuserdata(L, border);
    lua_setfield(L, -2, "border");
    push_indexes(L, world->streams, world->stream_count);
    lua_setfield(L, -2, "streams");
    push_names(L, world->streams, world->stream_count);
    lua_setfield(L, -2, "stream_names");
    push_names(L, world->sources, world->source_count);
    lua_setfield(L, -2, "sources");
    push_names(L, world->causes, world->cause_count);
    lua_setfield(L, -2, "causes");
    push_fields(L);
    lua_setfield(L, -2, "fields");
    lua_pushstring(L, embedded_text("kvgate/driver.lua"));
    lua_setfield(L, -2, "driver");
    lua_pushcfunction(L, apart);
    lua_setfield(L, -2, "apart");
    finder_push(L, world->path);
    lua_setfield(L, -2, "find");
    kept_push(L, border);
    lua_setfield(L, -2, "kept");
    lua_setfield(L, -2, "kvgate.world");
    lua_pop(L, 2);
}

void state_fill(lua_State *L, struct border *border,
                const struct script_world *world)
{
    open_libraries(L);
    seal_package(L);
    tune_compiler(L);
    embed(L);
    set_world(L, border, world);
}

/*
 * The base layer for busted: a configuration as a plain table, and the small
 * writers with their arguments.  64-bit integers cross as decimal text, so that
 * none becomes a double.
 */
#include "base/config.h"
#include "base/error.h"
#include "base/json.h"
#include "base/log.h"
#include "base/metrics.h"
#include "base/nearest.h"
#include "base/text.h"
#include "script/module/module.h"

#include <inttypes.h>
#include <lauxlib.h>
#include <stdlib.h>
#include <string.h>

/* ---- config(text, path) ---- */

static void push_value(lua_State *L, const struct config_value *value);

static void push_integer_text(lua_State *L, bool wide, int64_t integer,
                              uint64_t uinteger)
{
    char digits[32];

    if (wide)
        snprintf(digits, sizeof digits, "%" PRIu64, uinteger);
    else
        snprintf(digits, sizeof digits, "%" PRId64, integer);
    lua_pushstring(L, digits);
}

/* A list of all members: of a map key, value, key, … */
static void push_members(lua_State *L, const struct config_value *value)
{
    size_t count = value->kind == CONFIG_MAP ? value->size * 2 : value->size;

    lua_newtable(L);
    for (size_t i = 0; i < count; i++) {
        push_value(L, &value->items[i]);
        lua_rawseti(L, -2, (int)i + 1);
    }
}

/* { kind, value } */
static void push_value(lua_State *L, const struct config_value *value)
{
    static const char *const kinds[] = {"null",     "bool",   "integer",
                                        "uinteger", "number", "string",
                                        "list",     "map"};

    luaL_checkstack(L, 4, "nested too deep");
    lua_createtable(L, 2, 0);
    lua_pushstring(L, kinds[value->kind]);
    lua_rawseti(L, -2, 1);
    if (value->kind == CONFIG_BOOL)
        lua_pushboolean(L, value->boolean);
    else if (value->kind == CONFIG_INTEGER || value->kind == CONFIG_UINTEGER)
        push_integer_text(L, value->kind == CONFIG_UINTEGER, value->integer,
                          value->uinteger);
    else if (value->kind == CONFIG_NUMBER)
        lua_pushnumber(L, value->number);
    else if (value->kind == CONFIG_STRING)
        lua_pushlstring(L, value->string, value->size);
    else if (value->kind == CONFIG_LIST || value->kind == CONFIG_MAP)
        push_members(L, value);
    else
        lua_pushnil(L);
    lua_rawseti(L, -2, 2);
}

static void set_text(lua_State *L, const char *name, const char *text)
{
    lua_pushstring(L, text);
    lua_setfield(L, -2, name);
}

static void set_number(lua_State *L, const char *name, double number)
{
    lua_pushnumber(L, number);
    lua_setfield(L, -2, name);
}

static void set_flag(lua_State *L, const char *name, bool flag)
{
    lua_pushboolean(L, flag);
    lua_setfield(L, -2, name);
}

static void set_socket(lua_State *L, const struct config_socket *socket)
{
    set_text(L, socket->bind ? "bind" : "connect", socket->endpoint);
    set_number(L, "hwm", socket->hwm);
    if (socket->queue_bytes != 0)
        set_number(L, "queue_bytes", (double)socket->queue_bytes);
}

static void set_filters(lua_State *L, const struct config_filters *filters)
{
    static const char *const fates[] = {"lose", "drop", "pass", "dead_letter"};

    lua_newtable(L);
    for (size_t i = 0; i < filters->count; i++) {
        lua_newtable(L);
        set_text(L, "script", filters->items[i].script);
        set_text(L, "on_error", fates[filters->items[i].on_error]);
        push_value(L, filters->items[i].options);
        lua_setfield(L, -2, "options");
        lua_rawseti(L, -2, (int)i + 1);
    }
    lua_setfield(L, -2, "filters");
}

static void set_sources(lua_State *L, const struct config *config)
{
    lua_newtable(L);
    for (size_t i = 0; i < config->source_count; i++) {
        const struct config_source *source = &config->sources[i];

        lua_newtable(L);
        set_text(L, "name", source->name);
        set_socket(L, &source->socket);
        set_text(L, "topic", source->topic);
        set_flag(L, "gap_guard", source->gap_guard);
        lua_rawseti(L, -2, (int)i + 1);
    }
    lua_setfield(L, -2, "sources");
}

/* The names of the sources that feed it. */
static void set_feeds(lua_State *L, const struct config *config,
                      const struct config_stream *stream)
{
    lua_newtable(L);
    for (size_t i = 0; i < stream->source_count; i++) {
        lua_pushstring(L, config->sources[stream->sources[i]].name);
        lua_rawseti(L, -2, (int)i + 1);
    }
    lua_setfield(L, -2, "sources");
}

static void set_accept(lua_State *L, const struct config_stream *stream)
{
    lua_newtable(L);
    for (size_t i = 0; i < stream->accept_count; i++) {
        push_members(L, stream->accept[i].values);
        lua_setfield(L, -2, stream->accept[i].field);
    }
    lua_setfield(L, -2, "accept");
}

static void set_streams(lua_State *L, const struct config *config)
{
    static const char *const ids[] = {"auto", "keep", "restamp"};

    lua_newtable(L);
    for (size_t i = 0; i < config->stream_count; i++) {
        const struct config_stream *stream = &config->streams[i];

        lua_newtable(L);
        set_text(L, "name", stream->name);
        set_socket(L, &stream->socket);
        set_text(L, "topic", stream->topic);
        set_text(L, "event_id", ids[stream->event_id]);
        set_number(L, "announce_after_ms", (double)stream->announce_after_ms);
        set_number(L, "heartbeat_ms", (double)stream->heartbeat_ms);
        set_feeds(L, config, stream);
        set_accept(L, stream);
        set_filters(L, &stream->filters);
        lua_rawseti(L, -2, (int)i + 1);
    }
    lua_setfield(L, -2, "streams");
}

static void set_dead_letters(lua_State *L, const struct config *config)
{
    if (config->dead_letters == NULL)
        return;
    lua_newtable(L);
    set_socket(L, &config->dead_letters->socket);
    set_text(L, "topic", config->dead_letters->topic);
    lua_setfield(L, -2, "dead_letters");
}

/* Where scripts are looked for when "/installed" is what is installed. */
static void set_script_path(lua_State *L, const struct config *config)
{
    static const char *const installed[] = {"/installed"};
    char **paths = config_script_path(config, installed, 1);

    lua_newtable(L);
    for (int i = 0; paths[i] != NULL; i++) {
        lua_pushstring(L, paths[i]);
        lua_rawseti(L, -2, i + 1);
    }
    lua_setfield(L, -2, "script_path");
    config_paths_free(paths);
}

static void push_config(lua_State *L, const struct config *config)
{
    lua_newtable(L);
    set_text(L, "admin_host", config->admin_host);
    set_number(L, "admin_port", config->admin_port);
    set_text(L, "log_level", config->log_level);
    set_script_path(L, config);
    set_filters(L, &config->filters);
    set_sources(L, config);
    set_streams(L, config);
    set_dead_letters(L, config);
}

/* The table, or nil and the mistakes. */
static int finish_config(lua_State *L, struct config *config,
                         struct buffer *mistakes)
{
    if (config != NULL && !config->broken)
        push_config(L, config);
    else
        lua_pushnil(L);
    lua_pushlstring(L, buffer_text(mistakes), mistakes->size);
    config_free(config);
    buffer_free(mistakes);
    return 2;
}

static int base_config(lua_State *L)
{
    size_t size;
    const char *text = luaL_checklstring(L, 1, &size);
    const char *path = luaL_optstring(L, 2, "test.yaml");
    struct buffer mistakes = {0};

    return finish_config(L, config_read(path, text, size, &mistakes),
                         &mistakes);
}

static int base_config_load(lua_State *L)
{
    struct buffer mistakes = {0};

    return finish_config(L, config_load(luaL_checkstring(L, 1), &mistakes),
                         &mistakes);
}

/* ---- writers into a buffer ---- */

static int push_buffer(lua_State *L, struct buffer *buffer)
{
    lua_pushlstring(L, buffer_text(buffer), buffer->size);
    buffer_free(buffer);
    return 1;
}

/* One call of json.h: its name at index -2, its argument at -1. */
static void call_json(lua_State *L, struct json *json)
{
    const char *call = luaL_checkstring(L, -2);
    size_t size = 0;
    const char *text = lua_tolstring(L, -1, &size);

    if (strcmp(call, "object") == 0)
        json_object(json);
    else if (strcmp(call, "array") == 0)
        json_array(json);
    else if (strcmp(call, "finish") == 0)
        json_end(json);
    else if (strcmp(call, "key") == 0)
        json_key_bytes(json, text, size);
    else if (strcmp(call, "string") == 0)
        json_string(json, text, size);
    else if (strcmp(call, "text") == 0)
        json_text(json, text);
    else if (strcmp(call, "u64") == 0)
        json_u64(json, strtoull(text, NULL, 10));
    else if (strcmp(call, "i64") == 0)
        json_i64(json, strtoll(text, NULL, 10));
    else if (strcmp(call, "double") == 0)
        json_double(json, strtod(text, NULL));
    else if (strcmp(call, "bool") == 0)
        json_bool(json, lua_toboolean(L, -1));
    else if (strcmp(call, "null") == 0)
        json_null(json);
    else
        luaL_error(L, "json has no %s", call);
}

/* json { { "array" }, { "u64", "1" }, { "finish" } } */
static int base_json(lua_State *L)
{
    struct buffer out = {0};
    struct json json = {.out = &out};

    luaL_checktype(L, 1, LUA_TTABLE);
    for (int i = 1; i <= (int)lua_objlen(L, 1); i++) {
        lua_rawgeti(L, 1, i);
        lua_rawgeti(L, -1, 1);
        lua_rawgeti(L, -2, 2);
        call_json(L, &json);
        lua_pop(L, 3);
    }
    return push_buffer(L, &out);
}

/* metrics(name, type, help, "u64" or "double", value [, label, text]{0,2}) */
static int base_metrics(lua_State *L)
{
    struct buffer out = {0};
    struct metrics metrics = {.out = &out};
    const char *value = luaL_checkstring(L, 5);
    const char *labels[4];

    for (int i = 0; i < 4; i++)
        labels[i] = luaL_optstring(L, 6 + i, NULL);
    metrics_family(&metrics, luaL_checkstring(L, 1), luaL_checkstring(L, 2),
                   luaL_checkstring(L, 3));
    if (strcmp(luaL_checkstring(L, 4), "u64") == 0)
        metrics_u64(&metrics, strtoull(value, NULL, 10), labels[0], labels[1],
                    labels[2], labels[3], NULL);
    else
        metrics_double(&metrics, strtod(value, NULL), labels[0], labels[1],
                       labels[2], labels[3], NULL);
    return push_buffer(L, &out);
}

/* log_line(unix_ms, level, text): the line as it would be written. */
static int base_log_line(lua_State *L)
{
    struct buffer line = {0};
    enum log_level level;
    size_t size;
    const char *text = luaL_checklstring(L, 3, &size);

    if (!log_level_parse(luaL_checkstring(L, 2), &level))
        return luaL_error(L, "no such level");
    log_format(&line, (int64_t)luaL_checknumber(L, 1), level, text, size);
    return push_buffer(L, &line);
}

/* log_gate { { "admit" or "close", now_ms }, … }: what each call returned. */
static int base_log_gate(lua_State *L)
{
    struct log_gate gate = {.about = "test"};

    luaL_checktype(L, 1, LUA_TTABLE);
    lua_newtable(L);
    for (int i = 1; i <= (int)lua_objlen(L, 1); i++) {
        uint64_t now;
        bool admit;

        lua_rawgeti(L, 1, i);
        lua_rawgeti(L, -1, 1);
        lua_rawgeti(L, -2, 2);
        now = (uint64_t)luaL_checknumber(L, -1);
        admit = strcmp(luaL_checkstring(L, -2), "admit") == 0;
        lua_pop(L, 3);
        if (admit)
            lua_pushboolean(L, log_gate_admit(&gate, now));
        else
            lua_pushnumber(L, (lua_Number)log_gate_close(&gate, now));
        lua_rawseti(L, 2, i);
    }
    return 1;
}

static int base_escape(lua_State *L)
{
    struct buffer out = {0};
    size_t size;
    const char *text = luaL_checklstring(L, 1, &size);

    text_escape(&out, text, size);
    return push_buffer(L, &out);
}

/* error(first, second, prefix): set twice, then prefixed. */
static int base_error(lua_State *L)
{
    struct error error = {0};

    error_set(&error, "%s", luaL_checkstring(L, 1));
    error_set(&error, "%s", luaL_checkstring(L, 2));
    error_prefix(&error, "%s", luaL_checkstring(L, 3));
    lua_pushstring(L, error.text);
    return 1;
}

/* buffer(text, times): `text` that often, put and printed in turns. */
static int base_buffer(lua_State *L)
{
    struct buffer out = {0};
    size_t size;
    const char *text = luaL_checklstring(L, 1, &size);
    int times = (int)luaL_checkinteger(L, 2);

    for (int i = 0; i < times; i++) {
        if (i % 2 == 0)
            buffer_put(&out, text, size);
        else
            buffer_print(&out, "%s", text);
    }
    return push_buffer(L, &out);
}

/* ---- nearest(word, known): the known word, and how far it is ---- */

static int base_nearest(lua_State *L)
{
    struct nearest nearest = {.word = luaL_checkstring(L, 1)};
    int count = (int)lua_objlen(L, 2);

    for (int i = 1; i <= count; i++) {
        lua_rawgeti(L, 2, i);
        nearest_offer(&nearest, luaL_checkstring(L, -1));
        lua_pop(L, 1); /* the table keeps it */
    }
    if (nearest.known == NULL)
        return 0;
    lua_pushstring(L, nearest.known);
    lua_pushinteger(L, nearest.distance);
    return 2;
}

void module_base(lua_State *L)
{
    static const luaL_Reg functions[] = {{"config", base_config},
                                         {"config_load", base_config_load},
                                         {"json", base_json},
                                         {"metrics", base_metrics},
                                         {"log_line", base_log_line},
                                         {"log_gate", base_log_gate},
                                         {"escape", base_escape},
                                         {"error", base_error},
                                         {"nearest", base_nearest},
                                         {"buffer", base_buffer},
                                         {NULL, NULL}};

    luaL_register(L, NULL, functions);
}

/*
 * Recordings for busted: `gateway.recording`.  Times cross as decimal text, so
 * that none becomes a double.
 */
#include "base/recording.h"
#include "script/module/module.h"

#include <inttypes.h>
#include <lauxlib.h>
#include <stdlib.h>

static int push_bytes(lua_State *L, struct buffer *bytes)
{
    lua_pushlstring(L, (const char *)bytes->data, bytes->size);
    buffer_free(bytes);
    return 1;
}

/* head(began_ms, { name, … }) -> bytes */
static int recording_lua_head(lua_State *L)
{
    const char *names[RECORDING_STREAMS_MAX];
    size_t count = lua_objlen(L, 2);
    struct buffer bytes = {0};

    luaL_argcheck(L, count <= RECORDING_STREAMS_MAX, 2, "too many");
    for (size_t i = 0; i < count; i++) {
        lua_rawgeti(L, 2, (int)i + 1);
        names[i] = luaL_checkstring(L, -1);
    }
    recording_put_head(&bytes, strtoull(luaL_checkstring(L, 1), NULL, 10),
                       names, count);
    return push_bytes(L, &bytes);
}

/* message(time_ns, stream, { frame, … }) -> bytes; streams count from 0 */
static int recording_lua_message(lua_State *L)
{
    struct recording_message message = {
        .time_ns = strtoull(luaL_checkstring(L, 1), NULL, 10),
        .stream = (size_t)luaL_checkinteger(L, 2),
        .frame_count = lua_objlen(L, 3)};
    struct buffer bytes = {0};

    luaL_argcheck(L, message.frame_count <= RECORDING_FRAMES_MAX, 3,
                  "too many");
    for (size_t i = 0; i < message.frame_count; i++) {
        lua_rawgeti(L, 3, (int)i + 1);
        message.frames[i].data =
            (const uint8_t *)luaL_checklstring(L, -1, &message.frames[i].size);
    }
    recording_put(&bytes, &message);
    return push_bytes(L, &bytes);
}

static void push_message(lua_State *L, const struct recording_message *message)
{
    lua_createtable(L, 0, 3);
    lua_pushfstring(L, "%d", (int)message->stream);
    lua_setfield(L, -2, "stream");
    lua_newtable(L);
    for (size_t i = 0; i < message->frame_count; i++) {
        lua_pushlstring(L, (const char *)message->frames[i].data,
                        message->frames[i].size);
        lua_rawseti(L, -2, (int)i + 1);
    }
    lua_setfield(L, -2, "frames");
}

static void push_messages(lua_State *L, struct recording *recording,
                          struct error *error)
{
    struct recording_message message;
    char digits[24];

    lua_newtable(L);
    for (int i = 1; recording_next(recording, &message, error); i++) {
        push_message(L, &message);
        snprintf(digits, sizeof digits, "%" PRIu64, message.time_ns);
        lua_pushstring(L, digits);
        lua_setfield(L, -2, "time_ns");
        lua_rawseti(L, -2, i);
    }
}

static void push_head(lua_State *L, const struct recording *recording)
{
    char digits[24];

    lua_createtable(L, 0, 2);
    snprintf(digits, sizeof digits, "%" PRIu64, recording_began_ms(recording));
    lua_pushstring(L, digits);
    lua_setfield(L, -2, "began_ms");
    lua_newtable(L);
    for (size_t i = 0; i < recording_stream_count(recording); i++) {
        lua_pushstring(L, recording_stream_name(recording, i));
        lua_rawseti(L, -2, (int)i + 1);
    }
    lua_setfield(L, -2, "streams");
}

/* read(path) -> { began_ms, streams, messages, error }, or nil and why.  Reads
 * it twice: what comes the second time is what is told. */
static int recording_lua_read(lua_State *L)
{
    struct error error = {0};
    struct recording *recording =
        recording_open(luaL_checkstring(L, 1), &error);
    struct recording_message message;

    if (recording == NULL) {
        lua_pushnil(L);
        lua_pushstring(L, error.text);
        return 2;
    }
    push_head(L, recording);
    while (recording_next(recording, &message, &error))
        continue;
    error = (struct error){0};
    recording_rewind(recording, &error);
    push_messages(L, recording, &error);
    lua_setfield(L, -2, "messages");
    if (error_is_set(&error)) {
        lua_pushstring(L, error.text);
        lua_setfield(L, -2, "error");
    }
    recording_close(recording);
    return 1;
}

void module_recording(lua_State *L)
{
    static const luaL_Reg functions[] = {
        {"head", recording_lua_head},
        {"message", recording_lua_message},
        {"read", recording_lua_read},
        {NULL, NULL},
    };

    lua_newtable(L);
    luaL_setfuncs(L, functions, 0);
    lua_setfield(L, -2, "recording");
}

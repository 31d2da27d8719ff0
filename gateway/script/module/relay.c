/*
 * The relay as a Lua object: what the daemon does to it, with a recorder for
 * sockets and the caller for a clock.  Numbers cross as 8-byte strings, so that
 * no 64-bit value becomes a double.
 */
#include "relay/relay.h"
#include "base/memory.h"
#include "relay/pipeline.h"
#include "relay/report.h"
#include "relay/sequence.h"
#include "relay/stream.h"
#include "relay/trial.h"
#include "script/module/module.h"

#include <lauxlib.h>
#include <stdlib.h>
#include <string.h>

/* One message that a stream sent. */
struct sent {
    struct sent *next;
    uint64_t sequence;
    bool forwarded;
    char *topic;
    size_t topic_size;
    char *payload;
    size_t payload_size;
};

struct recorder {
    struct recorder *next;
    struct sent *first, **last;
    uint64_t refuse; /* sends still to be refused */
};

/* The userdata behind a relay object. */
struct subject {
    struct relay *relay;
    struct config *config;
    struct recorder *recorders; /* live as long as the object */
    struct relay_now now;
    char *path;
    const char **installed; /* strings of its own */
    size_t installed_count;
    bool silent; /* log nothing of what is lost */
};

static const char type_name[] = "gateway.relay";

static bool record(void *context, const struct sink_head *head,
                   const void *payload, size_t size, bool forwarded)
{
    struct recorder *recorder = context;
    struct sent *sent;

    if (recorder->refuse > 0) {
        recorder->refuse--;
        return false;
    }
    sent = memory_new(sizeof *sent);
    *sent = (struct sent){.sequence = head->sequence,
                          .forwarded = forwarded,
                          .topic = memory_text(head->topic, head->topic_size),
                          .topic_size = head->topic_size,
                          .payload = memory_text(payload, size),
                          .payload_size = size};
    *recorder->last = sent;
    recorder->last = &sent->next;
    return true;
}

static bool record_send(void *context, const struct sink_head *head,
                        struct buffer *payload, size_t start)
{
    return record(context, head, payload->data + start, payload->size - start,
                  false);
}

static bool record_forward(void *context, const struct sink_head *head,
                           const struct message *message)
{
    return record(context, head, message->payload, message->payload_size, true);
}

static struct sent *sent_free(struct sent *sent)
{
    struct sent *next = sent->next;

    free(sent->topic);
    free(sent->payload);
    free(sent);
    return next;
}

static struct recorder *add_recorder(struct subject *subject)
{
    struct recorder *recorder = memory_new(sizeof *recorder);

    recorder->last = &recorder->first;
    recorder->next = subject->recorders;
    subject->recorders = recorder;
    return recorder;
}

static void give_sinks(struct subject *subject)
{
    for (size_t i = 0; i < relay_stream_count(subject->relay); i++)
        if (relay_stream(subject->relay, i)->sink.context == NULL)
            relay_set_sink(subject->relay, i,
                           (struct sink){.context = add_recorder(subject),
                                         .send = record_send,
                                         .forward = record_forward});
}

/* Adopt a configuration, the first or a next one; `told` is what was wrong, or
 * else which state starts anew. */
static bool configure(struct subject *subject, const char *text, size_t size,
                      struct trial *trial, struct buffer *told)
{
    struct config *config = config_read(subject->path, text, size, told);
    struct plan *plan;

    if (config == NULL)
        return false;
    plan = trial_plan(trial, subject->relay, config, subject->installed,
                      subject->installed_count, false, told);
    if (plan == NULL) {
        config_free(config);
        return false;
    }
    trial_tell_state(subject->relay, plan, told);
    relay_adopt(subject->relay, plan, subject->now);
    config_free(subject->config);
    subject->config = config;
    give_sinks(subject);
    if (subject->silent)
        relay_silence(subject->relay);
    return true;
}

static struct subject *check_subject(lua_State *L)
{
    return luaL_checkudata(L, 1, type_name);
}

static int raise_mistakes(lua_State *L, struct buffer *mistakes)
{
    lua_pushstring(L, buffer_text(mistakes));
    buffer_free(mistakes);
    return lua_error(L);
}

static void read_options(lua_State *L, int at, struct subject *subject)
{
    lua_getfield(L, at, "path");
    subject->path = memory_text(luaL_optstring(L, -1, "test.yaml"),
                                strlen(luaL_optstring(L, -1, "test.yaml")));
    lua_getfield(L, at, "installed");
    if (lua_istable(L, -1)) {
        subject->installed_count = lua_objlen(L, -1);
        subject->installed =
            memory_new(subject->installed_count * sizeof(char *));
        for (size_t i = 0; i < subject->installed_count; i++) {
            lua_rawgeti(L, -1, (int)i + 1);
            subject->installed[i] =
                memory_text(luaL_checkstring(L, -1), lua_objlen(L, -1));
            lua_pop(L, 1);
        }
    }
    lua_getfield(L, at, "silent");
    subject->silent = lua_toboolean(L, -1);
    lua_pop(L, 3);
}

/* relay(yaml [, { path = , installed = { … }, silent = }]) */
static int new_relay(lua_State *L)
{
    size_t size;
    const char *text = luaL_checklstring(L, 1, &size);
    struct buffer mistakes = {0};
    struct subject *subject;
    struct trial trial;

    lua_settop(L, 2);
    if (lua_isnil(L, 2)) {
        lua_newtable(L);
        lua_replace(L, 2);
    }
    subject = lua_newuserdata(L, sizeof *subject);
    memset(subject, 0, sizeof *subject);
    luaL_getmetatable(L, type_name);
    lua_setmetatable(L, -2);
    subject->relay = relay_new();
    read_options(L, 2, subject);
    if (!configure(subject, text, size, &trial, &mistakes))
        return raise_mistakes(L, &mistakes);
    return 1;
}

static int free_relay(lua_State *L)
{
    struct subject *subject = check_subject(L);

    relay_free(subject->relay);
    config_free(subject->config);
    for (struct recorder *at = subject->recorders, *next; at; at = next) {
        next = at->next;
        while (at->first != NULL)
            at->first = sent_free(at->first);
        free(at);
    }
    for (size_t i = 0; i < subject->installed_count; i++)
        free((char *)subject->installed[i]);
    free(subject->installed);
    free(subject->path);
    memset(subject, 0, sizeof *subject);
    return 0;
}

static size_t check_source(lua_State *L, struct subject *subject)
{
    const char *name = luaL_checkstring(L, 2);

    for (size_t i = 0; i < relay_source_count(subject->relay); i++)
        if (strcmp(subject->config->sources[i].name, name) == 0)
            return i;
    return (size_t)luaL_error(L, "no source is called %s", name);
}

static size_t check_stream(lua_State *L, struct subject *subject)
{
    const char *name = luaL_checkstring(L, 2);

    for (size_t i = 0; i < relay_stream_count(subject->relay); i++)
        if (strcmp(relay_stream(subject->relay, i)->name, name) == 0)
            return i;
    return (size_t)luaL_error(L, "no stream is called %s", name);
}

static void receive(lua_State *L, struct subject *subject, size_t source,
                    const struct message *message, int more)
{
    relay_receive(subject->relay, source, message, subject->now);
    if (!lua_toboolean(L, more))
        relay_idle(subject->relay, subject->now);
}

/* relay:receive(source, number or 8 bytes, payload [, more]) */
static int relay_lua_receive(lua_State *L)
{
    struct subject *subject = check_subject(L);
    size_t source = check_source(L, subject);
    uint8_t number[8];
    struct message message = {.frames = 3, .origin = subject};

    if (lua_type(L, 3) == LUA_TNUMBER) {
        seq_write((uint64_t)lua_tonumber(L, 3), number);
        message.sequence = number;
        message.sequence_size = sizeof number;
    } else {
        message.sequence =
            (const uint8_t *)luaL_checklstring(L, 3, &message.sequence_size);
    }
    message.payload =
        (const uint8_t *)luaL_checklstring(L, 4, &message.payload_size);
    receive(L, subject, source, &message, 5);
    return 0;
}

/* relay:receive_frames(source, { frame, … } [, more]) */
static int relay_lua_receive_frames(lua_State *L)
{
    struct subject *subject = check_subject(L);
    size_t source = check_source(L, subject);
    struct message message = {.frames = lua_objlen(L, 3)};

    lua_settop(L, 4);
    lua_rawgeti(L, 3, 2);
    lua_rawgeti(L, 3, 3);
    message.sequence =
        (const uint8_t *)lua_tolstring(L, 5, &message.sequence_size);
    message.payload =
        (const uint8_t *)lua_tolstring(L, 6, &message.payload_size);
    receive(L, subject, source, &message, 4);
    return 0;
}

static int relay_lua_idle(lua_State *L)
{
    struct subject *subject = check_subject(L);

    relay_idle(subject->relay, subject->now);
    return 0;
}

/* relay:tick(steady_ms [, wall_ms]) sets the clock and returns how many
 * milliseconds the relay may sleep. */
static int relay_lua_tick(lua_State *L)
{
    struct subject *subject = check_subject(L);

    subject->now.steady_ms = (uint64_t)luaL_checknumber(L, 2);
    subject->now.wall_ms =
        (uint64_t)luaL_optnumber(L, 3, (lua_Number)subject->now.wall_ms);
    lua_pushnumber(L, (lua_Number)relay_tick(subject->relay, subject->now));
    return 1;
}

static int relay_lua_stop(lua_State *L)
{
    struct subject *subject = check_subject(L);

    relay_stop(subject->relay, subject->now);
    return 0;
}

static void push_sent(lua_State *L, const struct sent *sent)
{
    uint8_t bytes[8];

    seq_write(sent->sequence, bytes);
    lua_createtable(L, 0, 5);
    lua_pushnumber(L, (lua_Number)sent->sequence);
    lua_setfield(L, -2, "sequence");
    lua_pushlstring(L, (const char *)bytes, sizeof bytes);
    lua_setfield(L, -2, "sequence_bytes");
    lua_pushlstring(L, sent->topic, sent->topic_size);
    lua_setfield(L, -2, "topic");
    lua_pushlstring(L, sent->payload, sent->payload_size);
    lua_setfield(L, -2, "payload");
    lua_pushboolean(L, sent->forwarded);
    lua_setfield(L, -2, "forwarded");
}

/* relay:sent(stream): what it sent since the last call. */
static int relay_lua_sent(lua_State *L)
{
    struct subject *subject = check_subject(L);
    size_t stream = check_stream(L, subject);
    struct recorder *recorder =
        relay_stream(subject->relay, stream)->sink.context;

    lua_newtable(L);
    for (int i = 1; recorder->first != NULL; i++) {
        push_sent(L, recorder->first);
        lua_rawseti(L, -2, i);
        recorder->first = sent_free(recorder->first);
    }
    recorder->last = &recorder->first;
    return 1;
}

/* relay:refuse(stream, count): its next sends fail. */
static int relay_lua_refuse(lua_State *L)
{
    struct subject *subject = check_subject(L);
    size_t stream = check_stream(L, subject);
    struct recorder *recorder =
        relay_stream(subject->relay, stream)->sink.context;

    recorder->refuse = (uint64_t)luaL_checknumber(L, 3);
    return 0;
}

/* relay:reload(yaml): true and how many recent messages it was tried on, or
 * nil and the mistakes. */
static int relay_lua_reload(lua_State *L)
{
    struct subject *subject = check_subject(L);
    size_t size;
    const char *text = luaL_checklstring(L, 2, &size);
    struct buffer told = {0};
    struct trial trial;
    bool done = configure(subject, text, size, &trial, &told);

    if (done) {
        lua_pushboolean(L, true);
        lua_pushinteger(L, (lua_Integer)trial.tried);
    } else {
        lua_pushnil(L);
    }
    lua_pushstring(L, buffer_text(&told));
    buffer_free(&told);
    return done ? 3 : 2;
}

/* relay:failure(): what the last error of a filter said. */
static int relay_lua_failure(lua_State *L)
{
    struct subject *subject = check_subject(L);

    lua_pushstring(L,
                   script_error_text(relay_pipeline(subject->relay)->script));
    return 1;
}

static int push_report(lua_State *L,
                       void (*report)(const struct relay *, struct buffer *))
{
    struct subject *subject = check_subject(L);
    struct buffer out = {0};

    report(subject->relay, &out);
    lua_pushlstring(L, (const char *)out.data, out.size);
    buffer_free(&out);
    return 1;
}

static int relay_lua_status(lua_State *L)
{
    return push_report(L, report_status);
}

static int relay_lua_metrics(lua_State *L)
{
    return push_report(L, report_metrics);
}

static const luaL_Reg relay_methods[] = {
    {"receive", relay_lua_receive},
    {"receive_frames", relay_lua_receive_frames},
    {"idle", relay_lua_idle},
    {"tick", relay_lua_tick},
    {"stop", relay_lua_stop},
    {"sent", relay_lua_sent},
    {"refuse", relay_lua_refuse},
    {"reload", relay_lua_reload},
    {"failure", relay_lua_failure},
    {"status", relay_lua_status},
    {"metrics", relay_lua_metrics},
    {NULL, NULL},
};

void module_relay(lua_State *L)
{
    static const luaL_Reg functions[] = {
        {"relay", new_relay},
        {NULL, NULL},
    };

    module_class(L, type_name, relay_methods, free_relay);
    luaL_setfuncs(L, functions, 0);
}

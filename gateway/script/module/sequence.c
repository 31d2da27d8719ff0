/*
 * Trackers and stampers by themselves, for the tables of sequence_spec.
 */
#include "relay/sequence.h"
#include "script/module/module.h"

#include <lauxlib.h>

static uint64_t check_number(lua_State *L, int at)
{
    size_t size;
    const char *bytes = luaL_checklstring(L, at, &size);

    luaL_argcheck(L, size == 8, at, "8 bytes expected");
    return seq_read((const uint8_t *)bytes);
}

static void push_number(lua_State *L, uint64_t number)
{
    uint8_t bytes[8];

    seq_write(number, bytes);
    lua_pushlstring(L, (const char *)bytes, sizeof bytes);
}

/* tracker(guard) */
static int new_tracker(lua_State *L)
{
    struct seq_tracker *tracker = lua_newuserdata(L, sizeof *tracker);

    *tracker = (struct seq_tracker){.guard = lua_toboolean(L, 1)};
    luaL_getmetatable(L, "gateway.tracker");
    lua_setmetatable(L, -2);
    return 1;
}

/* tracker:track(number, first_id, last_id): verdict, missing, guard */
static int tracker_lua_track(lua_State *L)
{
    static const char *const verdicts[] = {"first", "next", "gap", "restart"};
    struct seq_tracker *tracker = luaL_checkudata(L, 1, "gateway.tracker");
    struct seq_judgement judgement = seq_track(
        tracker, check_number(L, 2), check_number(L, 3), check_number(L, 4));

    lua_pushstring(L, verdicts[judgement.verdict]);
    push_number(L, judgement.missing);
    lua_pushboolean(L, judgement.guard);
    return 3;
}

static int tracker_lua_close_guard(lua_State *L)
{
    struct seq_tracker *tracker = luaL_checkudata(L, 1, "gateway.tracker");

    lua_pushboolean(L, seq_guard_close(tracker));
    return 1;
}

static int new_stamper(lua_State *L)
{
    seq_stamper_init(lua_newuserdata(L, sizeof(struct seq_stamper)));
    luaL_getmetatable(L, "gateway.stamper");
    lua_setmetatable(L, -2);
    return 1;
}

static struct seq_stamper *check_stamper(lua_State *L)
{
    return luaL_checkudata(L, 1, "gateway.stamper");
}

static int stamper_lua_take(lua_State *L)
{
    push_number(L, seq_take(check_stamper(L)));
    return 1;
}

static int stamper_lua_take_id(lua_State *L)
{
    push_number(L, seq_take_id(check_stamper(L)));
    return 1;
}

static int stamper_lua_reserve(lua_State *L)
{
    push_number(L, seq_reserve(check_stamper(L), check_number(L, 2)));
    return 1;
}

static int stamper_lua_last(lua_State *L)
{
    push_number(L, seq_last(check_stamper(L)));
    lua_pushboolean(L, check_stamper(L)->silent);
    return 2;
}

static const luaL_Reg tracker_methods[] = {
    {"track", tracker_lua_track},
    {"close_guard", tracker_lua_close_guard},
    {NULL, NULL},
};

static const luaL_Reg stamper_methods[] = {
    {"take", stamper_lua_take},
    {"take_id", stamper_lua_take_id},
    {"reserve", stamper_lua_reserve},
    {"last", stamper_lua_last},
    {NULL, NULL},
};

void module_sequence(lua_State *L)
{
    static const luaL_Reg functions[] = {
        {"tracker", new_tracker},
        {"stamper", new_stamper},
        {NULL, NULL},
    };

    module_class(L, "gateway.tracker", tracker_methods, NULL);
    module_class(L, "gateway.stamper", stamper_methods, NULL);
    luaL_setfuncs(L, functions, 0);
}

#include "script/proof.h"

#include "script/watchdog.h"

#include <lauxlib.h>
#include <luajit.h>
#include <lualib.h>
#include <signal.h>
#include <string.h>

enum { STUCK_MS = 600000, TURNS = 100000, TURNS_A_POKE = 1000 };

/*
 * The signal comes from inside the loop, not from the ticker: how soon another
 * thread runs says nothing about LuaJIT.  The loop ends by itself, or a build
 * that fails could not say so; but then the hook, which is set by that time,
 * stops what is behind the loop.  So the turns are counted.
 */
static const char loop[] =
    "local t, address = ... "
    "local poke = require('ffi').cast('void (**)(void)', address)[0] "
    "repeat t.turns = t.turns + 1 poke() until t.turns == 1e5";

static unsigned turns_to_poke;

static void poke(void)
{
    if (--turns_to_poke > 0)
        return;
    turns_to_poke = TURNS_A_POKE;
    raise(SIGPROF);
}

static int run_loop(lua_State *L)
{
    void (*address)(void) = poke;
    lua_Number *turns = lua_touserdata(L, 1);

    luaL_openlibs(L); /* switches the compiler on */
    if (luaL_loadbuffer(L, loop, strlen(loop), "@proof") != 0)
        return lua_error(L);
    lua_newtable(L);
    lua_pushinteger(L, 0);
    lua_setfield(L, -2, "turns");
    lua_pushvalue(L, -1);
    lua_insert(L, -3); /* stack: turns, table, loop, table */
    lua_pushlightuserdata(L, &address);
    lua_pcall(L, 2, 0, 0);
    lua_getfield(L, 2, "turns");
    *turns = lua_tonumber(L, -1);
    return 0;
}

static bool is_stopped(lua_State *L)
{
    struct event event = {.next = EVENT_END};
    const struct batch batch = {.slots = &event, .used = 1};
    struct error error = {0};
    lua_Number turns = TURNS;
    struct watchdog *dog = watchdog_new(L, STUCK_MS, true, &error);
    bool stopped;

    if (dog == NULL)
        return false;
    turns_to_poke = TURNS_A_POKE;
    watchdog_begin(dog, "proof", &batch, 0);
    lua_cpcall(L, run_loop, &turns);
    stopped = watchdog_end(dog) && watchdog_is_compiled(dog) && turns < TURNS;
    watchdog_free(dog);
    return stopped;
}

static bool try_it(void)
{
#ifdef __SANITIZE_THREAD__
    return false; /* it holds back the signals that do not come from inside */
#endif
    lua_State *L = luaL_newstate();
    bool stopped = L != NULL && is_stopped(L);

    if (L != NULL)
        lua_close(L);
    return stopped;
}

bool proof_holds(void)
{
    static enum { UNKNOWN, HOLDS, FAILS } known;

    if (known == UNKNOWN)
        known = try_it() ? HOLDS : FAILS;
    return known == HOLDS;
}

/*
 * no_profiler - a LuaJIT whose profiler does not work, by LD_PRELOAD
 *
 * KVGATE_PROFILER says how: "taken" starts none, as if somebody else in the
 * process had it; otherwise it is deaf: there is a handler, and compiled code
 * does not care.
 */
#include <signal.h>
#include <stdlib.h>
#include <string.h>

#define EXPORT __attribute__((visibility("default")))

EXPORT void luaJIT_profile_start(void *L, const char *mode, void *callback,
                                 void *data);
EXPORT void luaJIT_profile_stop(void *L);

static void do_nothing(int number)
{
    (void)number;
}

void luaJIT_profile_start(void *L, const char *mode, void *callback, void *data)
{
    const char *how = getenv("KVGATE_PROFILER");

    (void)L;
    (void)mode;
    (void)callback;
    (void)data;
    if (how == NULL || strcmp(how, "taken") != 0)
        signal(SIGPROF, do_nothing);
}

void luaJIT_profile_stop(void *L)
{
    (void)L;
}

#include "script/watchdog.h"

#include "base/log.h"
#include "base/memory.h"
#include "codec/batch.h"
#include "script/script.h"
#include "script/ticker.h"

#include <errno.h>
#include <inttypes.h>
#include <luajit.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum {
    LOOKS = 8,        /* at an event, in the time that it has */
    POLL = 10000,     /* instructions, where the compiler is off */
    LEVELS_MAX = 100, /* frames searched for a script's */
    PLACE_MAX = 1024, /* bytes of a place */
    NS_PER_MS = 1000000,
};

struct watchdog {
    lua_State *L;
    uint64_t stuck_ns;
    uint64_t end_ns; /* on the clock, of all runs; 0: never */
    bool compiled;

    /* ---- the run ---- */
    const char *filter;
    const struct batch *batch; /* NULL: it loads */
    uint64_t budget_ms;
    bool polls; /* a hook looks now and then, not the signal alone */

    /* ---- the event that was last seen in hand ---- */
    uint32_t slot;
    bool seen;             /* else none was yet */
    uint64_t since_ns;     /* on the clock */
    uint64_t since_cpu_ns; /* of this thread's own time */
    uint64_t over_ns;      /* it was first seen to be over its time */
    uint64_t over_cpu_ns;
    volatile sig_atomic_t expired; /* its time is over: the hook is set */
    bool stopped;                  /* the hook raised */
    char text[PLACE_MAX];
};

/* A handler has nothing but globals.  All of it is used on the thread that
 * runs Lua only, the handler's included. */
static struct watchdog *volatile watched;
static struct watchdog *profiled;
static void (*volatile profiler)(int); /* LuaJIT's handler */

static void on_hook(lua_State *L, lua_Debug *activation);

static uint64_t read_clock(clockid_t clock)
{
    struct timespec now;

    clock_gettime(clock, &now);
    return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

/* Lua's compiled code stores it: never to be kept in a register. */
static uint32_t slot_in_hand(const struct watchdog *dog)
{
    if (dog->batch == NULL)
        return 0;
    return *(const volatile uint32_t *)&dog->batch->current;
}

/* ---- the last resort ---- */

/* From a signal handler, perhaps out of malloc: nothing that may lock. */
static void say(const char *text)
{
    if (write(STDERR_FILENO, text, strlen(text)) < 0)
        return;
}

static void say_number(uint64_t number)
{
    char digits[21];
    char *at = digits + sizeof digits - 1;

    *at = '\0';
    do
        *--at = (char)('0' + number % 10);
    while ((number /= 10) > 0);
    say(at);
}

static void say_what_is_in_hand(const struct batch *batch)
{
    const struct event *event = &batch->slots[batch->current];

    if (event->state == EVENT_LIVE) {
        say("event ");
        say_number(event_id(event));
    } else {
        say("its ");
        say(batch_hook(batch));
    }
}

static void end_process(const struct watchdog *dog)
{
    say("kvgate: filter ");
    say(dog->filter);
    if (dog->batch == NULL) {
        say(" does not come back while it loads");
    } else {
        say(" does not come back from ");
        say_what_is_in_hand(dog->batch);
    }
    say(", and no error stops it: the process ends\n");
    _exit(SCRIPT_EXIT_STUCK);
}

/* ---- looking ---- */

bool watchdog_is_late(const struct watchdog *dog)
{
    return dog->end_ns != 0 && read_clock(CLOCK_MONOTONIC) >= dog->end_ns;
}

/*
 * Is the event in hand over its time?  By the clock, but half of it the thread
 * must have had: no script is to blame for a machine that is busy elsewhere.
 */
static bool look(struct watchdog *dog)
{
    uint64_t budget = dog->budget_ms * NS_PER_MS;
    uint32_t slot = slot_in_hand(dog);
    uint64_t now = read_clock(CLOCK_MONOTONIC);
    bool late = dog->end_ns != 0 && now >= dog->end_ns;

    if (!dog->seen || slot != dog->slot) {
        dog->slot = slot;
        dog->seen = true;
        dog->since_ns = now;
        dog->since_cpu_ns = read_clock(CLOCK_THREAD_CPUTIME_ID);
        dog->over_ns = 0;
        return late;
    }
    if (late)
        return true;
    return now - dog->since_ns >= budget &&
           read_clock(CLOCK_THREAD_CPUTIME_ID) - dog->since_cpu_ns >=
               budget / 2;
}

/*
 * Has what is over its time gone on regardless for too long?  That counts from
 * when a hook was there to stop it: a process that was frozen in the middle of
 * an event, or waited for a processor, has tried nothing yet.
 */
static bool is_stuck(struct watchdog *dog)
{
    uint64_t now = read_clock(CLOCK_MONOTONIC);
    uint64_t cpu = read_clock(CLOCK_THREAD_CPUTIME_ID);

    if (dog->over_ns == 0) {
        dog->over_ns = now;
        dog->over_cpu_ns = cpu;
    }
    return now - dog->over_ns >= dog->stuck_ns &&
           cpu - dog->over_cpu_ns >= dog->stuck_ns / 2;
}

/* Every tick anew, should the virtual machine have been just at its hooks. */
static void on_signal(int number)
{
    int saved = errno;
    struct watchdog *dog = watched;

    if (dog != NULL && ticker_is_here() && look(dog)) {
        if (is_stuck(dog))
            end_process(dog);
        dog->expired = 1;
        lua_sethook(dog->L, on_hook, LUA_MASKCOUNT, 1);
        if (dog == profiled && profiler != NULL)
            profiler(number);
    }
    errno = saved;
}

/* ---- stopping ---- */

/* As before: the time that was looked at goes on. */
static void calm(struct watchdog *dog)
{
    dog->expired = 0;
    dog->stopped = false;
    if (dog->polls)
        lua_sethook(dog->L, on_hook, LUA_MASKCOUNT, POLL);
    else
        lua_sethook(dog->L, NULL, 0, 0);
}

/* The innermost line of a script; false: none is running. */
static bool find_place(lua_State *L, lua_Debug *frame)
{
    for (int level = 0; level < LEVELS_MAX; level++) {
        if (!lua_getstack(L, level, frame))
            return false;
        lua_getinfo(L, "Sl", frame);
        if (*frame->source == '@')
            return true;
    }
    return false;
}

static void tell_place(struct watchdog *dog, const lua_Debug *frame)
{
    snprintf(dog->text, sizeof dog->text,
             "%.900s:%d: ran for more than %" PRIu64 " ms", frame->source + 1,
             frame->currentline, dog->budget_ms);
}

/*
 * What is left of an event when its script has returned is the runtime's, and
 * short: it is not torn.  But once raised, the error stays until the event is
 * given up, whatever catches it.
 */
static void on_hook(lua_State *L, lua_Debug *activation)
{
    struct watchdog *dog = watched;
    lua_Debug frame;

    (void)activation;
    if (dog == NULL || (!dog->expired && !look(dog)))
        return;
    if (slot_in_hand(dog) != dog->slot ||
        (!dog->stopped && !find_place(L, &frame))) {
        calm(dog);
        return;
    }
    if (!dog->stopped)
        tell_place(dog, &frame);
    dog->stopped = true;
    if (!dog->expired)
        lua_sethook(dog->L, on_hook, LUA_MASKCOUNT, 1);
    dog->expired = 1;
    lua_pushnil(L); /* a text might find no memory */
    lua_error(L);
}

/* ---- the profiler ---- */

static void ignore(void *data, lua_State *L, int samples, int vmstate)
{
    (void)data;
    (void)L;
    (void)samples;
    (void)vmstate;
}

/* Its own timer, in milliseconds of the process's time, hardly ever fires. */
static bool take_profiler(struct watchdog *dog)
{
    struct sigaction ours, theirs;

    sigaction(SIGPROF, NULL, &ours);
    luaJIT_profile_start(dog->L, "li1000000", ignore, NULL);
    sigaction(SIGPROF, &ours, &theirs);
    if (theirs.sa_handler == ours.sa_handler)
        return false; /* somebody else in this process has it */
    profiler = theirs.sa_handler;
    profiled = dog;
    return true;
}

static void drop_profiler(void)
{
    if (profiled == NULL)
        return;
    luaJIT_profile_stop(profiled->L);
    profiled = NULL;
    profiler = NULL;
}

/* Flushes the compiled code of both.  No signal comes in between: it might
 * meet a disposition that ends the process. */
static bool attach(struct watchdog *dog)
{
    sigset_t blocked, mask;
    bool attached;

    sigemptyset(&blocked);
    sigaddset(&blocked, SIGPROF);
    pthread_sigmask(SIG_BLOCK, &blocked, &mask);
    drop_profiler();
    attached = take_profiler(dog);
    pthread_sigmask(SIG_SETMASK, &mask, NULL);
    return attached;
}

static void detach(void)
{
    sigset_t blocked, mask;

    sigemptyset(&blocked);
    sigaddset(&blocked, SIGPROF);
    pthread_sigmask(SIG_BLOCK, &blocked, &mask);
    drop_profiler();
    pthread_sigmask(SIG_SETMASK, &mask, NULL);
}

/* Whoever started the process may have left it blocked, which exec passes on.
 */
static void unblock_signal(void)
{
    sigset_t unblocked;

    sigemptyset(&unblocked);
    sigaddset(&unblocked, SIGPROF);
    pthread_sigmask(SIG_UNBLOCK, &unblocked, NULL);
}

/* ---- from outside ---- */

struct watchdog *watchdog_new(lua_State *L, uint64_t stuck_ms, bool compiled,
                              struct error *error)
{
    struct watchdog *dog;

    if (!ticker_hold(on_signal, error))
        return NULL;
    unblock_signal();
    dog = memory_new(sizeof *dog);
    dog->L = L;
    dog->stuck_ns = stuck_ms * NS_PER_MS;
    dog->compiled = compiled;
    return dog;
}

void watchdog_free(struct watchdog *dog)
{
    if (dog == NULL)
        return;
    if (profiled == dog)
        detach();
    ticker_release();
    free(dog);
}

static void give_up_compiler(struct watchdog *dog)
{
    log_line(LOG_WARN, "LuaJIT's profiler is taken: filters run without the "
                       "compiler");
    luaJIT_setmode(dog->L, 0, LUAJIT_MODE_ENGINE | LUAJIT_MODE_OFF);
    dog->compiled = false;
}

void watchdog_begin(struct watchdog *dog, const char *filter,
                    const struct batch *batch, uint64_t budget_ms)
{
    if (dog->compiled && batch != NULL && profiled != dog && !attach(dog))
        give_up_compiler(dog);
    dog->filter = filter;
    dog->batch = batch;
    dog->budget_ms = budget_ms;
    dog->seen = false;
    dog->stopped = false;
    dog->polls = !dog->compiled || batch == NULL;
    if (batch == NULL && dog->compiled)
        luaJIT_setmode(dog->L, 0, LUAJIT_MODE_ENGINE | LUAJIT_MODE_OFF);
    watched = dog;
    if (dog->polls)
        calm(dog);
    ticker_arm(budget_ms * NS_PER_MS / LOOKS);
}

bool watchdog_end(struct watchdog *dog)
{
    bool stopped = dog->stopped;

    ticker_disarm();
    watched = NULL;
    atomic_signal_fence(memory_order_seq_cst);
    if (dog->expired || dog->polls) {
        dog->polls = false;
        calm(dog);
    }
    if (dog->batch == NULL && dog->compiled)
        luaJIT_setmode(dog->L, 0, LUAJIT_MODE_ENGINE | LUAJIT_MODE_ON);
    return stopped;
}

void watchdog_limit(struct watchdog *dog, uint64_t ms)
{
    dog->end_ns = read_clock(CLOCK_MONOTONIC) + ms * NS_PER_MS;
}

bool watchdog_is_compiled(const struct watchdog *dog)
{
    return dog->compiled;
}

const char *watchdog_text(const struct watchdog *dog)
{
    return dog->text;
}

#include "script/ticker.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <string.h>
#include <time.h>

enum { PERIOD_LEAST_NS = 1000000, PERIOD_MOST_NS = 50000000 };

/* Signals are the process's, and so is what deals with them. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t wake;
static pthread_t thread;
static unsigned holders;
static bool quit;
static struct sigaction before;
static _Atomic pthread_t target;
static atomic_bool armed;
static _Atomic uint64_t period = PERIOD_MOST_NS;

static struct timespec next_tick(void)
{
    struct timespec at;
    uint64_t nanoseconds;

    clock_gettime(CLOCK_MONOTONIC, &at);
    nanoseconds = (uint64_t)at.tv_nsec +
                  atomic_load_explicit(&period, memory_order_relaxed);
    at.tv_sec += (time_t)(nanoseconds / 1000000000);
    at.tv_nsec = (long)(nanoseconds % 1000000000);
    return at;
}

static void *tick(void *unused)
{
    pthread_mutex_lock(&lock);
    while (!quit) {
        struct timespec at = next_tick();

        pthread_cond_timedwait(&wake, &lock, &at);
        if (!quit && atomic_load(&armed))
            pthread_kill(atomic_load(&target), SIGPROF);
    }
    pthread_mutex_unlock(&lock);
    return unused;
}

/* Its thread takes no signal that is meant for another. */
static int start_thread(void)
{
    pthread_condattr_t attributes;
    sigset_t all, mask;
    int reason;

    pthread_condattr_init(&attributes);
    pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
    pthread_cond_init(&wake, &attributes);
    pthread_condattr_destroy(&attributes);
    quit = false;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &mask);
    reason = pthread_create(&thread, NULL, tick, NULL);
    pthread_sigmask(SIG_SETMASK, &mask, NULL);
    return reason;
}

bool ticker_hold(void (*handler)(int), struct error *error)
{
    struct sigaction action = {.sa_flags = SA_RESTART};
    int reason;

    if (holders > 0) {
        holders++;
        return true;
    }
    reason = start_thread();
    if (reason != 0) {
        error_set(error, "no thread for the watchdog: %s", strerror(reason));
        return false;
    }
    action.sa_handler = handler;
    sigemptyset(&action.sa_mask);
    sigaction(SIGPROF, &action, &before);
    holders = 1;
    return true;
}

void ticker_release(void)
{
    if (--holders > 0)
        return;
    pthread_mutex_lock(&lock);
    quit = true;
    pthread_cond_signal(&wake);
    pthread_mutex_unlock(&lock);
    pthread_join(thread, NULL);
    pthread_cond_destroy(&wake);
    /* Nobody pokes any more: no signal meets the old disposition. */
    sigaction(SIGPROF, &before, NULL);
}

void ticker_arm(uint64_t period_ns)
{
    if (period_ns < PERIOD_LEAST_NS)
        period_ns = PERIOD_LEAST_NS;
    if (period_ns > PERIOD_MOST_NS)
        period_ns = PERIOD_MOST_NS;
    atomic_store_explicit(&period, period_ns, memory_order_relaxed);
    atomic_store_explicit(&target, pthread_self(), memory_order_relaxed);
    atomic_store_explicit(&armed, true, memory_order_release);
}

void ticker_disarm(void)
{
    atomic_store_explicit(&armed, false, memory_order_release);
}

bool ticker_is_here(void)
{
    return pthread_equal(pthread_self(),
                         atomic_load_explicit(&target, memory_order_relaxed));
}

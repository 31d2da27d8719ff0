#include "io/signals.h"

#include <errno.h>
#include <signal.h>
#include <stdint.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

/* A handler has nothing but globals. */
static int wake_descriptor = -1;
static volatile sig_atomic_t reload_asked;
static volatile sig_atomic_t stop_asked;

static void wake(void)
{
    const uint64_t one = 1;
    int saved = errno;

    /* Full means that it is readable already. */
    if (write(wake_descriptor, &one, sizeof one) < 0)
        errno = saved;
}

static void on_reload(int number)
{
    (void)number;
    reload_asked = 1;
    wake();
}

static void on_stop(int number)
{
    if (stop_asked) {
        signal(number, SIG_DFL);
        raise(number);
        return;
    }
    stop_asked = 1;
    wake();
}

static void catch (int number, void (*handler)(int))
{
    struct sigaction action = {.sa_flags = SA_RESTART};

    action.sa_handler = handler;
    sigemptyset(&action.sa_mask);
    sigaction(number, &action, NULL);
}

bool signals_open(struct error *error)
{
    wake_descriptor = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
    if (wake_descriptor < 0) {
        error_set(error, "cannot wait for signals: %s", strerror(errno));
        return false;
    }
    catch (SIGPIPE, SIG_IGN);
    catch (SIGHUP, on_reload);
    catch (SIGTERM, on_stop);
    catch (SIGINT, on_stop);
    return true;
}

int signals_descriptor(void)
{
    return wake_descriptor;
}

struct signals_asked signals_take(void)
{
    struct signals_asked asked = {0};
    uint64_t count;

    /* Emptied first: what comes in between wakes the next wait. */
    if (read(wake_descriptor, &count, sizeof count) < 0)
        return asked;
    asked.reload = reload_asked != 0;
    reload_asked = 0;
    asked.stop = stop_asked != 0;
    return asked;
}

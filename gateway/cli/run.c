#include "cli/run.h"

#include "base/log.h"
#include "cli/place.h"
#include "cli/usage.h"
#include "io/gateway.h"
#include "io/loop.h"
#include "io/signals.h"

#include <stdio.h>
#include <sys/resource.h>

/* A socket takes a descriptor or two; the usual soft limit of 1024 is for
 * programs that use select(). */
static void raise_descriptor_limit(void)
{
    struct rlimit limit;

    if (getrlimit(RLIMIT_NOFILE, &limit) != 0)
        return;
    limit.rlim_cur = limit.rlim_max;
    setrlimit(RLIMIT_NOFILE, &limit);
}

/* Takes `draft`. */
static int run_gateway(struct draft *draft, const char *path,
                       const struct installed *installed)
{
    struct error error = {0};
    struct gateway *gateway;

    log_line(LOG_INFO, "kvgate " KVGATE_VERSION ", configuration %s", path);
    gateway = gateway_open(draft, path, installed, &error);
    if (gateway == NULL) {
        log_line(LOG_ERROR, "%s", error.text);
        draft_free(draft);
        return EXIT_FAILED;
    }
    log_line(LOG_INFO, "numbers start at 1; subscribers see that as a restart "
                       "of the publisher");
    log_line(LOG_INFO, "running");
    loop_run(gateway);
    log_line(LOG_INFO, "stopping");
    gateway_close(gateway);
    return EXIT_FINE;
}

static int run_config(const char *path)
{
    struct place *place = place_find();
    struct draft draft;
    struct buffer mistakes = {0};
    int code = EXIT_CONFIG;

    if (draft_load(&draft, path, place_installed(place), &mistakes))
        code = run_gateway(&draft, path, place_installed(place));
    else
        fputs(buffer_text(&mistakes), stderr);
    buffer_free(&mistakes);
    place_free(place);
    return code;
}

void run_help(void)
{
    printf(
        "usage: kvgate run CONFIG\n"
        "\n"
        "Run the gateway until SIGTERM or SIGINT; it logs on standard error.\n"
        "SIGHUP takes the CONFIG and its scripts anew; what is wrong with "
        "them\n"
        "is logged, and the old ones stay in force.\n"
        "\n"
        "Exit code 0 after a signal; 1 when it failed at the start or later;\n"
        "2 wrong usage; 3 the CONFIG or a script is wrong; 70 a script did "
        "not\n"
        "come back, and nothing stopped it.\n");
}

int run_main(int argc, char **argv)
{
    const char *path = usage_config(argc, argv);
    struct error error = {0};

    if (path == NULL)
        return EXIT_USAGE;
    /* First of all: a SIGHUP that comes early must not end the process. */
    if (!signals_open(&error)) {
        log_line(LOG_ERROR, "%s", error.text);
        return EXIT_FAILED;
    }
    raise_descriptor_limit();
    return run_config(path);
}

/*
 * check - end the program when something is not as it must be
 *
 * For programs that nobody runs but the benchmark: there is nothing to recover.
 */
#ifndef BENCH_CHECK_H
#define BENCH_CHECK_H

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

/* `what` is named, with errno's text. */
static inline void check(bool holds, const char *what)
{
    if (holds)
        return;
    perror(what);
    exit(1);
}

#endif

#include "ledger.h"

#include "check.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

struct ledger *ledger_open(const char *path)
{
    int file = open(path, O_RDWR | O_CREAT, 0600);
    struct ledger *ledger;

    check(file >= 0, path);
    check(ftruncate(file, sizeof *ledger) == 0, path);
    ledger =
        mmap(NULL, sizeof *ledger, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    check(ledger != MAP_FAILED, path);
    close(file);
    return ledger;
}

uint64_t ledger_now(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

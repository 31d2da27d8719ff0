/*
 * allocation_count - how often a program asks for memory
 *
 * To be preloaded (LD_PRELOAD).  Counts the calls of malloc's family, and of
 * mmap, which LuaJIT's own allocator uses; says so on standard error at the
 * end: "allocations: 1234".  Two runs of different length tell what
 * one more event costs.
 */
#include <dlfcn.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#define EXPORT __attribute__((visibility("default")))

/* glibc's own, under the names that it keeps for this. */
extern void *__libc_malloc(size_t size);
extern void *__libc_calloc(size_t count, size_t size);
extern void *__libc_realloc(void *block, size_t size);
extern void *__libc_memalign(size_t alignment, size_t size);

static _Atomic unsigned long allocations;

EXPORT void *malloc(size_t size)
{
    atomic_fetch_add(&allocations, 1);
    return __libc_malloc(size);
}

EXPORT void *calloc(size_t count, size_t size)
{
    atomic_fetch_add(&allocations, 1);
    return __libc_calloc(count, size);
}

EXPORT void *realloc(void *block, size_t size)
{
    atomic_fetch_add(&allocations, 1);
    return __libc_realloc(block, size);
}

EXPORT void *aligned_alloc(size_t alignment, size_t size)
{
    atomic_fetch_add(&allocations, 1);
    return __libc_memalign(alignment, size);
}

EXPORT int posix_memalign(void **block, size_t alignment, size_t size)
{
    *block = aligned_alloc(alignment, size);
    return *block == NULL;
}

EXPORT void *mmap(void *address, size_t size, int protection, int flags,
                  int file, off_t offset)
{
    void *(*next)(void *, size_t, int, int, int, off_t);
    void *symbol = dlsym(RTLD_NEXT, "mmap");

    atomic_fetch_add(&allocations, 1);
    memcpy(&next, &symbol, sizeof next);
    return next(address, size, protection, flags, file, offset);
}

__attribute__((destructor)) static void tell(void)
{
    fprintf(stderr, "allocations: %lu\n", allocations);
}

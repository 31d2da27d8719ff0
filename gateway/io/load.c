#include "io/load.h"

#include "base/memory.h"

#include <stdatomic.h>
#include <stdlib.h>

struct load {
    atomic_size_t bytes;
    atomic_size_t users; /* messages, and the owner */
};

struct load *load_new(void)
{
    struct load *load = memory_new(sizeof *load);

    atomic_init(&load->bytes, 0);
    atomic_init(&load->users, 1);
    return load;
}

void load_leave(struct load *load)
{
    if (load != NULL && atomic_fetch_sub(&load->users, 1) == 1)
        free(load);
}

void load_add(struct load *load, size_t bytes)
{
    atomic_fetch_add_explicit(&load->users, 1, memory_order_relaxed);
    atomic_fetch_add_explicit(&load->bytes, bytes, memory_order_relaxed);
}

void load_remove(struct load *load, size_t bytes)
{
    atomic_fetch_sub_explicit(&load->bytes, bytes, memory_order_relaxed);
    load_leave(load);
}

size_t load_bytes(struct load *load)
{
    return atomic_load_explicit(&load->bytes, memory_order_relaxed);
}

/*
 * load - bytes of one stream's messages that libzmq holds
 *
 * Of a message that lies in several queues the bytes count once, as they are
 * there once.  What a message holds is let go of by whichever thread sends the
 * last of it, perhaps after the stream is closed: the last one frees the load.
 */
#ifndef IO_LOAD_H
#define IO_LOAD_H

#include <stddef.h>

struct load;

struct load *load_new(void);

/* Its owner looks no more. */
void load_leave(struct load *load);

/* One message more; and less, from any thread. */
void load_add(struct load *load, size_t bytes);
void load_remove(struct load *load, size_t bytes);

size_t load_bytes(struct load *load);

#endif

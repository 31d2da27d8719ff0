/*
 * embedded - the files of lua/kvgate and the shared structs, as text in the
 * binary
 *
 * Written by the build (CMakeLists.txt, gateway/script/embed.cmake).  So
 * the program needs no files of its own at run time.
 */
#ifndef SCRIPT_EMBEDDED_H
#define SCRIPT_EMBEDDED_H

#include <stddef.h>

struct embedded_file {
    const char *name; /* "kvgate/keys.lua", or "event_abi.h" and the like, which
                         come in the order of their folders' names */
    const char *text; /* NUL-terminated */
    size_t size;
};

/* Closed by an entry without a name. */
extern const struct embedded_file embedded_files[];

#endif

/*
 * secret - files that nobody else may read, and what is done with their words
 *
 * A secret file is a regular file that belongs to us or to root and that
 * neither its group nor others can read or write; it has one line.  What it
 * holds is wiped from memory by whoever is done with it.
 */
#ifndef BASE_SECRET_H
#define BASE_SECRET_H

#include "base/error.h"

#include <stdbool.h>
#include <stddef.h>

/* Read the one line of the file, without its newline, into `line` (`room`
 * bytes with the NUL).  False and `error`, with the command that mends it. */
bool secret_read(const char *path, char *line, size_t room,
                 struct error *error);

/* Overwrite; not to be optimised away. */
void secret_wipe(void *bytes, size_t size);

/* Wipe and free a text (may be NULL). */
void secret_free(char *text);

/* Whether both are the same, in a time that does not tell where they differ. */
bool secret_equals(const char *secret, size_t secret_size, const void *given,
                   size_t given_size);

#endif

/*
 * signature - a 64-bit hash of what something is made of (FNV-1a)
 *
 * Tells a changed filter from an unchanged one, and spreads what a stream
 * accepts; nobody attacks it, since who writes the files owns the gateway.
 */
#ifndef BASE_SIGNATURE_H
#define BASE_SIGNATURE_H

#include <stddef.h>
#include <stdint.h>

#define SIGNATURE_EMPTY UINT64_C(0xcbf29ce484222325)

uint64_t signature_add(uint64_t signature, const void *bytes, size_t size);

#endif

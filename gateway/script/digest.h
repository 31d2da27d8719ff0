/*
 * digest - keyed hashes: SipHash-2-4 with 128 bits, libsodium's
 *
 * Who does not have the key can neither compute a digest nor find keys whose
 * digests meet.  These are the functions that border.digests points to.
 */
#ifndef SCRIPT_DIGEST_H
#define SCRIPT_DIGEST_H

#include "script/digest_abi.h"

extern const struct digest_border digest_border;

#endif

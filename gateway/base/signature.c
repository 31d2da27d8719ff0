#include "base/signature.h"

uint64_t signature_add(uint64_t signature, const void *bytes, size_t size)
{
    const unsigned char *at = bytes;

    for (size_t i = 0; i < size; i++)
        signature = (signature ^ at[i]) * UINT64_C(0x100000001b3);
    return signature;
}

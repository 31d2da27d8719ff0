#include "codec/pack.h"

#include <string.h>

static uint8_t *pack_byte(uint8_t *at, uint8_t byte)
{
    *at = byte;
    return at + 1;
}

static uint8_t *pack_16(uint8_t *at, uint8_t tag, uint16_t value)
{
    at[0] = tag;
    value = __builtin_bswap16(value);
    memcpy(at + 1, &value, sizeof value);
    return at + 1 + sizeof value;
}

static uint8_t *pack_32(uint8_t *at, uint8_t tag, uint32_t value)
{
    at[0] = tag;
    value = __builtin_bswap32(value);
    memcpy(at + 1, &value, sizeof value);
    return at + 1 + sizeof value;
}

static uint8_t *pack_64(uint8_t *at, uint8_t tag, uint64_t value)
{
    at[0] = tag;
    value = __builtin_bswap64(value);
    memcpy(at + 1, &value, sizeof value);
    return at + 1 + sizeof value;
}

uint8_t *pack_nil(uint8_t *at)
{
    return pack_byte(at, 0xc0);
}

uint8_t *pack_bool(uint8_t *at, bool value)
{
    return pack_byte(at, value ? 0xc3 : 0xc2);
}

uint8_t *pack_u64(uint8_t *at, uint64_t value)
{
    if (value < 0x80)
        return pack_byte(at, (uint8_t)value);
    if (value <= UINT8_MAX)
        return pack_byte(pack_byte(at, 0xcc), (uint8_t)value);
    if (value <= UINT16_MAX)
        return pack_16(at, 0xcd, (uint16_t)value);
    if (value <= UINT32_MAX)
        return pack_32(at, 0xce, (uint32_t)value);
    return pack_64(at, 0xcf, value);
}

uint8_t *pack_i64(uint8_t *at, int64_t value)
{
    if (value >= 0)
        return pack_u64(at, (uint64_t)value);
    if (value >= -0x20)
        return pack_byte(at, (uint8_t)value);
    if (value >= INT8_MIN)
        return pack_byte(pack_byte(at, 0xd0), (uint8_t)value);
    if (value >= INT16_MIN)
        return pack_16(at, 0xd1, (uint16_t)value);
    if (value >= INT32_MIN)
        return pack_32(at, 0xd2, (uint32_t)value);
    return pack_64(at, 0xd3, (uint64_t)value);
}

uint8_t *pack_float32(uint8_t *at, float value)
{
    uint32_t bits;

    memcpy(&bits, &value, sizeof bits);
    return pack_32(at, 0xca, bits);
}

uint8_t *pack_float64(uint8_t *at, double value)
{
    uint64_t bits;

    memcpy(&bits, &value, sizeof bits);
    return pack_64(at, 0xcb, bits);
}

uint8_t *pack_array(uint8_t *at, uint32_t count)
{
    if (count < 16)
        return pack_byte(at, (uint8_t)(0x90 | count));
    if (count <= UINT16_MAX)
        return pack_16(at, 0xdc, (uint16_t)count);
    return pack_32(at, 0xdd, count);
}

uint8_t *pack_map(uint8_t *at, uint32_t count)
{
    if (count < 16)
        return pack_byte(at, (uint8_t)(0x80 | count));
    if (count <= UINT16_MAX)
        return pack_16(at, 0xde, (uint16_t)count);
    return pack_32(at, 0xdf, count);
}

uint8_t *pack_str_header(uint8_t *at, uint32_t size)
{
    if (size < 32)
        return pack_byte(at, (uint8_t)(0xa0 | size));
    if (size <= UINT8_MAX)
        return pack_byte(pack_byte(at, 0xd9), (uint8_t)size);
    if (size <= UINT16_MAX)
        return pack_16(at, 0xda, (uint16_t)size);
    return pack_32(at, 0xdb, size);
}

uint8_t *pack_bin_header(uint8_t *at, uint32_t size)
{
    if (size <= UINT8_MAX)
        return pack_byte(pack_byte(at, 0xc4), (uint8_t)size);
    if (size <= UINT16_MAX)
        return pack_16(at, 0xc5, (uint16_t)size);
    return pack_32(at, 0xc6, size);
}

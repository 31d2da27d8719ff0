/*
 * pack - write msgpack, shortest form, at a pointer
 *
 * Each function writes at `at` and returns the first byte behind.  The caller
 * has made room: PACK_SCALAR bytes for anything but the payload of a string.
 */
#ifndef CODEC_PACK_H
#define CODEC_PACK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { PACK_SCALAR = 9 };

uint8_t *pack_nil(uint8_t *at);
uint8_t *pack_bool(uint8_t *at, bool value);
uint8_t *pack_u64(uint8_t *at, uint64_t value);
uint8_t *pack_i64(uint8_t *at, int64_t value);
uint8_t *pack_float32(uint8_t *at, float value);
uint8_t *pack_float64(uint8_t *at, double value);
uint8_t *pack_array(uint8_t *at, uint32_t count);
uint8_t *pack_map(uint8_t *at, uint32_t count);
uint8_t *pack_str_header(uint8_t *at, uint32_t size);
uint8_t *pack_bin_header(uint8_t *at, uint32_t size);

#endif

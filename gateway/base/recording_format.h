/*
 * recording_format - what the reader and the writer of recordings share
 */
#ifndef BASE_RECORDING_FORMAT_H
#define BASE_RECORDING_FORMAT_H

#include <stddef.h>
#include <stdint.h>

enum {
    RECORDING_MAGIC_SIZE = 8,
    RECORDING_BODY_HEAD = 12 /* time, stream, number of frames */
};

/* Neither text nor UTF-8, and broken by whatever converts line ends. */
extern const uint8_t recording_magic[RECORDING_MAGIC_SIZE];

/* CRC-32 as zip files have it. */
uint32_t recording_crc(const uint8_t *bytes, size_t size);

#endif

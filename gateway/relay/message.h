/*
 * message - one multipart message as it came in, frames by pointer
 */
#ifndef RELAY_MESSAGE_H
#define RELAY_MESSAGE_H

#include <stddef.h>
#include <stdint.h>

/* All pointers borrowed for the length of one relay_receive. */
struct message {
    size_t frames;           /* how many there were; 3 is right */
    const uint8_t *sequence; /* frame 1 */
    size_t sequence_size;
    const uint8_t *payload; /* frame 2 */
    size_t payload_size;
    void *origin; /* what the socket layer needs to send the payload frame on
                     without a copy; NULL: cannot */
};

#endif

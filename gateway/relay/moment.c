#include "relay/moment.h"

#include "relay/stream.h"

#include <string.h>

enum { OPEN_MESSAGES = 256 }; /* that a builder may stay open for */

void moment_flush(struct moment *moment)
{
    struct stream *stream = moment->open;

    moment->open = NULL;
    moment->open_messages = 0;
    for (struct stream *next; stream != NULL; stream = next) {
        next = stream->next_open;
        stream->listed = false;
        stream_flush(stream);
    }
}

static bool agrees(const struct moment *moment,
                   const struct batch_header *header)
{
    return moment->timestamp_size == header->timestamp_size &&
           moment->rank_size == header->rank_size &&
           memcmp(moment->timestamp, header->timestamp,
                  header->timestamp_size) == 0 &&
           memcmp(moment->rank, header->rank, header->rank_size) == 0;
}

void moment_enter(struct moment *moment, const struct batch_header *header)
{
    if (agrees(moment, header) && ++moment->open_messages < OPEN_MESSAGES)
        return;
    moment_flush(moment);
    moment->timestamp_size = header->timestamp_size;
    moment->rank_size = header->rank_size;
    memcpy(moment->timestamp, header->timestamp, header->timestamp_size);
    memcpy(moment->rank, header->rank, header->rank_size);
}

struct batch_header moment_enter_now(struct moment *moment)
{
    uint8_t timestamp[PACK_SCALAR], rank[PACK_SCALAR];
    uint8_t *end = pack_u64(timestamp, moment->now.wall_ms);
    struct batch_header header = {.timestamp = timestamp,
                                  .rank = rank,
                                  .timestamp_size = (uint32_t)(end - timestamp),
                                  .rank_size = (uint32_t)moment->rank_size};

    memcpy(rank, moment->rank, moment->rank_size);
    if (moment->rank_size == 0)
        header.rank_size = (uint32_t)(pack_u64(rank, 0) - rank);
    moment_enter(moment, &header);
    header.timestamp = moment->timestamp;
    header.rank = moment->rank;
    return header;
}

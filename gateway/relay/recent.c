#include "relay/recent.h"

#include <string.h>

void recent_keep(struct recent *recent, const struct message *message,
                 uint64_t now_ms)
{
    uint32_t place = recent->kept % RECENT_MESSAGES;
    struct buffer *payload = &recent->messages[place].payload;

    if (message->payload_size > RECENT_BYTES)
        return;
    memcpy(recent->messages[place].sequence, message->sequence,
           sizeof recent->messages[place].sequence);
    buffer_clear(payload);
    buffer_put(payload, message->payload, message->payload_size);
    recent->kept++;
    recent->kept_ms = now_ms;
}

uint32_t recent_count(const struct recent *recent)
{
    return recent->kept < RECENT_MESSAGES ? recent->kept : RECENT_MESSAGES;
}

struct message recent_at(const struct recent *recent, uint32_t index)
{
    uint32_t oldest = recent->kept - recent_count(recent);
    uint32_t place = (oldest + index) % RECENT_MESSAGES;
    const struct buffer *payload = &recent->messages[place].payload;

    return (struct message){.frames = 3,
                            .sequence = recent->messages[place].sequence,
                            .sequence_size =
                                sizeof recent->messages[place].sequence,
                            .payload = payload->data,
                            .payload_size = payload->size};
}

void recent_forget(struct recent *recent)
{
    for (int i = 0; i < RECENT_MESSAGES; i++)
        buffer_free(&recent->messages[i].payload);
    recent->kept = 0;
}

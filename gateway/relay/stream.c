#include "relay/stream.h"

#include "base/memory.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Until a message tells; letters are of no rank. */
static uint8_t *first_rank(struct stream *stream)
{
    return stream->letters ? pack_nil(stream->rank) : pack_u64(stream->rank, 0);
}

struct stream *stream_new(const struct config_stream *config,
                          struct continuity *continuity, struct moment *moment)
{
    struct stream *stream = memory_new(sizeof *stream);

    stream->name = memory_text(config->name, strlen(config->name));
    stream->record = continuity_stream(continuity, config->name);
    stream->moment = moment;
    stream->letters = strcmp(config->name, config_dead_letters) == 0;
    stream->rank_size = (size_t)(first_rank(stream) - stream->rank);
    stream->sent_ms = moment->now.steady_ms;
    snprintf(stream->gate.about, sizeof stream->gate.about,
             "losses on stream \"%.60s\"", config->name);
    stream_configure(stream, config);
    return stream;
}

void stream_free(struct stream *stream)
{
    log_gate_end(&stream->gate);
    builder_free(&stream->builder);
    free(stream->endpoint);
    free(stream->topic);
    free(stream->name);
    free(stream);
}

void stream_configure(struct stream *stream, const struct config_stream *config)
{
    free(stream->topic);
    stream->topic_size = strlen(config->topic);
    stream->topic = memory_text(config->topic, stream->topic_size);
    if (stream->endpoint == NULL)
        stream->endpoint = memory_text(config->socket.endpoint,
                                       strlen(config->socket.endpoint));
    stream->restamp = config->event_id == CONFIG_EVENT_ID_RESTAMP;
    stream->announce_after_ms = config->announce_after_ms;
    stream->heartbeat_ms = config->heartbeat_ms;
}

static struct sink_head head_of(struct stream *stream)
{
    return (struct sink_head){.topic = stream->topic,
                              .topic_size = stream->topic_size,
                              .sequence = seq_take(&stream->record->stamper)};
}

static void count_sent(struct stream *stream, uint64_t events, uint64_t bytes)
{
    stream->record->published++;
    stream->counters.events += events;
    stream->counters.bytes += bytes;
    stream->sent_ms = stream->moment->now.steady_ms;
}

/* The number is spent and nobody got it: that is a gap of its own. */
static void count_unsent(struct stream *stream, const struct sink_head *head)
{
    seq_spoil(&stream->record->stamper);
    stream->gap_since_ms = stream->moment->now.steady_ms;
    stream->record->reserved++;
    stream->counters.losses[LOSS_SEND]++;
    log_gated(&stream->gate, LOG_ERROR,
              "stream \"%s\": message %" PRIu64 " could not be sent, lost",
              stream->name, head->sequence);
}

static void remember_rank(struct stream *stream, const uint8_t *rank,
                          size_t size)
{
    memcpy(stream->rank, rank, size);
    stream->rank_size = size;
}

/* Seal the builder, empty or not, and send it under the next number. */
static bool send_builder(struct stream *stream, const uint8_t *timestamp,
                         size_t timestamp_size)
{
    struct builder *builder = &stream->builder;
    uint32_t events = builder->count;
    size_t start = builder_seal(builder, timestamp, timestamp_size,
                                stream->rank, stream->rank_size);
    size_t bytes = builder->out.size - start;
    struct sink_head head = head_of(stream);
    bool sent =
        stream->sink.send(stream->sink.context, &head, &builder->out, start);

    builder_clear(builder);
    if (sent)
        count_sent(stream, events, bytes);
    else
        count_unsent(stream, &head);
    return sent;
}

/* The same under the time of now. */
static bool send_now(struct stream *stream)
{
    uint8_t timestamp[PACK_SCALAR];
    uint8_t *end = pack_u64(timestamp, stream->moment->now.wall_ms);

    return send_builder(stream, timestamp, (size_t)(end - timestamp));
}

void stream_flush(struct stream *stream)
{
    const struct moment *moment = stream->moment;

    if (stream->builder.count == 0)
        return;
    if (stream->letters) {
        send_now(stream);
        return;
    }
    remember_rank(stream, moment->rank, moment->rank_size);
    send_builder(stream, moment->timestamp, moment->timestamp_size);
}

/* The builder holds one more. */
static void has_more(struct stream *stream)
{
    if (!stream->listed) {
        stream->listed = true;
        stream->next_open = stream->moment->open;
        stream->moment->open = stream;
    }
    if (builder_is_full(&stream->builder))
        stream_flush(stream);
}

void stream_append(struct stream *stream, const struct event *event,
                   uint32_t source)
{
    struct seq_stamper *stamper = &stream->record->stamper;
    const uint64_t *id = stream->restamp ? &stamper->next_id : NULL;

    if (!builder_append(&stream->builder, event, id)) {
        stream_lose(stream, LOSS_SIZE, 1, source);
        return;
    }
    if (stream->restamp)
        seq_take_id(stamper);
    has_more(stream);
}

void stream_append_letter(struct stream *stream, const struct letter *letter)
{
    uint8_t *to = builder_begin(&stream->builder, letter_bound(letter));

    builder_end(&stream->builder, letter_write(letter, to));
    has_more(stream);
}

void stream_forward(struct stream *stream, const struct message *message,
                    uint32_t events)
{
    struct sink_head head = head_of(stream);

    remember_rank(stream, stream->moment->rank, stream->moment->rank_size);
    if (stream->sink.forward(stream->sink.context, &head, message))
        count_sent(stream, events, message->payload_size);
    else
        count_unsent(stream, &head);
}

void stream_lose(struct stream *stream, enum loss_cause cause, uint64_t width,
                 uint32_t source)
{
    (void)source;
    struct seq_stamper *stamper = &stream->record->stamper;

    stream_flush(stream);
    if (!stamper->silent)
        stream->gap_since_ms = stream->moment->now.steady_ms;
    stream->record->reserved += seq_reserve(stamper, width);
    /* A gap is one loss of so many numbers, the others are as many losses. */
    stream->counters.losses[cause] += cause == LOSS_GAP ? 1 : width;
}

void stream_announce(struct stream *stream)
{
    stream_flush(stream);
    if (stream->record->stamper.silent && send_now(stream))
        stream->counters.announcements++;
}

/* Milliseconds until `since + after`, 0 when that has come. */
static uint64_t time_left(const struct stream *stream, uint64_t since,
                          uint64_t after)
{
    uint64_t passed = stream->moment->now.steady_ms - since;

    return passed >= after ? 0 : after - passed;
}

static uint64_t tick_gap(struct stream *stream)
{
    uint64_t left =
        time_left(stream, stream->gap_since_ms, stream->announce_after_ms);

    if (left == 0)
        stream_announce(stream);
    return left == 0 ? stream->announce_after_ms : left;
}

static uint64_t tick_heartbeat(struct stream *stream)
{
    uint64_t left = time_left(stream, stream->sent_ms, stream->heartbeat_ms);

    if (left > 0)
        return left;
    stream_flush(stream);
    if (send_now(stream))
        stream->counters.heartbeats++;
    /* A refused beat is a silent gap: its announcement is the next try. */
    stream->sent_ms = stream->moment->now.steady_ms;
    return stream->heartbeat_ms;
}

uint64_t stream_tick(struct stream *stream)
{
    log_gate_tick(&stream->gate);
    if (stream->record->stamper.silent)
        return tick_gap(stream);
    if (stream->heartbeat_ms != 0)
        return tick_heartbeat(stream);
    return UINT64_MAX;
}

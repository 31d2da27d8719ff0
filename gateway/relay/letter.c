#include "relay/letter.h"

#include "base/text.h"
#include "codec/pack.h"

#include <string.h>

enum {
    LETTER_PAIRS = 9,
    LETTER_TEXTS = 5,
    LETTER_KEYS = 128 /* more than all keys and numbers take */
};

static const char replacement[] = "\xef\xbf\xbd"; /* U+FFFD */
static const char ellipsis[] = "\xe2\x80\xa6";

/* ---- texts ---- */

/* Valid UTF-8 whatever the text holds, at most LETTER_TEXT bytes. */
static size_t mend(char out[LETTER_TEXT], const char *text)
{
    size_t left = strlen(text);
    size_t size = 0;

    while (left > 0) {
        uint32_t rune;
        size_t length = text_rune((const uint8_t *)text, left, &rune);
        const char *bytes = length > 0 ? text : replacement;
        size_t put = length > 0 ? length : strlen(replacement);

        if (size + put + strlen(ellipsis) > LETTER_TEXT) {
            memcpy(out + size, ellipsis, strlen(ellipsis));
            return size + strlen(ellipsis);
        }
        memcpy(out + size, bytes, put);
        size += put;
        text += length > 0 ? length : 1;
        left -= length > 0 ? length : 1;
    }
    return size;
}

static uint8_t *put_key(uint8_t *at, const char *name)
{
    size_t size = strlen(name);

    at = pack_str_header(at, (uint32_t)size);
    memcpy(at, name, size);
    return at + size;
}

static uint8_t *put_text(uint8_t *at, const char *name, const char *text)
{
    char mended[LETTER_TEXT];
    size_t size;

    at = put_key(at, name);
    if (text == NULL)
        return pack_nil(at);
    size = mend(mended, text);
    at = pack_str_header(at, (uint32_t)size);
    memcpy(at, mended, size);
    return at + size;
}

/* ---- the letter ---- */

static bool has_bytes(const struct letter *letter)
{
    return letter->event->size <= LETTER_EVENT;
}

static uint8_t *put_event(uint8_t *at, const struct letter *letter)
{
    at = put_key(at, "event");
    if (!has_bytes(letter))
        return pack_nil(at);
    memcpy(at, letter->event->bytes, letter->event->size);
    return at + letter->event->size;
}

size_t letter_bound(const struct letter *letter)
{
    return LETTER_KEYS + LETTER_TEXTS * (LETTER_TEXT + PACK_SCALAR) +
           (has_bytes(letter) ? letter->event->size : 1);
}

uint8_t *letter_write(const struct letter *letter, uint8_t *to)
{
    uint8_t *at = pack_map(to, LETTER_PAIRS);

    at = put_text(at, "source", letter->source);
    at = put_key(at, "sequence");
    at = letter->sequence ? pack_u64(at, *letter->sequence) : pack_nil(at);
    at = put_key(at, "position");
    at = letter->position ? pack_u64(at, *letter->position) : pack_nil(at);
    at = put_text(at, "stream", letter->stream);
    at = put_text(at, "filter", letter->filter);
    at = put_text(at, "result", letter->result);
    at = put_text(at, "error", letter->error);
    at = put_key(at, "event_size");
    at = pack_u64(at, letter->event->size);
    return put_event(at, letter);
}

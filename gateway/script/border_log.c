#include "script/border_log.h"

#include "base/text.h"
#include "script/owner.h"

_Static_assert((int)BORDER_LOG_ERROR == (int)LOG_ERROR, "one enum");
_Static_assert((int)BORDER_LOG_WARN == (int)LOG_WARN, "one enum");
_Static_assert((int)BORDER_LOG_INFO == (int)LOG_INFO, "one enum");
_Static_assert((int)BORDER_LOG_DEBUG == (int)LOG_DEBUG, "one enum");

/* As many bytes as a line may have, without half a character. */
static size_t cut(const char *text, size_t size)
{
    size_t end = BORDER_LOG_TEXT;

    if (size <= end)
        return size;
    while (end > BORDER_LOG_TEXT - 4 && ((uint8_t)text[end] & 0xc0) == 0x80)
        end--;
    return end;
}

/* Escaped here already: a text may hold NUL. */
static void write_line(struct border *border, uint32_t level, const char *text,
                       size_t size)
{
    size_t shown = cut(text, size);
    struct buffer name = {0};
    struct buffer line = {0};

    owner_name(border->owner, &name);
    text_escape(&line, text, shown);
    log_gated(&border->owner->gate, (enum log_level)level, "%s: %s%s",
              buffer_text(&name), buffer_text(&line),
              shown < size ? "..." : "");
    buffer_free(&line);
    buffer_free(&name);
}

void border_log_init(struct border *border)
{
    border->log = write_line;
}

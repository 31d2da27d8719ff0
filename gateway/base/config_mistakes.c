#include "base/config_mistakes.h"
#include "base/memory.h"
#include "base/nearest.h"
#include "base/text.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    LISTED_MAX = 16, /* known words named in one message */
    QUOTED_MAX = 64  /* bytes of the file shown in one message */
};

void config_mistake(struct config_mistakes *mistakes, struct config_mark mark,
                    const char *format, ...)
{
    struct buffer text = {0};
    va_list args;

    if (mistakes->count == CONFIG_MISTAKES_MAX) {
        mistakes->unlisted++;
        return;
    }
    if (mistakes->items == NULL)
        mistakes->items =
            memory_new(CONFIG_MISTAKES_MAX * sizeof *mistakes->items);
    va_start(args, format);
    buffer_vprint(&text, format, args);
    va_end(args);
    mistakes->items[mistakes->count] = (struct config_mistake){
        .mark = mark,
        .order = mistakes->count,
        .text = memory_text(buffer_text(&text), text.size)};
    mistakes->count++;
    buffer_free(&text);
}

const char *config_nearest(const char *word, const char *const *known,
                           size_t count)
{
    struct nearest nearest = {.word = word};

    for (size_t i = 0; i < count; i++)
        nearest_offer(&nearest, known[i]);
    return nearest.known;
}

static void list_known(struct buffer *out, const char *const *known,
                       size_t count)
{
    buffer_print(out, count == 1 ? "expected " : "expected one of ");
    for (size_t i = 0; i < count && i < LISTED_MAX; i++) {
        buffer_print(out, i > 0 ? ", " : "");
        text_escape(out, known[i], strlen(known[i]));
    }
    if (count > LISTED_MAX)
        buffer_print(out, ", …");
}

void config_mistake_unknown(struct config_mistakes *mistakes,
                            const struct config_value *word, const char *what,
                            const char *const *known, size_t count)
{
    const char *nearest = config_nearest(word->string, known, count);
    struct buffer expected = {0};

    if (nearest == NULL)
        list_known(&expected, known, count);
    else
        buffer_print(&expected, "did you mean %s?",
                     config_show(nearest, strlen(nearest)).text);
    config_mistake(mistakes, word->mark, "unknown %s %s, %s", what,
                   config_show(word->string, word->size).text,
                   buffer_text(&expected));
    buffer_free(&expected);
}

struct config_shown config_show(const char *text, size_t size)
{
    struct config_shown shown;
    struct buffer escaped = {0};
    bool cut = size > QUOTED_MAX;

    text_escape(&escaped, text, cut ? QUOTED_MAX : size);
    if (escaped.size > sizeof shown.text - sizeof "\"…\"") {
        escaped.size = sizeof shown.text - sizeof "\"…\"";
        /* Not in the middle of a character. */
        while (escaped.size > 0 && (escaped.data[escaped.size] & 0xc0) == 0x80)
            escaped.size--;
        cut = true;
    }
    snprintf(shown.text, sizeof shown.text, "\"%s%s\"", buffer_text(&escaped),
             cut ? "…" : "");
    buffer_free(&escaped);
    return shown;
}

struct config_shown config_show_value(const struct config_value *value)
{
    struct config_shown shown = {"null"};
    char *text = shown.text;
    char digits[32];

    switch (value->kind) {
    case CONFIG_NULL:
        break;
    case CONFIG_BOOL:
        snprintf(text, sizeof shown.text, value->boolean ? "true" : "false");
        break;
    case CONFIG_INTEGER:
        snprintf(text, sizeof shown.text, "the number %" PRId64,
                 value->integer);
        break;
    case CONFIG_UINTEGER:
        snprintf(text, sizeof shown.text, "the number %" PRIu64,
                 value->uinteger);
        break;
    case CONFIG_NUMBER:
        text_double(digits, value->number);
        snprintf(text, sizeof shown.text, "the number %s", digits);
        break;
    case CONFIG_STRING:
        return config_show(value->string, value->size);
    case CONFIG_LIST:
        snprintf(text, sizeof shown.text, "a list");
        break;
    case CONFIG_MAP:
        snprintf(text, sizeof shown.text, "a map");
        break;
    }
    return shown;
}

static int compare(const void *a, const void *b)
{
    const struct config_mistake *left = a;
    const struct config_mistake *right = b;

    if (left->mark.line != right->mark.line)
        return left->mark.line < right->mark.line ? -1 : 1;
    if (left->mark.column != right->mark.column)
        return left->mark.column < right->mark.column ? -1 : 1;
    return left->order < right->order ? -1 : left->order > right->order;
}

/* What an anchor holds is judged wherever it is used: tell it once. */
static bool is_repeated(const struct config_mistake *mistake, size_t index)
{
    return index > 0 && mistake[-1].mark.line == mistake->mark.line &&
           mistake[-1].mark.column == mistake->mark.column &&
           strcmp(mistake[-1].text, mistake->text) == 0;
}

void config_mistakes_print(struct config_mistakes *mistakes, const char *path,
                           struct buffer *out)
{
    if (mistakes->count > 0)
        qsort(mistakes->items, mistakes->count, sizeof *mistakes->items,
              compare);
    for (size_t i = 0; i < mistakes->count; i++) {
        const struct config_mistake *mistake = &mistakes->items[i];

        if (is_repeated(mistake, i))
            continue;
        text_escape(out, path, strlen(path));
        if (mistake->mark.line > 0)
            buffer_print(out, ":%u:%u", mistake->mark.line,
                         mistake->mark.column);
        buffer_print(out, ": %s\n", mistake->text);
    }
    if (mistakes->unlisted == 0)
        return;
    text_escape(out, path, strlen(path));
    buffer_print(out, ": and %zu more mistakes\n", mistakes->unlisted);
}

void config_mistakes_free(struct config_mistakes *mistakes)
{
    for (size_t i = 0; i < mistakes->count; i++)
        free(mistakes->items[i].text);
    free(mistakes->items);
    *mistakes = (struct config_mistakes){0};
}

#include "base/config_scalar.h"
#include "base/config_mistakes.h"
#include "base/memory.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- variables ---- */

static bool is_name(const char *text, size_t size)
{
    for (size_t i = 0; i < size; i++) {
        bool letter = (text[i] >= 'a' && text[i] <= 'z') ||
                      (text[i] >= 'A' && text[i] <= 'Z') || text[i] == '_';

        if (!letter && (i == 0 || text[i] < '0' || text[i] > '9'))
            return false;
    }
    return size > 0;
}

/* `body` is what stands between the braces. */
static bool expand_one(struct buffer *out, const char *body, size_t size,
                       struct error *error)
{
    const char *dash = memmem(body, size, ":-", 2);
    size_t name_size = dash != NULL ? (size_t)(dash - body) : size;
    const char *value;
    char *name;

    if (!is_name(body, name_size)) {
        error_set(error,
                  "%s is no variable, expected ${NAME} or "
                  "${NAME:-default}; write $${ for ${ itself",
                  config_show(body, size).text);
        return false;
    }
    name = memory_text(body, name_size);
    value = getenv(name);
    if (dash != NULL && (value == NULL || *value == '\0'))
        buffer_put(out, dash + 2, size - name_size - 2);
    else if (value != NULL)
        buffer_put(out, value, strlen(value));
    else
        error_set(error,
                  "environment variable %s is not set, set it or write "
                  "${%s:-default}",
                  config_show(body, name_size).text,
                  name_size < 64 ? name : "NAME");
    free(name);
    return !error_is_set(error);
}

bool config_expand(struct buffer *out, const char *text, size_t size,
                   struct error *error)
{
    const char *end = text + size;
    const char *done = text;
    const char *open;

    while ((open = memmem(done, (size_t)(end - done), "${", 2)) != NULL) {
        const char *close = memchr(open, '}', (size_t)(end - open));

        buffer_put(out, done, (size_t)(open - done));
        if (open > done && open[-1] == '$') { /* $${: drop the first */
            buffer_put(out, "{", 1);
            done = open + 2;
            continue;
        }
        if (close == NULL) {
            error_set(error, "${ without }, expected ${NAME}; write $${ for "
                             "${ itself");
            return false;
        }
        if (!expand_one(out, open + 2, (size_t)(close - open) - 2, error))
            return false;
        done = close + 1;
    }
    buffer_put(out, done, (size_t)(end - done));
    return true;
}

/* ---- the core schema ---- */

static bool is_word(const char *text, const char *const words[3])
{
    for (int i = 0; i < 3; i++)
        if (strcmp(text, words[i]) == 0)
            return true;
    return false;
}

static const char *const null_words[] = {"null", "Null", "NULL"};
static const char *const true_words[] = {"true", "True", "TRUE"};
static const char *const false_words[] = {"false", "False", "FALSE"};
static const char *const inf_words[] = {".inf", ".Inf", ".INF"};
static const char *const nan_words[] = {".nan", ".NaN", ".NAN"};

static const char *skip_sign(const char *text)
{
    return *text == '-' || *text == '+' ? text + 1 : text;
}

static const char decimal[] = "0123456789";

/* Digits of `base` and nothing else behind `digits`. */
static int integer_base(const char *text, const char **digits)
{
    const char *set = decimal;
    int base = 10;

    *digits = skip_sign(text);
    if (strncmp(text, "0x", 2) == 0) {
        set = "0123456789abcdefABCDEF";
        base = 16;
        *digits = text + 2;
    } else if (strncmp(text, "0o", 2) == 0) {
        set = "01234567";
        base = 8;
        *digits = text + 2;
    }
    if (**digits == '\0' || (*digits)[strspn(*digits, set)] != '\0')
        return 0;
    return base;
}

static bool resolve_integer(struct config_value *value, bool negative,
                            const char *digits, int base)
{
    const uint64_t magnitude = (errno = 0, strtoull(digits, NULL, base));

    if (errno == ERANGE || (negative && magnitude > (uint64_t)INT64_MAX + 1))
        return false;
    value->kind = CONFIG_INTEGER;
    if (negative)
        value->integer = (int64_t)(0 - magnitude);
    else if (magnitude <= INT64_MAX)
        value->integer = (int64_t)magnitude;
    else
        value->kind = CONFIG_UINTEGER;
    value->uinteger = negative ? 0 : magnitude;
    return true;
}

/* [-+]? ( \. [0-9]+ | [0-9]+ ( \. [0-9]* )? ) ( [eE] [-+]? [0-9]+ )? */
static bool is_fraction(const char *text)
{
    const char *at = skip_sign(text);
    size_t whole = strspn(at, decimal);
    size_t part = 0;

    at += whole;
    if (*at == '.') {
        part = strspn(at + 1, decimal);
        at += 1 + part;
    }
    if (whole + part == 0)
        return false;
    if (*at != 'e' && *at != 'E')
        return *at == '\0';
    at = skip_sign(at + 1);
    return *at != '\0' && at[strspn(at, decimal)] == '\0';
}

static bool resolve_number(struct config_value *value, const char *text)
{
    if (is_fraction(text))
        value->number = strtod(text, NULL);
    else if (is_word(skip_sign(text), inf_words))
        value->number = *text == '-' ? -INFINITY : INFINITY;
    else if (is_word(text, nan_words))
        value->number = NAN;
    else
        return false;
    value->kind = CONFIG_NUMBER;
    return true;
}

bool config_resolve(struct config_value *value, const char *text, size_t size)
{
    const char *digits;
    int base = integer_base(text, &digits);

    if (size == 0 || strcmp(text, "~") == 0 || is_word(text, null_words)) {
        value->kind = CONFIG_NULL;
    } else if (is_word(text, true_words) || is_word(text, false_words)) {
        value->kind = CONFIG_BOOL;
        value->boolean = is_word(text, true_words);
    } else if (base != 0) {
        return resolve_integer(value, *text == '-', digits, base);
    } else if (!resolve_number(value, text)) {
        value->kind = CONFIG_STRING;
        value->string = memory_text(text, size);
        value->size = size;
    }
    return true;
}

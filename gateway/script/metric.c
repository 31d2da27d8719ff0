#include "script/metric.h"

#include "base/log.h"
#include "base/memory.h"
#include "base/text.h"
#include "script/owner.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char other[] = "_other";

struct declared {
    struct metric metric; /* first: what scripts hold */
    struct declared *next;
    const struct owner *owner; /* borrowed */
    char *name;
    char *help;
    char *labels[METRIC_LABELS];
    uint32_t label_count;
    uint32_t kind;
    uint32_t limit;
    uint32_t count;  /* series so far, without number 0 */
    bool overflowed; /* number 0 was used */
    bool told;       /* the log has why */
    char **values;   /* of series 1 …: each label's, closed by NUL */
};

struct metric_list {
    struct declared *first;
    struct declared **end;
    uint32_t count;
    size_t text; /* of METRIC_TEXT */
};

struct metric_list *metric_list_new(void)
{
    struct metric_list *list = memory_new(sizeof *list);

    list->end = &list->first;
    return list;
}

static void free_declared(struct declared *declared)
{
    for (uint32_t i = 0; i < declared->count; i++)
        free(declared->values[i]);
    for (uint32_t i = 0; i < declared->label_count; i++)
        free(declared->labels[i]);
    free(declared->values);
    free(declared->metric.counts);
    free(declared->metric.levels);
    free(declared->help);
    free(declared->name);
    free(declared);
}

void metric_list_free(struct metric_list *list)
{
    if (list == NULL)
        return;
    while (list->first != NULL) {
        struct declared *declared = list->first;

        list->first = declared->next;
        free_declared(declared);
    }
    free(list);
}

/* ---- declaring ---- */

static char *copy(const char *text)
{
    return memory_text(text, strlen(text));
}

static uint32_t judge(const struct border *border,
                      const struct metric_wanted *wanted)
{
    for (const struct declared *at = border->metric_list->first; at != NULL;
         at = at->next) {
        if (strcmp(at->name, wanted->name) != 0)
            continue;
        if (at->owner == border->owner)
            return METRIC_TWICE;
        if (at->kind != wanted->kind)
            return METRIC_OTHER;
    }
    return border->metric_list->count < METRIC_MAX ? METRIC_DONE
                                                   : METRIC_TOO_MANY;
}

static uint32_t declare(struct border *border,
                        const struct metric_wanted *wanted,
                        struct metric **metric)
{
    struct metric_list *list = border->metric_list;
    uint32_t found = judge(border, wanted);
    struct declared *declared;

    if (found != METRIC_DONE)
        return found;
    declared = memory_new(sizeof *declared);
    declared->owner = border->owner;
    declared->name = copy(wanted->name);
    declared->help = copy(wanted->help);
    declared->kind = wanted->kind;
    declared->limit = wanted->limit;
    declared->label_count = wanted->label_count;
    for (uint32_t i = 0; i < wanted->label_count; i++)
        declared->labels[i] = copy(wanted->labels[i]);
    if (declared->kind == METRIC_COUNTER)
        declared->metric.counts =
            memory_new((wanted->limit + 1) * sizeof(uint64_t));
    else
        declared->metric.levels =
            memory_new((wanted->limit + 1) * sizeof(double));
    declared->values = memory_new(wanted->limit * sizeof *declared->values);
    *list->end = declared;
    list->end = &declared->next;
    list->count++;
    *metric = &declared->metric;
    return METRIC_DONE;
}

/* ---- series ---- */

/* What Prometheus takes as it is, and no two of which look the same. */
static bool is_label_value(const char *value, size_t size)
{
    size_t at = 0;

    if (size > METRIC_VALUE || memchr(value, '\0', size) != NULL)
        return false;
    while (at < size) {
        uint32_t rune;
        size_t length =
            text_rune((const uint8_t *)value + at, size - at, &rune);

        if (length == 0)
            return false;
        at += length;
    }
    return true;
}

static bool is_other(const char *value, size_t size)
{
    return size == sizeof other - 1 && memcmp(value, other, size) == 0;
}

/* Why values get no series of their own; NULL: they get one. */
static const char *what_is_wrong(const struct metric_list *list,
                                 const struct declared *declared,
                                 const char *const *values, const size_t *sizes)
{
    size_t text = 64;

    for (uint32_t i = 0; i < declared->label_count; i++) {
        if (!is_label_value(values[i], sizes[i]))
            return "a label's value is no text of up to 128 bytes";
        text += sizes[i];
    }
    if (declared->count == declared->limit)
        return "it has as many series as its limit allows";
    if (text > METRIC_TEXT - list->text)
        return "the label values of all metrics take 4 MiB";
    return NULL;
}

static void tell_overflow(const struct declared *declared, const char *why)
{
    struct buffer name = {0};

    owner_name(declared->owner, &name);
    log_line(LOG_WARN, "%s: metric \"%s\": %s; counted as \"%s\" from now on",
             buffer_text(&name), declared->name, why, other);
    buffer_free(&name);
}

/* `why` is NULL where the filter itself counts under that name. */
static uint32_t overflow(struct declared *declared, const char *why)
{
    if (!declared->told && why != NULL) {
        tell_overflow(declared, why);
        declared->told = true;
    }
    declared->overflowed = true;
    return 0;
}

static bool are_other(const struct declared *declared,
                      const char *const *values, const size_t *sizes)
{
    for (uint32_t i = 0; i < declared->label_count; i++)
        if (!is_other(values[i], sizes[i]))
            return false;
    return true;
}

static char *join(const struct declared *declared, const char *const *values,
                  const size_t *sizes, size_t *size)
{
    char *text, *at;

    *size = 0;
    for (uint32_t i = 0; i < declared->label_count; i++)
        *size += sizes[i] + 1;
    text = at = memory_new(*size);
    for (uint32_t i = 0; i < declared->label_count; i++) {
        memcpy(at, values[i], sizes[i]);
        at += sizes[i] + 1;
    }
    return text;
}

static uint32_t series(struct border *border, struct metric *metric,
                       const char *const *values, const size_t *sizes)
{
    struct declared *declared = (struct declared *)metric;
    const char *wrong =
        what_is_wrong(border->metric_list, declared, values, sizes);
    size_t size;

    if (wrong != NULL)
        return overflow(declared, wrong);
    if (are_other(declared, values, sizes))
        return overflow(declared, NULL);
    declared->values[declared->count++] = join(declared, values, sizes, &size);
    border->metric_list->text += 64 + size;
    return declared->count;
}

const struct metric_border metric_border = {
    .declare = declare,
    .series = series,
};

/* ---- /metrics ---- */

static void print_sample(const struct declared *declared, uint32_t number,
                         struct metrics *out)
{
    struct metrics_label labels[METRIC_LABELS + 3];
    const char *value = number == 0 ? other : declared->values[number - 1];
    char position[16];

    snprintf(position, sizeof position, "%u", declared->owner->position);
    labels[0] = (struct metrics_label){"filter", declared->owner->script};
    labels[1] = (struct metrics_label){"stream", declared->owner->stream};
    labels[2] = (struct metrics_label){"position", position};
    for (uint32_t i = 0; i < declared->label_count; i++) {
        labels[3 + i] = (struct metrics_label){declared->labels[i], value};
        if (number != 0)
            value += strlen(value) + 1;
    }
    if (declared->kind == METRIC_COUNTER)
        metrics_u64_of(out, declared->metric.counts[number], labels,
                       3 + declared->label_count);
    else
        metrics_double_of(out, declared->metric.levels[number], labels,
                          3 + declared->label_count);
}

static void print_declared(const struct declared *declared, struct metrics *out)
{
    if (declared->label_count == 0 || declared->overflowed)
        print_sample(declared, 0, out);
    for (uint32_t i = 1; i <= declared->count; i++)
        print_sample(declared, i, out);
}

static bool is_first_of_name(const struct metric_list *list,
                             const struct declared *declared)
{
    const struct declared *at = list->first;

    while (strcmp(at->name, declared->name) != 0)
        at = at->next;
    return at == declared;
}

static void print_family(const struct declared *first, struct metrics *out)
{
    static const char *const kinds[] = {"counter", "gauge"};
    char name[128];

    snprintf(name, sizeof name, "kvgate_filter_%s", first->name);
    metrics_family(out, name, kinds[first->kind], first->help);
    for (const struct declared *at = first; at != NULL; at = at->next)
        if (strcmp(at->name, first->name) == 0)
            print_declared(at, out);
}

void metric_list_print(const struct metric_list *list, struct metrics *out)
{
    for (const struct declared *at = list->first; at != NULL; at = at->next)
        if (is_first_of_name(list, at))
            print_family(at, out);
}

#include "cli/tap_options.h"

#include <string.h>

enum { HWM_MAX = 100000000 };

#define PLACE(field) offsetof(struct tap_options, field)

static const struct argument table[] = {
    {.name = "bind",
     .kind = ARGUMENT_FLAG,
     .offset = PLACE(bind),
     .help = "bind instead of connecting"},
    {.name = "topic",
     .value = "PREFIX",
     .kind = ARGUMENT_TEXT,
     .offset = PLACE(topic),
     .help = "only messages whose topic begins so; others show as gaps"},
    {.name = "count",
     .value = "N",
     .kind = ARGUMENT_NUMBER,
     .offset = PLACE(count),
     .most = UINT64_MAX,
     .help = "end after N events (messages, with --batches)"},
    {.name = "batches",
     .kind = ARGUMENT_FLAG,
     .offset = PLACE(batches),
     .help = "one line a message instead of one an event"},
    {.name = "fields",
     .value = "A,B,C",
     .kind = ARGUMENT_LIST,
     .offset = PLACE(fields),
     .help = "only these fields of an event"},
    {.name = "hwm",
     .value = "MESSAGES",
     .kind = ARGUMENT_NUMBER,
     .offset = PLACE(hwm),
     .most = HWM_MAX,
     .help = "that wait to be printed, more are lost; 0: no bound (10000)"},
    {.name = "record",
     .value = "FILE",
     .kind = ARGUMENT_TEXT,
     .offset = PLACE(record),
     .help = "write all messages to it too, for kvgate sim --from"},
    CURVE_ARGUMENTS(PLACE(curve)),
    {.name = "help",
     .kind = ARGUMENT_FLAG,
     .offset = PLACE(help),
     .help = "this page"},
    {0},
};

/* "name=tcp://…": an ipc path may hold a "=" too, but behind its "://". */
static struct tap_endpoint split_operand(char *operand)
{
    char *scheme = strstr(operand, "://");
    char *equals = strchr(operand, '=');

    if (equals == NULL || scheme == NULL || equals > scheme)
        return (struct tap_endpoint){.endpoint = operand};
    *equals = '\0';
    return (struct tap_endpoint){.name = operand, .endpoint = equals + 1};
}

/* Lines of several streams must be told apart. */
static bool check_names(struct tap_options *options, struct error *error)
{
    struct tap_endpoint *endpoints = options->endpoints;

    for (size_t i = 0; i < options->endpoint_count; i++) {
        if (endpoints[i].name == NULL && options->endpoint_count > 1)
            endpoints[i].name = endpoints[i].endpoint;
        if (endpoints[i].name != NULL && endpoints[i].name[0] == '\0') {
            error_set(error, "the name before \"=%s\" is empty",
                      endpoints[i].endpoint);
            return false;
        }
        for (size_t j = 0; j < i; j++) {
            if (strcmp(endpoints[i].name, endpoints[j].name) == 0) {
                error_set(error, "two streams are called \"%s\"",
                          endpoints[i].name);
                return false;
            }
        }
    }
    return true;
}

static bool read_operands(struct tap_options *options, char **operands,
                          size_t count, struct error *error)
{
    if (count == 0)
        error_set(error, "no ENDPOINT to print from");
    else if (count > TAP_STREAMS_MAX)
        error_set(error, "more than %d endpoints", TAP_STREAMS_MAX);
    if (error_is_set(error))
        return false;
    for (size_t i = 0; i < count; i++)
        options->endpoints[i] = split_operand(operands[i]);
    options->endpoint_count = count;
    return check_names(options, error);
}

bool tap_options_read(struct tap_options *options, int argc, char **argv,
                      struct error *error)
{
    int operand;

    *options = (struct tap_options){.topic = "", .hwm = 10000};
    operand = arguments_read(argc, argv, table, options, error);
    if (operand < 0)
        return false;
    return options->help || read_operands(options, argv + operand,
                                          (size_t)(argc - operand), error);
}

void tap_options_help(void)
{
    printf(
        "usage: kvgate tap [NAME=]ENDPOINT... [OPTION]...\n"
        "\n"
        "Print streams of KV events as JSON lines.\n"
        "\n"
        "An event's line has its message's number as \"seq\", its place there\n"
        "as \"position\", and its fields, which are shown instead of\n"
        "these where they have such a name.  Lines between them tell of\n"
        "\n"
        "  {\"gap\":{\"after\":5,\"before\":9,\"missing\":3}}  numbers are "
        "missing\n"
        "  {\"restart\":{\"last\":9,\"now\":1}}              the publisher "
        "started over;\n"
        "                                              \"event_id\" if that is "
        "what went back\n"
        "  {\"announcement\":{\"seq\":9,…}}                a message without "
        "events\n"
        "  {\"malformed\":{\"reason\":…}}                  a message, or "
        "event, "
        "that is none\n"
        "\n"
        "A NAME is told in each line as \"stream\"; of several streams one "
        "without a\n"
        "NAME is called by its ENDPOINT.  Binary values are\n"
        "{\"$bin\":HEX}, extensions {\"$ext\":TYPE,\"data\":HEX}; integers "
        "have\n"
        "all their digits.\n"
        "\n");
    arguments_help(stdout, table);
}

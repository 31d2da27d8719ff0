#include "cli/try.h"

#include "base/nearest.h"
#include "cli/arguments.h"
#include "cli/try_feed.h"
#include "cli/try_keys.h"
#include "cli/usage.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct try_options {
    const char *subject;
    char **files;
    size_t file_count;
    const char *options; /* of a filter, YAML */
    struct argument_list streams, only;
    bool json, explain_keys, help;
};

#define PLACE(field) offsetof(struct try_options, field)

static const struct argument table[] = {
    {.name = "options",
     .value = "YAML",
     .kind = ARGUMENT_TEXT,
     .offset = PLACE(options),
     .help = "of the FILTER, in one line: '{ keep: cpu }'"},
    {.name = "streams",
     .value = "NAMES",
     .kind = ARGUMENT_LIST,
     .offset = PLACE(streams),
     .help = "a,b: that the FILTER may name; else one, out"},
    {.name = "only",
     .value = "VERDICTS",
     .kind = ARGUMENT_LIST,
     .offset = PLACE(only),
     .help = "of kept,dropped,split,lost,dead_letter,changed"},
    {.name = "explain-keys",
     .kind = ARGUMENT_FLAG,
     .offset = PLACE(explain_keys),
     .help = "say what each object key says, by which convention"},
    {.name = "json",
     .kind = ARGUMENT_FLAG,
     .offset = PLACE(json),
     .help = "print JSON lines"},
    {.name = "help",
     .kind = ARGUMENT_FLAG,
     .offset = PLACE(help),
     .help = "this page"},
    {0},
};

/* The bit of `only` for a word, which is offered those that there are; 0:
 * none. */
static unsigned read_verdict(struct nearest *nearest)
{
    unsigned bit = strcmp(nearest->word, "changed") == 0 ? TRY_CHANGED : 0;

    nearest_offer(nearest, "changed");
    for (unsigned verdict = 0; verdict < TRY_VERDICTS; verdict++) {
        nearest_offer(nearest, try_verdict_names[verdict]);
        if (strcmp(nearest->word, try_verdict_names[verdict]) == 0)
            bit = 1u << verdict;
    }
    return bit;
}

static bool read_only(const struct argument_list *list, unsigned *only,
                      struct error *error)
{
    for (size_t i = 0; i < list->count; i++) {
        struct nearest nearest = {.word = list->items[i]};
        unsigned bit = read_verdict(&nearest);

        if (bit == 0) {
            error_set(error,
                      "--only takes kept, dropped, split, lost, dead_letter "
                      "and changed, not \"%s\"%s%s%s",
                      nearest.word, nearest.known ? "; did you mean \"" : "",
                      nearest.known ? nearest.known : "",
                      nearest.known ? "\"?" : "");
            return false;
        }
        *only |= bit;
    }
    return true;
}

/* Does what stands first look like events, or what stands behind it like a
 * filter? */
static bool is_swapped(char **operands, int count)
{
    bool swapped = usage_has_ending(operands[0], ".jsonl");

    for (int i = 1; i < count; i++)
        swapped = swapped || try_core_is_filter(operands[i]);
    return swapped;
}

static bool read_options(struct try_options *options, int argc, char **argv,
                         struct error *error)
{
    int operand = arguments_read(argc, argv, table, options, error);
    if (operand < 0)
        return false;
    if (options->help)
        return true;
    if (argc - operand < 2) {
        error_set(error, "expected a CONFIG or FILTER, and a FILE of events");
        return false;
    }
    if (is_swapped(argv + operand, argc - operand)) {
        error_set(error,
                  "expected a CONFIG or a FILTER first, then FILEs of events");
        return false;
    }
    options->subject = argv[operand];
    options->files = argv + operand + 1;
    options->file_count = (size_t)(argc - operand - 1);
    if (!try_core_is_filter(options->subject) &&
        (options->options != NULL || options->streams.count > 0)) {
        error_set(error,
                  "--options and --streams go with a FILTER (*.lua); %s "
                  "says them itself",
                  options->subject);
        return false;
    }
    if (options->streams.count == 0)
        options->streams = (struct argument_list){.items = {"out"}, .count = 1};
    return true;
}

void try_help(void)
{
    printf(
        "usage: kvgate try CONFIG|FILTER FILE... [OPTION]...\n"
        "\n"
        "Say what becomes of each event of the FILEs: JSON lines, one event a\n"
        "line as kvgate tap prints them (- is standard input), or recordings\n"
        "of kvgate tap --record.  A FILTER is a *.lua.  Of each event it says\n"
        "\n"
        "  kept, dropped, split or lost; by which filter; why;\n"
        "  the streams that it goes to; and each field that changed.\n"
        "\n"
        "Exit code 1 when an event was lost, a filter failed or a FILE is\n"
        "wrong; 2 wrong usage; 3 the CONFIG or FILTER is wrong.\n"
        "\n");
    arguments_help(stdout, table);
}

static bool is_coloured(void)
{
    const char *refused = getenv("NO_COLOR"), *terminal = getenv("TERM");

    return isatty(STDOUT_FILENO) && (refused == NULL || *refused == '\0') &&
           (terminal == NULL || strcmp(terminal, "dumb") != 0);
}

static int run_files(const struct try_options *options, struct try_feed *feed)
{
    bool done = true;

    for (size_t i = 0; i < feed->core->step_count; i++)
        try_reads_scan(&feed->reads, feed->core->steps[i].path);
    for (size_t i = 0; i < options->file_count; i++)
        done &= try_feed_file(feed, options->files[i]);
    /* Of files of which nothing could be read there is nothing to sum up. */
    if (done || feed->print->events > 0)
        try_print_summary(feed->print);
    fwrite(feed->print->out->data, 1, feed->print->out->size, stdout);
    fflush(stdout);
    if (feed->print->events > 0)
        try_reads_tell(&feed->reads);
    return done && !feed->core->failed ? EXIT_FINE : EXIT_FAILED;
}

static int run_options(const struct try_options *options, unsigned only)
{
    struct try_core core, keys = {0};
    struct buffer mistakes = {0}, out = {0};
    struct try_print print = {.out = &out,
                              .core = &core,
                              .json = options->json,
                              .colour = !options->json && is_coloured(),
                              .only = only};
    struct try_feed feed = {.core = &core, .print = &print};
    struct try_subject subject = {.path = options->subject,
                                  .options = options->options,
                                  .streams = options->streams.items,
                                  .stream_count = options->streams.count};
    int code = EXIT_CONFIG;

    if (options->explain_keys)
        feed.keys = &keys;
    if (try_core_open(&core, &subject, &mistakes) &&
        (feed.keys == NULL || try_keys_open(&keys, core.config, &mistakes)))
        code = run_files(options, &feed);
    else
        fputs(buffer_text(&mistakes), stderr);
    buffer_free(&mistakes);
    buffer_free(&out);
    try_core_free(&core);
    try_core_free(&keys);
    return code;
}

int try_main(int argc, char **argv)
{
    struct try_options options = {0};
    struct error error = {0};
    unsigned only = 0;

    if (!read_options(&options, argc, argv, &error) ||
        !read_only(&options.only, &only, &error)) {
        fprintf(stderr, "kvgate try: %s\nkvgate try --help says how.\n",
                error.text);
        return EXIT_USAGE;
    }
    if (options.help) {
        try_help();
        return EXIT_FINE;
    }
    return run_options(&options, only);
}

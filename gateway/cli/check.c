#include "cli/check.h"

#include "cli/place.h"
#include "cli/usage.h"
#include "relay/pipeline.h"

#include <stdio.h>

static const char *direction(const struct config_socket *socket)
{
    return socket->bind ? "bind" : "connect";
}

static void print_chain(const struct chain *chain, const char *indent)
{
    for (size_t i = 0; i < chain->count; i++)
        printf("%sfilter %s\n", indent,
               script_filter_path(chain->steps[i].filter));
}

static void print_sources(const struct config *config)
{
    for (size_t i = 0; i < config->source_count; i++) {
        const struct config_source *source = &config->sources[i];

        printf("source \"%s\"  %s %s\n", source->name,
               direction(&source->socket), source->socket.endpoint);
    }
}

/* The sources whose events may get to a stream. */
static void print_feed(const struct config *config,
                       const struct pipeline *pipeline, size_t stream)
{
    const char *before = "  fed by ";

    for (size_t i = 0; i < config->source_count; i++) {
        if ((pipeline_reach(pipeline, i)[stream / 64] >> stream % 64 & 1) == 0)
            continue;
        printf("%s\"%s\"", before, config->sources[i].name);
        before = ", ";
    }
    printf("\n");
}

static void print_streams(const struct config *config,
                          const struct pipeline *pipeline)
{
    for (size_t i = 0; i < config->stream_count; i++) {
        const struct config_stream *stream = &config->streams[i];

        printf("stream \"%s\"  %s %s\n", stream->name,
               direction(&stream->socket), stream->socket.endpoint);
        print_feed(config, pipeline, i);
        for (size_t j = 0; j < stream->accept_count; j++)
            printf("  accepts by %s\n", stream->accept[j].field);
        print_chain(&pipeline->chains[i], "  ");
    }
}

static void print_letters(const struct config *config)
{
    const struct config_socket *socket = &config->dead_letters->socket;

    printf("dead letters  %s %s\n", direction(socket), socket->endpoint);
    if (!config_has_letters(config))
        printf("  of no filter: none has \"on_error: dead_letter\"\n");
}

static void print_summary(const struct config *config,
                          const struct pipeline *pipeline)
{
    print_sources(config);
    print_chain(&pipeline->global, "");
    print_streams(config, pipeline);
    if (config->dead_letters != NULL)
        print_letters(config);
    if (config->admin_host != NULL)
        printf("admin  %s:%u\n", config->admin_host, config->admin_port);
    printf("%s is fine\n", config->path);
}

void check_help(void)
{
    printf("usage: kvgate check CONFIG\n"
           "\n"
           "Do all that a start does but open sockets: say what would run, or\n"
           "all that is wrong, one mistake a line, on standard error.\n"
           "\n"
           "Exit code 0 when the CONFIG and its scripts are fine; 2 wrong\n"
           "usage; 3 they are not.\n");
}

int check_main(int argc, char **argv)
{
    const char *path = usage_config(argc, argv);
    struct place *place;
    struct relay *relay;
    struct draft draft;
    struct buffer mistakes = {0};
    int code = EXIT_CONFIG;

    if (path == NULL)
        return EXIT_USAGE;
    place = place_find();
    relay = relay_new();
    if (draft_load(&draft, path, place_installed(place), &mistakes)) {
        /* In force without sockets: nothing is sent before a message came. */
        relay_adopt(relay, draft.plan, (struct relay_now){0});
        print_summary(draft.config, relay_pipeline(relay));
        code = EXIT_FINE;
    } else {
        fputs(buffer_text(&mistakes), stderr);
    }
    relay_free(relay);
    config_free(draft.config);
    buffer_free(&mistakes);
    place_free(place);
    return code;
}

#include "cli/sim_options.h"

#include <stdlib.h>
#include <string.h>

enum { WEIGHT_MAX = 1000000, HWM_MAX = 100000000 };

static const double SPEED_LEAST = 0.001, SPEED_MOST = 1000000;

#define PLACE(field) offsetof(struct sim_options, field)

static bool read_timestamp(void *target, char *text, struct error *error)
{
    struct sim_options *options = target;

    options->fixed_time = true;
    return argument_number(text, 0, INT64_MAX, &options->timestamp, error);
}

static bool read_keys(void *target, char *text, struct error *error)
{
    static const char *const names[] = {[SIM_KEYS_VLLM] = "vllm",
                                        [SIM_KEYS_SGLANG] = "sglang",
                                        [SIM_KEYS_LMCACHE] = "lmcache"};
    struct sim_options *options = target;

    for (int keys = 0; keys <= SIM_KEYS_LMCACHE; keys++) {
        if (strcmp(text, names[keys]) == 0) {
            options->keys = (enum sim_keys)keys;
            return true;
        }
    }
    error_set(error, "\"%s\" is not vllm, sglang or lmcache", text);
    return false;
}

static bool read_mix(void *target, char *text, struct error *error)
{
    struct sim_options *options = target;
    char *weight;

    for (int kind = 0; kind < SIM_KINDS; kind++) {
        weight = strsep(&text, ":");
        if (weight == NULL) {
            error_set(error, "expected STORED:REMOVED:CLEARED");
            return false;
        }
        /* What was never stored can be neither removed nor cleared. */
        if (!argument_number(weight, kind == SIM_STORED, WEIGHT_MAX,
                             &options->mix[kind], error))
            return false;
    }
    if (text != NULL)
        error_set(error, "expected STORED:REMOVED:CLEARED");
    return text == NULL;
}

static bool read_media(void *target, char *text, struct error *error)
{
    struct sim_options *options = target;
    struct argument_list list;

    if (!argument_list(text, &list, error))
        return false;
    options->media = 0;
    for (size_t i = 0; i < list.count; i++) {
        if (strcmp(list.items[i], "cpu") == 0) {
            options->media |= SIM_CPU;
        } else if (strcmp(list.items[i], "disk") == 0) {
            options->media |= SIM_DISK;
        } else {
            error_set(error, "\"%s\" is not cpu or disk", list.items[i]);
            return false;
        }
    }
    return true;
}

static bool read_speed(void *target, char *text, struct error *error)
{
    struct sim_options *options = target;
    char *end;

    options->timed = true;
    options->speed = strtod(text, &end);
    if (text[0] >= '0' && text[0] <= '9' && *end == '\0' &&
        (options->speed == 0 ||
         (options->speed >= SPEED_LEAST && options->speed <= SPEED_MOST)))
        return true;
    error_set(error, "\"%s\" is not 0 or a number from %g to %g", text,
              SPEED_LEAST, SPEED_MOST);
    return false;
}

static const struct argument table[] = {
    {.name = "bind",
     .value = "ENDPOINT",
     .kind = ARGUMENT_TEXT,
     .offset = PLACE(bind),
     .help = "where to publish (tcp://127.0.0.1:5557)"},
    {.name = "connect",
     .value = "ENDPOINT",
     .kind = ARGUMENT_TEXT,
     .offset = PLACE(connect),
     .help = "connect there instead"},
    {.name = "wait-subscribers",
     .value = "N",
     .kind = ARGUMENT_NUMBER,
     .offset = PLACE(subscribers),
     .most = 1000,
     .help = "send nothing until N subscriptions have come (0)"},
    {.name = "hwm",
     .value = "MESSAGES",
     .kind = ARGUMENT_NUMBER,
     .offset = PLACE(hwm),
     .most = HWM_MAX,
     .help = "queued for a subscriber, more is lost; 0: no bound (10000)"},
    {.name = "rate",
     .value = "EVENTS",
     .kind = ARGUMENT_NUMBER,
     .offset = PLACE(rate),
     .most = 1000000000,
     .help = "events a second; 0: as fast as it goes (1000)"},
    {.name = "count",
     .value = "EVENTS",
     .kind = ARGUMENT_NUMBER,
     .offset = PLACE(count),
     .most = UINT64_MAX,
     .help = "end after so many; 0: never (0)"},
    {.name = "batch",
     .value = "EVENTS",
     .kind = ARGUMENT_NUMBER,
     .offset = PLACE(batch),
     .least = 1,
     .most = SIM_BATCH_MAX,
     .help = "events a message (8)"},
    {.name = "seed",
     .value = "N",
     .kind = ARGUMENT_NUMBER,
     .offset = PLACE(seed),
     .most = UINT64_MAX,
     .help = "all but the time follows from it (1)"},
    {.name = "timestamp",
     .value = "MS",
     .kind = ARGUMENT_OTHER,
     .read = read_timestamp,
     .help = "of every message, instead of the clock"},
    {.name = "tenants",
     .value = "A,B,C",
     .kind = ARGUMENT_LIST,
     .offset = PLACE(tenants),
     .help = "(acme,globex,initech)"},
    {.name = "keys",
     .value = "WHOSE",
     .kind = ARGUMENT_OTHER,
     .read = read_keys,
     .help = "object keys of vllm, sglang or lmcache (vllm)"},
    {.name = "mix",
     .value = "S:R:C",
     .kind = ARGUMENT_OTHER,
     .read = read_mix,
     .help = "weights of stored, removed and cleared (60:39:1)"},
    {.name = "medium",
     .value = "A,B",
     .kind = ARGUMENT_OTHER,
     .read = read_media,
     .help = "cpu, disk or both (cpu,disk)"},
    {.name = "objects",
     .value = "N",
     .kind = ARGUMENT_NUMBER,
     .offset = PLACE(objects),
     .least = 1,
     .most = SIM_OBJECTS_MAX,
     .help = "that a tenant has at once at the most (10000)"},
    {.name = "model",
     .value = "NAME",
     .kind = ARGUMENT_TEXT,
     .offset = PLACE(model),
     .help = "model_name (Qwen/Qwen3-8B)"},
    {.name = "block-size",
     .value = "TOKENS",
     .kind = ARGUMENT_NUMBER,
     .offset = PLACE(block_size),
     .most = UINT32_MAX,
     .help = "block_size; 0: nil (16)"},
    {.name = "salt",
     .value = "TEXT",
     .kind = ARGUMENT_TEXT,
     .offset = PLACE(salt),
     .help = "additional_salt (nil)"},
    {.name = "lora",
     .value = "NAME",
     .kind = ARGUMENT_TEXT,
     .offset = PLACE(lora),
     .help = "lora_name (nil)"},
    {.name = "backend",
     .value = "NAME",
     .kind = ARGUMENT_TEXT,
     .offset = PLACE(backend),
     .help = "backend_id (mooncake-store)"},
    {.name = "dp-rank",
     .value = "N",
     .kind = ARGUMENT_NUMBER,
     .offset = PLACE(dp_rank),
     .most = UINT32_MAX,
     .help = "dp_rank (0)"},
    {.name = "no-legacy",
     .kind = ARGUMENT_FLAG,
     .offset = PLACE(no_legacy),
     .help = "leave out type, block_hashes and parent_block_hash"},
    {.name = "drop-every",
     .value = "N",
     .kind = ARGUMENT_NUMBER,
     .offset = PLACE(drop_every),
     .most = UINT64_MAX,
     .help =
         "fault: every N-th message is lost, a number for each event of it"},
    {.name = "restart-at",
     .value = "N",
     .kind = ARGUMENT_NUMBER,
     .offset = PLACE(restart_at),
     .most = UINT64_MAX,
     .help = "fault: after N messages start over, numbers and objects"},
    {.name = "malformed",
     .value = "N",
     .kind = ARGUMENT_NUMBER,
     .offset = PLACE(malformed),
     .most = UINT64_MAX,
     .help = "fault: every N-th message is broken, each in another way"},
    {.name = "from",
     .value = "FILE",
     .kind = ARGUMENT_TEXT,
     .offset = PLACE(from),
     .help = "replay what kvgate tap --record wrote, as it was; nothing is "
             "made up, so what says how has no effect"},
    {.name = "stream",
     .value = "NAME",
     .kind = ARGUMENT_TEXT,
     .offset = PLACE(stream),
     .help = "of a recording that has several"},
    {.name = "speed",
     .value = "X",
     .kind = ARGUMENT_OTHER,
     .read = read_speed,
     .help = "of a recording's time; 2: in half of it, 0: no pause (1)"},
    {.name = "loop",
     .kind = ARGUMENT_FLAG,
     .offset = PLACE(loop),
     .help = "replay the recording again and again, numbers too"},
    CURVE_ARGUMENTS(PLACE(curve)),
    {.name = "help",
     .kind = ARGUMENT_FLAG,
     .offset = PLACE(help),
     .help = "this page"},
    {0},
};

static void set_defaults(struct sim_options *options)
{
    *options = (struct sim_options){
        .hwm = 10000,
        .rate = 1000,
        .batch = 8,
        .seed = 1,
        .tenants = {.items = {"acme", "globex", "initech"}, .count = 3},
        .mix = {[SIM_STORED] = 60, [SIM_REMOVED] = 39, [SIM_CLEARED] = 1},
        .media = SIM_CPU | SIM_DISK,
        .objects = 10000,
        .model = "Qwen/Qwen3-8B",
        .backend = "mooncake-store",
        .salt = "",
        .lora = "",
        .block_size = 16,
        .speed = 1,
    };
}

static bool check_endpoint(struct sim_options *options, struct error *error)
{
    if (options->bind != NULL && options->connect != NULL) {
        error_set(error, "--bind and --connect exclude each other");
        return false;
    }
    if (options->bind == NULL && options->connect == NULL)
        options->bind = "tcp://127.0.0.1:5557";
    return true;
}

static bool check_recording(const struct sim_options *options,
                            struct error *error)
{
    if (options->from != NULL)
        return true;
    if (options->stream != NULL || options->timed || options->loop)
        error_set(error, "--stream, --speed and --loop need --from");
    return !error_is_set(error);
}

bool sim_options_read(struct sim_options *options, int argc, char **argv,
                      struct error *error)
{
    int operand;

    set_defaults(options);
    operand = arguments_read(argc, argv, table, options, error);
    if (operand < 0)
        return false;
    if (operand < argc) {
        error_set(error, "unexpected argument \"%s\"", argv[operand]);
        return false;
    }
    if (strlen(options->model) > SIM_MODEL_MAX) {
        error_set(error, "--model: longer than %d bytes", SIM_MODEL_MAX);
        return false;
    }
    if (options->backend[0] == '\0') {
        error_set(error, "--backend: a publisher without one is disabled");
        return false;
    }
    return check_recording(options, error) && check_endpoint(options, error);
}

void sim_options_help(void)
{
    printf("usage: kvgate sim [OPTION]...\n"
           "\n"
           "Publish made-up KV events the way a Mooncake Store master does.\n"
           "\n");
    arguments_help(stdout, table);
}

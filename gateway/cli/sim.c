#include "cli/sim.h"

#include "base/buffer.h"
#include "base/log.h"
#include "cli/sim_options.h"
#include "cli/sim_pace.h"
#include "cli/sim_payload.h"
#include "cli/sim_replay.h"
#include "cli/sim_world.h"
#include "cli/usage.h"
#include "io/publisher.h"
#include "io/signals.h"
#include "relay/sequence.h"

#include <inttypes.h>
#include <stdio.h>
#include <time.h>

enum {
    LINGER_MS = 2000,      /* when it ends by itself */
    LINGER_STOPPED_MS = 0, /* when it was told to, as the master */
};

/* The ways in which a message can be broken, taken in turns. */
enum breakage {
    BREAK_NOTHING = 0,
    BREAK_FRAMES,   /* two of them */
    BREAK_SEQUENCE, /* of seven bytes */
    BREAK_PAYLOAD,  /* cut in the middle */
    BREAK_EVENT,    /* one that is no map */
    BREAKAGES
};

/* What the last line tells. */
struct tally {
    uint64_t messages; /* sent, broken ones too */
    uint64_t events;   /* in them, as far as they can be read */
    uint64_t drops, dropped_events;
    uint64_t restarts;
    uint64_t broken[BREAKAGES];
};

struct sim {
    struct sim_options options;
    struct sim_world *world;
    struct sim_payload payload;
    struct publisher publisher;
    struct security security;
    struct sim_replay replay; /* of a recording, if one is replayed */
    struct seq_stamper stamper;
    struct tally tally;
    struct sim_pace pace;
    uint64_t turns;  /* messages made, lost ones too */
    uint64_t made;   /* events made */
    uint64_t breaks; /* messages broken */
};

/* ---- one message ---- */

static uint64_t clock_ms(void)
{
    struct timespec now;

    clock_gettime(CLOCK_REALTIME, &now);
    return (uint64_t)now.tv_sec * 1000 + (uint64_t)now.tv_nsec / 1000000;
}

static size_t next_size(const struct sim *sim)
{
    uint64_t size = sim->options.batch;

    if (sim->options.count > 0 && sim->options.count - sim->made < size)
        size = sim->options.count - sim->made;
    return (size_t)size;
}

static bool is_turn(uint64_t every, uint64_t turn)
{
    return every > 0 && turn % every == 0;
}

static enum breakage next_breakage(struct sim *sim)
{
    if (!is_turn(sim->options.malformed, sim->turns))
        return BREAK_NOTHING;
    return (enum breakage)(BREAK_FRAMES + sim->breaks++ % (BREAKAGES - 1));
}

static void make_payload(struct sim *sim, size_t size, enum breakage breakage)
{
    size_t odd = breakage == BREAK_EVENT ? size / 2 : size;

    sim_payload_begin(
        &sim->payload,
        sim->options.fixed_time ? sim->options.timestamp : clock_ms(), size);
    for (size_t i = 0; i < size; i++) {
        struct sim_event event = sim_world_next(sim->world);
        uint64_t event_id = seq_take_id(&sim->stamper);

        if (i == odd)
            sim_payload_no_event(&sim->payload);
        else
            sim_payload_event(&sim->payload, &event, event_id);
    }
    sim_payload_end(&sim->payload);
}

static void send_message(struct sim *sim, enum breakage breakage)
{
    uint8_t sequence[8];
    struct publisher_frame frames[] = {
        {"", 0},
        {sequence, sizeof sequence},
        {sim->payload.bytes.data, sim->payload.bytes.size},
    };

    seq_write(seq_take(&sim->stamper), sequence);
    if (breakage == BREAK_SEQUENCE)
        frames[1] = (struct publisher_frame){sequence + 1, sizeof sequence - 1};
    if (breakage == BREAK_PAYLOAD)
        frames[2].size /= 2;
    publisher_send(&sim->publisher, frames, breakage == BREAK_FRAMES ? 2 : 3);
}

static void count_message(struct tally *tally, size_t size,
                          enum breakage breakage)
{
    tally->messages++;
    tally->broken[breakage]++;
    if (breakage == BREAK_NOTHING)
        tally->events += size;
    else if (breakage == BREAK_EVENT)
        tally->events += size - 1;
}

/* A full queue: each lost event leaves out a number and takes no event_id. */
static void drop_message(struct sim *sim, size_t size)
{
    for (size_t i = 0; i < size; i++)
        sim_world_next(sim->world);
    seq_reserve(&sim->stamper, size);
    sim->tally.drops++;
    sim->tally.dropped_events += size;
}

static void restart(struct sim *sim)
{
    seq_stamper_init(&sim->stamper);
    sim_world_forget(sim->world);
    sim->tally.restarts++;
}

static void take_turn(struct sim *sim)
{
    size_t size = next_size(sim);
    enum breakage breakage;

    sim->turns++;
    if (is_turn(sim->options.drop_every, sim->turns)) {
        drop_message(sim, size);
    } else {
        breakage = next_breakage(sim);
        make_payload(sim, size, breakage);
        send_message(sim, breakage);
        count_message(&sim->tally, size, breakage);
    }
    sim->made += size;
    if (sim->turns == sim->options.restart_at)
        restart(sim);
}

/* ---- all of them ---- */

static bool has_more(const struct sim *sim)
{
    return sim->options.count == 0 || sim->made < sim->options.count;
}

/* False when it was told to stop. */
static bool publish(struct sim *sim)
{
    int stop = signals_descriptor();

    if (!publisher_wait(&sim->publisher, sim->options.subscribers, stop))
        return false;
    sim_pace_start(&sim->pace, sim->options.rate);
    while (has_more(sim)) {
        if (!sim_pace_wait(&sim->pace, sim->made, stop))
            return false;
        take_turn(sim);
    }
    return true;
}

static void put_count(struct buffer *line, const char *before, uint64_t count,
                      const char *one, const char *many)
{
    buffer_print(line, "%s%" PRIu64 " %s", before, count,
                 count == 1 ? one : many);
}

/* The faults that came about, none else. */
static void put_faults(struct buffer *line, const struct tally *tally)
{
    const struct {
        uint64_t count;
        const char *one, *many;
    } faults[] = {
        {tally->drops, "drop", "drops"},
        {tally->dropped_events, "dropped event", "dropped events"},
        {tally->restarts, "restart", "restarts"},
        {tally->broken[BREAK_FRAMES], "message of two frames",
         "messages of two frames"},
        {tally->broken[BREAK_SEQUENCE], "short sequence", "short sequences"},
        {tally->broken[BREAK_PAYLOAD], "cut payload", "cut payloads"},
        {tally->broken[BREAK_EVENT], "malformed event", "malformed events"},
    };
    const char *before = "; faults: ";

    for (size_t i = 0; i < sizeof faults / sizeof *faults; i++) {
        if (faults[i].count == 0)
            continue;
        put_count(line, before, faults[i].count, faults[i].one, faults[i].many);
        before = ", ";
    }
}

static void tell(const struct tally *tally)
{
    struct buffer line = {0};

    put_count(&line, "sim: ", tally->messages, "message", "messages");
    put_count(&line, ", ", tally->events, "event", "events");
    put_faults(&line, tally);
    log_line(LOG_INFO, "%s", buffer_text(&line));
    buffer_free(&line);
}

static void run(struct sim *sim)
{
    bool whole;

    log_line(LOG_INFO, "sim: publishing on %s", sim->publisher.endpoint);
    sim->world = sim_world_new(&sim->options);
    sim_payload_init(&sim->payload, &sim->options);
    seq_stamper_init(&sim->stamper);
    whole = publish(sim);
    publisher_close(&sim->publisher, whole ? LINGER_MS : LINGER_STOPPED_MS);
    sim_payload_deinit(&sim->payload);
    sim_world_free(sim->world);
    tell(&sim->tally);
}

/* Replay instead of making up. */
static int replay(struct sim *sim, struct error *error)
{
    int stop = signals_descriptor();
    bool whole = false;

    log_line(LOG_INFO, "sim: replaying %s on %s", sim->options.from,
             sim->publisher.endpoint);
    if (publisher_wait(&sim->publisher, sim->options.subscribers, stop))
        whole = sim_replay_run(&sim->replay, &sim->publisher, stop, error);
    publisher_close(&sim->publisher, whole || error_is_set(error)
                                         ? LINGER_MS
                                         : LINGER_STOPPED_MS);
    log_line(LOG_INFO, "sim: %" PRIu64 " messages, %" PRIu64 " rounds",
             sim->replay.messages, sim->replay.rounds);
    if (!error_is_set(error))
        return EXIT_FINE;
    log_line(LOG_ERROR, "sim: %s", error->text);
    return EXIT_FAILED;
}

static bool open_publisher(struct sim *sim, struct error *error)
{
    const struct sim_options *options = &sim->options;
    struct socket_options address = {
        .owner = "sim",
        .endpoint = options->bind != NULL ? options->bind : options->connect,
        .bind = options->bind != NULL,
        .hwm = (int)options->hwm,
        .security = &sim->security,
    };

    return curve_options_read(&options->curve, address.bind, &sim->security,
                              error) &&
           publisher_open(&sim->publisher, &address, options->subscribers > 0,
                          error);
}

static bool open_all(struct sim *sim, struct error *error)
{
    if (sim->options.from != NULL &&
        !sim_replay_open(&sim->replay, &sim->options, error))
        return false;
    return signals_open(error) && open_publisher(sim, error);
}

static int run_options(struct sim *sim)
{
    struct error error = {0};
    int code = EXIT_FAILED;

    if (!open_all(sim, &error)) {
        log_line(LOG_ERROR, "%s", error.text);
        publisher_close(&sim->publisher, LINGER_STOPPED_MS);
    } else if (sim->options.from != NULL) {
        code = replay(sim, &error);
    } else {
        run(sim);
        code = EXIT_FINE;
    }
    sim_replay_close(&sim->replay);
    security_clear(&sim->security);
    return code;
}

int sim_main(int argc, char **argv)
{
    struct sim sim = {0};
    struct error error = {0};

    if (!sim_options_read(&sim.options, argc, argv, &error)) {
        fprintf(stderr, "kvgate sim: %s\nkvgate sim --help lists them.\n",
                error.text);
        return EXIT_USAGE;
    }
    if (sim.options.help) {
        sim_options_help();
        return EXIT_FINE;
    }
    return run_options(&sim);
}

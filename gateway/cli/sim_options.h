/*
 * sim_options - what the simulated publisher was asked for
 */
#ifndef CLI_SIM_OPTIONS_H
#define CLI_SIM_OPTIONS_H

#include "base/error.h"
#include "cli/arguments.h"
#include "cli/curve_options.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    SIM_BATCH_MAX = 64,  /* the publisher's own bound */
    SIM_MODEL_MAX = 200, /* bytes: keys have a bound too */
    SIM_OBJECTS_MAX = 1 << 20
};

enum sim_kind { SIM_STORED = 0, SIM_REMOVED, SIM_CLEARED, SIM_KINDS };

/* Who writes the object keys. */
enum sim_keys { SIM_KEYS_VLLM = 0, SIM_KEYS_SGLANG, SIM_KEYS_LMCACHE };

/* Bits of a set of media. */
enum sim_medium { SIM_CPU = 1, SIM_DISK = 2 };

/* Texts are borrowed from argv; an empty one is nil on the wire. */
struct sim_options {
    const char *bind, *connect; /* one is NULL */
    struct curve_options curve;
    uint64_t hwm;
    uint64_t subscribers; /* to wait for */

    uint64_t rate;  /* events a second; 0: no pause */
    uint64_t count; /* events to make; 0: no end */
    uint64_t batch; /* events a message */
    uint64_t seed;
    bool fixed_time;
    uint64_t timestamp; /* milliseconds, of all messages if fixed_time */

    struct argument_list tenants;
    enum sim_keys keys;
    uint64_t mix[SIM_KINDS]; /* weights */
    unsigned media;          /* set of enum sim_medium */
    uint64_t objects;        /* that a tenant may have at once */

    const char *model, *backend, *salt, *lora;
    uint64_t block_size; /* 0 is nil on the wire */
    uint64_t dp_rank;
    bool no_legacy;

    uint64_t drop_every, restart_at, malformed; /* messages; 0: never */
    const char *from;   /* a recording; NULL: events are made up */
    const char *stream; /* of the recording; NULL: its only one */
    double speed;       /* of the recording's time; 0: no pause */
    bool timed;         /* a speed was asked for */
    bool loop;
    bool help;
};

/* Fills all of `options`; `argv` must live as long. */
bool sim_options_read(struct sim_options *options, int argc, char **argv,
                      struct error *error);

void sim_options_help(void);

#endif

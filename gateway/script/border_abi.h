/*
 * border_abi - what the C half and the Lua half of the border share
 *
 * Read twice, as codec/event_abi.h: by the C compiler and by ffi.cdef.  Lua
 * reaches C through the function pointers of one struct border, whose address
 * it is given once; none of them ever raises: they answer, and Lua raises.
 *
 * For trusted code inside the runtime that wants functions of its own (key
 * templates): declare a struct of function pointers in a *_abi.h of its own,
 * which the build embeds and the state declares by itself; put its address into
 * border.keys (border.c); call it from Lua through
 *
 *   local border = require "kvgate.border"             -- struct border *
 *   local events = require "kvgate.event"
 *   local event = events.event(view)                   -- struct event *,
 * checked local field = events.field "object_key"            -- enum field, or
 * nil
 *
 * C reads the value with event_value(event, field).  border.batch.serial tells
 * one batch from the next: what was found in one is void in another.
 */
#ifndef SCRIPT_BORDER_ABI_H
#define SCRIPT_BORDER_ABI_H
#include "codec/event_abi.h"
#include <stdbool.h>
/* cdef begins */

enum token_kind {
    TOKEN_ABSENT = 0, /* no such field */
    TOKEN_NIL,
    TOKEN_FALSE,
    TOKEN_TRUE,
    TOKEN_NUMBER,   /* an integer that a double holds: all three are filled */
    TOKEN_UNSIGNED, /* an integer above 2^53: u64 */
    TOKEN_SIGNED,   /* an integer below -2^53: i64 */
    TOKEN_FLOAT32,
    TOKEN_FLOAT64,
    TOKEN_STR,
    TOKEN_BIN,
    TOKEN_EXT,
    TOKEN_ARRAY, /* `size` members follow */
    TOKEN_MAP    /* `size` pairs follow */
};

/* One msgpack value as read, or as it shall be written. */
struct token {
    const uint8_t *start; /* its first byte */
    const uint8_t *at;    /* what follows: the next value, or its members */
    const uint8_t *bytes; /* TOKEN_STR, _BIN, _EXT */
    uint64_t u64;
    int64_t i64;
    double number;
    uint32_t size;
    uint32_t kind;
    int32_t ext; /* type of an ext */
};

enum border_limit {
    BORDER_SPLIT = 2048,    /* events that one verdict may name */
    BORDER_EMITTED = 1024,  /* that a call may emit, its copies included */
    BORDER_VALUE = 1 << 26, /* bytes of one value that a script writes */
    BORDER_DEPTH = 64,      /* containers in containers that it may see */
    BORDER_LOG_TEXT = 1024  /* bytes of a line that it logs */
};

/* What the Lua half raises besides the filter's own errors: the names of enum
 * script_result (script.h). */
enum border_result {
    BORDER_DONE = 0,
    BORDER_NO_VERDICT = 2,
    BORDER_BAD_STREAM,
    BORDER_TOO_MANY,
    BORDER_NO_MEMORY
};

/* The levels of base/log.h. */
enum border_log {
    BORDER_LOG_ERROR = 0,
    BORDER_LOG_WARN,
    BORDER_LOG_INFO,
    BORDER_LOG_DEBUG
};

struct digest_border;
struct keep;
struct key_border;
struct metric_border;
struct metric_list;
struct owner;
struct shard_border;

struct border {
    struct batch *batch; /* being filtered; between runs one without slots */
    uint64_t base;       /* its serial << 32: with a slot, a view */
    const struct key_border *keys;
    const struct digest_border *digests;
    const struct shard_border *shards;
    const struct metric_border *metrics;
    struct metric_list *metric_list;  /* of all filters */
    struct filter_counters *counters; /* of the filter that runs */
    struct keep *keep;                /* what survives a reload: keep.h */
    struct owner *owner; /* the filter that loads or runs: owner.h */
    uint32_t result;     /* enum border_result of what the driver raises */
    uint32_t breach;     /* the same for a limit that the filter ran into: it
                            holds even if the script caught the error */
    uint32_t tail;       /* the event that was emitted last; EVENT_END: none */
    uint32_t nested; /* calls of string.gsub out of its own replacement; a stop
                        leaves none behind */
    struct token token;
    uint32_t order[2048]; /* BORDER_SPLIT: slots or streams that a verdict
                             names */

    /* ---- reading: all fill `token` ---- */

    /* The value of a field; `name` is used only with EVENT_NAMED.  Returns
     * token.kind. */
    uint32_t (*read)(struct border *border, const struct event *event,
                     uint32_t field, const char *name, size_t name_size);
    /* The checked value at token.at.  Returns token.kind. */
    uint32_t (*next)(struct border *border);
    /* Move token.at behind the whole value there. */
    void (*skip)(struct border *border);

    /* ---- writing: false when a limit was reached, and nothing changed ---- */

    /* Assign the scalar in `token` (or an empty container).  A TOKEN_NUMBER is
     * written from `number` and stays a float where one is replaced; with
     * `wrap` it becomes an array of one. */
    bool (*set)(struct border *border, struct event *event, uint32_t field,
                const char *name, size_t name_size, bool wrap);
    /* Assign an array of one hash; only to a known field. */
    bool (*set_hash)(struct border *border, struct event *event, uint32_t field,
                     uint64_t hash);
    /* As set, for a str, which stays a bin where one is replaced. */
    bool (*set_text)(struct border *border, struct event *event, uint32_t field,
                     const char *name, size_t name_size, const char *text,
                     size_t size);
    /* Larger values: begin, put their parts one after the other, assign. */
    void (*begin)(struct border *border);
    bool (*put)(struct border *border);
    bool (*put_bytes)(struct border *border, uint32_t kind, const char *bytes,
                      size_t size);
    bool (*put_raw)(struct border *border, const char *bytes, size_t size);
    bool (*assign)(struct border *border, struct event *event, uint32_t field,
                   const char *name, size_t name_size);
    bool (*remove)(struct border *border, struct event *event, uint32_t field,
                   const char *name, size_t name_size);

    /* ---- verdicts ---- */

    /* Narrow the reach of a slot to the first `count` streams of `order`. */
    void (*narrow)(struct border *border, uint32_t slot, uint32_t count);

    /* A copy of a slot, not linked yet; EVENT_END: no slot is free. */
    uint32_t (*copy)(struct border *border, uint32_t slot);
    /* Put the first `count` slots of `order` where the current event is.  If
     * it is not among them it stays in front of them, dropped. */
    void (*split)(struct border *border, uint32_t count);

    /* ---- events of a filter's own ---- */

    /* A slot, not linked yet, with a blank event of this type that has id,
     * timestamp, rank and reach of what is at hand.  EVENT_END: a limit was
     * reached, `breach` says which. */
    uint32_t (*make)(struct border *border, const char *type, size_t size);
    /* Link it behind the current event and what was emitted there before.
     * False: as above. */
    bool (*emit)(struct border *border, uint32_t slot);

    /* ---- the log ---- */

    /* Write a line of the filter's, as its gate admits; `level` is enum
     * border_log. */
    void (*log)(struct border *border, uint32_t level, const char *text,
                size_t size);
};

/* cdef ends */
#endif

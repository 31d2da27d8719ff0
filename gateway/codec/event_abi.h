/*
 * event_abi - the structs that C and Lua share
 *
 * Read twice: by the C compiler, and as text by LuaJIT's ffi.cdef.  So it holds
 * plain declarations only: no preprocessor but these guards, which the
 * build strips before it embeds the text.
 */
#ifndef CODEC_EVENT_ABI_H
#define CODEC_EVENT_ABI_H
#include <stddef.h>
#include <stdint.h>
/* cdef begins */

enum {
    EVENT_FIELDS = 28,      /* known fields, see codec/field.h */
    EVENT_NAMED = 28,       /* an edit's field: known by name only */
    EVENT_END = 0x7fffffff, /* no slot: end of the list */
    EVENT_EMITTED = 1       /* cause of a live event: a filter made it */
};

/* What is no event but has its place among them is a slot, too: a mark.  Those
 * from EVENT_TOLD on were never one; they end at the filters. */
enum event_state {
    EVENT_LIVE = 0,
    EVENT_DROPPED, /* by a filter's word */
    EVENT_LOST,    /* marks the place of a loss in the batch */
    EVENT_TOLD,    /* a loss of the source, which the streams know already */
    EVENT_TICK,    /* the time of a filter has come */
    EVENT_OPENS    /* a message begins */
};

enum event_type {
    EVENT_OTHER = 0, /* an event_type that nobody here knows */
    EVENT_STORED,
    EVENT_REMOVED,
    EVENT_CLEARED
};

/* One assignment.  Lists are shared by copies: never changed, only put in
 * front. */
struct edit {
    const struct edit *older;
    const uint8_t *name;  /* EVENT_NAMED only: name_size bytes */
    const uint8_t *value; /* one msgpack value; NULL: field removed */
    uint32_t name_size;
    uint32_t size;  /* bytes of value */
    uint32_t field; /* enum field, or EVENT_NAMED */
    uint32_t depth; /* edits in the list that starts here */
};

/* One slot of a batch: an event as received and what was changed in it. */
struct event {
    const uint8_t *bytes;     /* the msgpack map, `size` bytes, borrowed */
    const struct edit *edits; /* newest first; NULL: untouched */
    uint32_t size;
    uint32_t next;             /* slot that follows in the batch, EVENT_END */
    uint8_t state;             /* enum event_state */
    uint8_t type;              /* enum event_type, as received */
    uint8_t touched;           /* set by an edit, cleared by who asks */
    uint8_t cause;             /* EVENT_LOST, _TOLD: enum loss_cause */
    uint32_t at[EVENT_FIELDS]; /* where each value starts in bytes; 0: absent */
};

/*
 * A window of at most BATCH_WINDOW received events and what filters made of
 * them.  Slots 0 .. used are taken; the list from `head` along `next` is the
 * order of the events; losses keep their place in it.
 */
struct batch {
    struct event *slots;
    uint64_t *reach; /* `words` per slot: bit s = may go to stream s */
    const struct edit *before; /* edits of `current` before this filter */
    void *arena;               /* struct arena: edits of this message */
    const uint64_t *widest;    /* streams that losses here reach */
    const uint8_t *timestamp;  /* msgpack: the message's, else now */
    const uint8_t *rank;       /* msgpack: the message's, else the last one's */
    uint64_t sequence;         /* number of the message */
    uint64_t count;   /* EVENT_OPENS: its events; _TOLD: lost numbers */
    uint64_t last_id; /* event_id in front of the first one here */
    uint32_t words;
    uint32_t head;
    uint32_t used;
    uint32_t capacity;
    uint32_t current; /* slot that a filter is at */
    uint32_t mark;    /* `used` before this filter ran on `current` */
    uint32_t serial;  /* changes with every window; never 0 */
    uint32_t source;  /* index of the source; EVENT_END: of none */
};

/* What one filter did, since it was loaded. */
struct filter_counters {
    uint64_t kept;
    uint64_t dropped;
    uint64_t rewritten; /* kept or split with a change */
    uint64_t split;     /* events that became several */
    uint64_t errors;
    uint64_t emitted; /* events that it made */
};

/* cdef ends */
#endif

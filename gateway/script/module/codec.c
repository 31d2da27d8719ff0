/*
 * The codec as Lua functions, for its specs: `gateway.codec`.  Values cross as
 * raw msgpack and 64-bit numbers as decimal text, so that the specs see the
 * bytes themselves.
 */
#include "codec/batch.h"
#include "codec/builder.h"
#include "codec/cursor.h"
#include "codec/json_read.h"
#include "codec/pack.h"
#include "script/module/module.h"

#include <inttypes.h>
#include <lauxlib.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char reader_name[] = "gateway.codec.reader";

static const uint8_t *check_bytes(lua_State *L, int index, size_t *size)
{
    return (const uint8_t *)luaL_checklstring(L, index, size);
}

static void push_bytes(lua_State *L, const uint8_t *bytes, size_t size)
{
    lua_pushlstring(L, (const char *)bytes, size);
}

static void push_u64(lua_State *L, uint64_t value)
{
    char text[24];

    snprintf(text, sizeof text, "%" PRIu64, value);
    lua_pushstring(L, text);
}

/* ---- cursor ---- */

/* The one value that argument 1 starts with, checked. */
static const uint8_t *check_value(lua_State *L)
{
    size_t size;
    const uint8_t *bytes = check_bytes(L, 1, &size);

    if (cursor_check(bytes, bytes + size) == NULL)
        luaL_argerror(L, 1, "one whole msgpack value expected");
    return bytes;
}

/* check(bytes) -> size of the value they start with, or nil */
static int codec_check(lua_State *L)
{
    size_t size;
    const uint8_t *bytes = check_bytes(L, 1, &size);
    const uint8_t *end = cursor_check(bytes, bytes + size);

    if (end == NULL)
        return 0;
    if (cursor_skip(bytes) != end)
        return luaL_error(L, "cursor_skip and cursor_check disagree");
    lua_pushinteger(L, end - bytes);
    return 1;
}

static int codec_kind(lua_State *L)
{
    lua_pushstring(L, cursor_kind_name(cursor_kind(check_value(L))));
    return 1;
}

static int codec_count(lua_State *L)
{
    const uint8_t *at = check_value(L);

    lua_pushnumber(L, (lua_Number)cursor_enter(&at));
    return 1;
}

static int codec_bytes(lua_State *L)
{
    uint32_t size;
    const uint8_t *bytes = cursor_bytes(check_value(L), &size);

    push_bytes(L, bytes, size);
    return 1;
}

static int codec_u64(lua_State *L)
{
    uint64_t value;

    if (!cursor_u64(check_value(L), &value))
        return 0;
    push_u64(L, value);
    return 1;
}

static int codec_i64(lua_State *L)
{
    int64_t value;
    char text[24];

    if (!cursor_i64(check_value(L), &value))
        return 0;
    snprintf(text, sizeof text, "%" PRId64, value);
    lua_pushstring(L, text);
    return 1;
}

static int codec_double(lua_State *L)
{
    lua_pushnumber(L, cursor_double(check_value(L)));
    return 1;
}

/* ---- pack ---- */

static uint8_t *pack_named(uint8_t *at, const char *form, const char *text)
{
    uint32_t count = (uint32_t)strtoul(text, NULL, 10);

    if (strcmp(form, "nil") == 0)
        return pack_nil(at);
    if (strcmp(form, "bool") == 0)
        return pack_bool(at, count != 0);
    if (strcmp(form, "u64") == 0)
        return pack_u64(at, strtoull(text, NULL, 10));
    if (strcmp(form, "i64") == 0)
        return pack_i64(at, strtoll(text, NULL, 10));
    if (strcmp(form, "float32") == 0)
        return pack_float32(at, strtof(text, NULL));
    if (strcmp(form, "float64") == 0)
        return pack_float64(at, strtod(text, NULL));
    if (strcmp(form, "array") == 0)
        return pack_array(at, count);
    if (strcmp(form, "map") == 0)
        return pack_map(at, count);
    if (strcmp(form, "str") == 0)
        return pack_str_header(at, count);
    return strcmp(form, "bin") == 0 ? pack_bin_header(at, count) : NULL;
}

/* pack(form, number as text) -> bytes; of a str or bin, its header */
static int codec_pack(lua_State *L)
{
    uint8_t bytes[PACK_SCALAR];
    uint8_t *end =
        pack_named(bytes, luaL_checkstring(L, 1), luaL_checkstring(L, 2));

    if (end == NULL)
        return luaL_argerror(L, 1, "a form of pack.h expected");
    push_bytes(L, bytes, (size_t)(end - bytes));
    return 1;
}

/* ---- fields ---- */

/* fields() -> their names, in the order of their numbers */
static int codec_fields(lua_State *L)
{
    lua_newtable(L);
    for (int i = 0; i < EVENT_FIELDS; i++) {
        lua_pushstring(L, field_table[i].name);
        lua_rawseti(L, -2, i + 1);
    }
    return 1;
}

/* field(name) -> its number and size in the table, or nil */
static int codec_field(lua_State *L)
{
    size_t size;
    const uint8_t *name = check_bytes(L, 1, &size);
    enum field field = field_find(name, size);

    if (field == FIELD_NONE)
        return 0;
    lua_pushinteger(L, (int)field + 1);
    lua_pushinteger(L, field_table[field].size);
    return 2;
}

/* ---- reader ---- */

struct codec_reader {
    struct batch_reader *reader;
    struct batch *batch;
    struct buffer out;
    struct builder builder;
};

static int reader_new(lua_State *L)
{
    struct codec_reader *box = lua_newuserdata(L, sizeof *box);

    *box = (struct codec_reader){.reader = batch_reader_new(),
                                 .batch = batch_new(1)};
    luaL_getmetatable(L, reader_name);
    lua_setmetatable(L, -2);
    return 1;
}

static struct codec_reader *check_reader(lua_State *L)
{
    return luaL_checkudata(L, 1, reader_name);
}

static int reader_gc(lua_State *L)
{
    struct codec_reader *box = check_reader(L);

    batch_reader_free(box->reader);
    batch_free(box->batch);
    buffer_free(&box->out);
    builder_free(&box->builder);
    return 0;
}

static const char *type_text(uint8_t type)
{
    static const char *const texts[] = {[EVENT_OTHER] = "other",
                                        [EVENT_STORED] = "stored",
                                        [EVENT_REMOVED] = "removed",
                                        [EVENT_CLEARED] = "cleared"};

    return texts[type];
}

/* { bytes =, type =, fault =, fields = { name = raw value } } */
static void push_event(lua_State *L, const struct event *event)
{
    lua_newtable(L);
    push_bytes(L, event->bytes, event->size);
    lua_setfield(L, -2, "bytes");
    if (event->state == EVENT_LOST) {
        lua_pushstring(L, event_fault_text((enum event_fault)event->cause));
        lua_setfield(L, -2, "fault");
        return;
    }
    lua_pushstring(L, type_text(event->type));
    lua_setfield(L, -2, "type");
    lua_newtable(L);
    for (int i = 0; i < EVENT_FIELDS; i++) {
        const uint8_t *value = event_value(event, (enum field)i);

        if (value == NULL)
            continue;
        push_bytes(L, value, (size_t)(cursor_skip(value) - value));
        lua_setfield(L, -2, field_table[i].name);
    }
    lua_setfield(L, -2, "fields");
}

static void push_header(lua_State *L, const struct batch_header *header)
{
    lua_newtable(L);
    push_bytes(L, header->timestamp, header->timestamp_size);
    lua_setfield(L, -2, "timestamp");
    push_bytes(L, header->rank, header->rank_size);
    lua_setfield(L, -2, "rank");
    lua_pushnumber(L, (lua_Number)header->count);
    lua_setfield(L, -2, "count");
    push_u64(L, header->first_id);
    lua_setfield(L, -2, "first_id");
    push_u64(L, header->last_id);
    lua_setfield(L, -2, "last_id");
}

/* reader:open(payload) -> header, events, windows; or nil and the fault */
static int reader_open(lua_State *L)
{
    struct codec_reader *box = check_reader(L);
    struct batch_header header;
    size_t size;
    const uint8_t *payload = check_bytes(L, 2, &size);
    enum batch_fault fault =
        batch_open(box->reader, box->batch, payload, size, &header);
    int count = 0;
    int windows = 0;

    if (fault != BATCH_OK) {
        lua_pushnil(L);
        lua_pushstring(L, batch_fault_text(fault));
        return 2;
    }
    push_header(L, &header);
    lua_newtable(L);
    for (; batch_next(box->reader, box->batch) != 0; windows++) {
        for (uint32_t i = box->batch->head; i != EVENT_END;
             i = box->batch->slots[i].next) {
            push_event(L, &box->batch->slots[i]);
            lua_rawseti(L, -2, ++count);
        }
    }
    lua_pushinteger(L, windows);
    return 3;
}

/* Index argument `index` into a fresh slot of the batch. */
static struct event *check_event(lua_State *L, struct batch *batch, int index)
{
    size_t size;
    const uint8_t *bytes = check_bytes(L, index, &size);
    struct event *event;
    enum event_fault fault;
    uint32_t slot;

    if (cursor_check(bytes, bytes + size) != bytes + size)
        luaL_argerror(L, index, "one whole msgpack value expected");
    batch_close(batch);
    event = batch_slot(batch, &slot);
    fault = event_index(event, bytes, (uint32_t)size);
    event->state = fault == EVENT_OK ? EVENT_LIVE : EVENT_LOST;
    event->cause = (uint8_t)fault;
    return event;
}

/* reader:index(bytes) -> event, by the ordinary path */
static int reader_index(lua_State *L)
{
    struct codec_reader *box = check_reader(L);

    push_event(L, check_event(L, box->batch, 2));
    return 1;
}

/* One edit { name, value or false } at the top of the stack. */
static void apply_edit(lua_State *L, struct batch *batch, struct event *event)
{
    size_t name_size;
    size_t size;
    const uint8_t *name;
    const uint8_t *value;
    bool done;

    lua_rawgeti(L, -1, 1);
    lua_rawgeti(L, -2, 2);
    /* stack: edit, name, value */
    name = check_bytes(L, -2, &name_size);
    if (lua_toboolean(L, -1)) {
        value = check_bytes(L, -1, &size);
        done = event_assign(batch, event, FIELD_NONE, name, name_size, value,
                            size);
    } else {
        done = event_remove(batch, event, FIELD_NONE, name, name_size);
    }
    lua_pop(L, 2);
    if (!done)
        luaL_error(L, "refused");
}

/* The number at `index` as text into `id`; NULL if there is none. */
static const uint64_t *opt_id(lua_State *L, int index, uint64_t *id)
{
    if (lua_isnoneornil(L, index))
        return NULL;
    *id = strtoull(luaL_checkstring(L, index), NULL, 10);
    return id;
}

/* reader:rewrite(event, edits, id) -> bytes, touched, the event as it is now;
 * the edits take memory until open finds another window
 * edits: { { name, value bytes or false }, ... }; id: text or nil */
static int reader_rewrite(lua_State *L)
{
    struct codec_reader *box = check_reader(L);
    struct event *event = check_event(L, box->batch, 2);
    uint64_t id;
    const uint64_t *stamp = opt_id(L, 4, &id);
    size_t bound;
    uint8_t *start;

    for (size_t i = 1; i <= lua_objlen(L, 3); i++) {
        lua_rawgeti(L, 3, (int)i);
        apply_edit(L, box->batch, event);
        lua_pop(L, 1);
    }
    buffer_clear(&box->out);
    bound = event_write_bound(event);
    start = buffer_reserve(&box->out, bound);
    box->out.size = (size_t)(event_write(event, stamp, start) - start);
    if (box->out.size > bound)
        return luaL_error(L, "event_write passed its bound");
    push_bytes(L, box->out.data, box->out.size);
    lua_pushboolean(L, event->touched);
    push_event(L, event);
    return 3;
}

/* reader:named(event, name) -> raw value or nil */
static int reader_named(lua_State *L)
{
    struct codec_reader *box = check_reader(L);
    struct event *event = check_event(L, box->batch, 2);
    size_t size;
    const uint8_t *name = check_bytes(L, 3, &size);
    const uint8_t *value = event_named(event, name, size);

    if (value == NULL)
        return 0;
    push_bytes(L, value, (size_t)(cursor_skip(value) - value));
    return 1;
}

/* reader:build(events, timestamp, rank, id) -> payload, full
 * events: list of bytes, all stamped with `id` if it is given */
static int reader_build(lua_State *L)
{
    struct codec_reader *box = check_reader(L);
    size_t timestamp_size;
    size_t rank_size;
    const uint8_t *timestamp = check_bytes(L, 3, &timestamp_size);
    const uint8_t *rank = check_bytes(L, 4, &rank_size);
    uint64_t id;
    const uint64_t *stamp = opt_id(L, 5, &id);
    bool full;
    size_t start;

    builder_clear(&box->builder);
    for (size_t i = 1; i <= lua_objlen(L, 2); i++) {
        lua_rawgeti(L, 2, (int)i);
        if (!builder_append(&box->builder, check_event(L, box->batch, -1),
                            stamp))
            return luaL_error(L, "refused");
        lua_pop(L, 1);
    }
    full = builder_is_full(&box->builder);
    start =
        builder_seal(&box->builder, timestamp, timestamp_size, rank, rank_size);
    push_bytes(L, box->builder.out.data + start, box->builder.out.size - start);
    lua_pushboolean(L, full);
    return 2;
}

/* json(text) -> bytes, or nil and why */
static int codec_json(lua_State *L)
{
    size_t size;
    const char *text = luaL_checklstring(L, 1, &size);
    struct buffer out = {0};
    struct error error = {0};
    size_t column;
    bool done = json_read(&out, text, size, &column, &error);

    if (!done)
        error_prefix(&error, "column %zu", column);
    if (done) {
        push_bytes(L, out.data, out.size);
    } else {
        lua_pushnil(L);
        lua_pushstring(L, error.text);
    }
    buffer_free(&out);
    return done ? 1 : 2;
}

static const luaL_Reg methods[] = {
    {"open", reader_open},       {"index", reader_index},
    {"rewrite", reader_rewrite}, {"named", reader_named},
    {"build", reader_build},     {NULL, NULL}};

static const luaL_Reg functions[] = {{"check", codec_check},
                                     {"kind", codec_kind},
                                     {"count", codec_count},
                                     {"bytes", codec_bytes},
                                     {"u64", codec_u64},
                                     {"i64", codec_i64},
                                     {"pack", codec_pack},
                                     {"double", codec_double},
                                     {"fields", codec_fields},
                                     {"json", codec_json},
                                     {"field", codec_field},
                                     {"reader", reader_new},
                                     {NULL, NULL}};

void module_codec(lua_State *L)
{
    module_class(L, reader_name, methods, reader_gc);
    lua_newtable(L);
    luaL_register(L, NULL, functions);
    lua_setfield(L, -2, "codec");
}

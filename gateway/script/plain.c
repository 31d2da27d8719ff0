#include "script/plain.h"

#include <lauxlib.h>
#include <stdint.h>
#include <string.h>

enum tag {
    TAG_FALSE = 'f',
    TAG_TRUE = 't',
    TAG_NUMBER = 'n',   /* 8 bytes: a double */
    TAG_UNSIGNED = 'u', /* 8 bytes */
    TAG_SIGNED = 'i',
    TAG_TEXT = 's',  /* its size in 4 bytes, and it */
    TAG_TABLE = '{', /* key, value, …, TAG_END */
    TAG_END = '}'
};

enum { TYPE_CDATA = 10 }; /* LuaJIT's, of which lua.h knows nothing */

/* ---- writing ---- */

struct writer {
    lua_State *L;
    struct border *border;
    int loader;
    size_t end; /* of `out`: where it is too large */
    size_t max;
    struct buffer *out;
    struct error *error;
    int depth; /* tables that are open */
    const void *tables[PLAIN_DEPTH];
    int keys[PLAIN_DEPTH]; /* where on the stack the key is that each is at */
};

static bool put(struct writer *writer, enum tag tag, const void *bytes,
                size_t size)
{
    char byte = (char)tag;

    if (size >= writer->end - writer->out->size) {
        error_set(writer->error, "it takes more than %zu bytes", writer->max);
        return false;
    }
    buffer_put(writer->out, &byte, 1);
    buffer_put(writer->out, bytes, size);
    return true;
}

/* ".acme[3].last", of the keys that lead to what is at hand. */
static void put_way(const struct writer *writer, struct buffer *way)
{
    for (int i = 0; i < writer->depth && writer->keys[i] != 0; i++) {
        int at = writer->keys[i];

        if (lua_type(writer->L, at) == LUA_TSTRING)
            buffer_print(way, ".%.40s", lua_tostring(writer->L, at));
        else if (lua_type(writer->L, at) == LUA_TNUMBER)
            buffer_print(way, "[%.14g]", lua_tonumber(writer->L, at));
        else
            buffer_print(way, "[%s]",
                         lua_toboolean(writer->L, at) ? "true" : "false");
    }
}

static bool refuse(const struct writer *writer, const char *what)
{
    struct buffer way = {0};

    put_way(writer, &way);
    if (way.size == 0)
        error_set(writer->error, "it is %s", what);
    else
        error_set(writer->error, "%s is %s", buffer_text(&way), what);
    buffer_free(&way);
    return false;
}

static const char *kind_name(int type)
{
    switch (type) {
    case LUA_TFUNCTION:
        return "a function";
    case TYPE_CDATA:
        return "an event or something else that only lives now";
    default:
        return "no plain data";
    }
}

static bool write_text(struct writer *writer)
{
    size_t length;
    const char *text = lua_tolstring(writer->L, -1, &length);
    uint32_t size = (uint32_t)length;

    if (!put(writer, TAG_TEXT, &size, sizeof size))
        return false;
    if (length > writer->end - writer->out->size) {
        error_set(writer->error, "it takes more than %zu bytes", writer->max);
        return false;
    }
    buffer_put(writer->out, text, length);
    return true;
}

/* The loader says which kind of 64-bit integer it is, and shows its bits. */
static bool write_wide(struct writer *writer)
{
    lua_State *L = writer->L;
    int kind;

    lua_getfield(L, writer->loader, "wide");
    lua_pushvalue(L, -2);
    lua_call(L, 1, 1);
    kind = (int)lua_tointeger(L, -1);
    lua_pop(L, 1);
    if (kind == 0)
        return refuse(writer, kind_name(TYPE_CDATA));
    return put(writer, kind == 1 ? TAG_UNSIGNED : TAG_SIGNED,
               &writer->border->token.u64, sizeof(uint64_t));
}

static bool write_number(struct writer *writer)
{
    lua_Number number = lua_tonumber(writer->L, -1);

    return put(writer, TAG_NUMBER, &number, sizeof number);
}

/* NULL: nothing. */
static const char *what_is_wrong(const struct writer *writer)
{
    for (int i = 0; i < writer->depth; i++)
        if (writer->tables[i] == lua_topointer(writer->L, -1))
            return "a table that contains itself";
    if (writer->depth == PLAIN_DEPTH)
        return "nested too deep: more than 64 tables";
    if (lua_getmetatable(writer->L, -1)) {
        lua_pop(writer->L, 1);
        return "a table with a metatable";
    }
    return NULL;
}

static bool is_key(int type)
{
    return type == LUA_TSTRING || type == LUA_TNUMBER || type == LUA_TBOOLEAN;
}

static bool write_value(struct writer *writer);

/* The key is below the value, on top of the stack. */
static bool write_pair(struct writer *writer)
{
    lua_State *L = writer->L;

    if (!is_key(lua_type(L, -2))) {
        writer->keys[writer->depth - 1] = 0;
        return refuse(writer, "a table with keys other than strings, numbers "
                              "and booleans");
    }
    writer->keys[writer->depth - 1] = lua_gettop(L) - 1;
    lua_pushvalue(L, -2);
    if (!write_value(writer))
        return false;
    lua_pop(L, 1);
    return write_value(writer);
}

static bool write_table(struct writer *writer)
{
    lua_State *L = writer->L;
    const char *wrong = what_is_wrong(writer);
    int table = lua_gettop(L);

    if (wrong != NULL)
        return refuse(writer, wrong);
    if (!put(writer, TAG_TABLE, "", 0))
        return false;
    luaL_checkstack(L, 8, "state is nested too deep");
    writer->tables[writer->depth] = lua_topointer(L, table);
    writer->keys[writer->depth++] = 0;
    lua_pushnil(L);
    while (lua_next(L, table)) {
        if (!write_pair(writer))
            return false;
        lua_pop(L, 1);
    }
    writer->depth--;
    return put(writer, TAG_END, "", 0);
}

static bool write_value(struct writer *writer)
{
    int type = lua_type(writer->L, -1);

    switch (type) {
    case LUA_TBOOLEAN:
        return put(writer, lua_toboolean(writer->L, -1) ? TAG_TRUE : TAG_FALSE,
                   "", 0);
    case LUA_TNUMBER:
        return write_number(writer);
    case LUA_TSTRING:
        return write_text(writer);
    case LUA_TTABLE:
        return write_table(writer);
    case TYPE_CDATA:
        return write_wide(writer);
    default:
        return refuse(writer, kind_name(type));
    }
}

bool plain_write(lua_State *L, struct border *border, int loader, size_t max,
                 struct buffer *out, struct error *error)
{
    struct writer writer = {.L = L,
                            .border = border,
                            .loader = loader,
                            .end = out->size + max,
                            .max = max,
                            .out = out,
                            .error = error};

    return write_value(&writer);
}

/* ---- reading: what was written here ---- */

struct reader {
    lua_State *L;
    struct border *border;
    int loader;
    const uint8_t *at;
};

static void take(struct reader *reader, void *out, size_t size)
{
    memcpy(out, reader->at, size);
    reader->at += size;
}

static void push_wide(struct reader *reader, const char *maker)
{
    uint64_t bits;

    take(reader, &bits, sizeof bits);
    reader->border->token.u64 = bits;
    reader->border->token.i64 = (int64_t)bits;
    lua_getfield(reader->L, reader->loader, maker);
    lua_call(reader->L, 0, 1);
}

static void push_number(struct reader *reader)
{
    lua_Number number;

    take(reader, &number, sizeof number);
    lua_pushnumber(reader->L, number);
}

static void push_text(struct reader *reader)
{
    uint32_t size;

    take(reader, &size, sizeof size);
    lua_pushlstring(reader->L, (const char *)reader->at, size);
    reader->at += size;
}

static void push_value(struct reader *reader);

static void push_table(struct reader *reader)
{
    luaL_checkstack(reader->L, 8, "state is nested too deep");
    lua_newtable(reader->L);
    while (*reader->at != TAG_END) {
        push_value(reader);
        push_value(reader);
        lua_rawset(reader->L, -3);
    }
    reader->at++;
}

static void push_value(struct reader *reader)
{
    switch ((enum tag) * reader->at++) {
    case TAG_FALSE:
    case TAG_TRUE:
        lua_pushboolean(reader->L, reader->at[-1] == TAG_TRUE);
        break;
    case TAG_NUMBER:
        push_number(reader);
        break;
    case TAG_UNSIGNED:
        push_wide(reader, "unsigned");
        break;
    case TAG_SIGNED:
        push_wide(reader, "signed");
        break;
    case TAG_TEXT:
        push_text(reader);
        break;
    case TAG_TABLE:
    case TAG_END:
        push_table(reader);
        break;
    }
}

void plain_push(lua_State *L, struct border *border, int loader,
                const struct buffer *bytes)
{
    struct reader reader = {L, border, loader, bytes->data};

    push_value(&reader);
}

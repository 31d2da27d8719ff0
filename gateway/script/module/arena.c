#include "base/arena.h"
#include "script/module/module.h"

#include <lauxlib.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

static bool is_intact(const unsigned char *block, size_t size, int mark)
{
    for (size_t i = 0; i < size; i++)
        if (block[i] != (unsigned char)mark)
            return false;
    return (uintptr_t)block % _Alignof(max_align_t) == 0;
}

enum { ARENA_BLOCKS = 1000 };

struct blocks {
    unsigned char *bytes[ARENA_BLOCKS]; /* NULL: refused */
    size_t sizes[ARENA_BLOCKS];
    int count;
};

static void take_block(struct blocks *blocks, struct arena *arena, int i)
{
    blocks->bytes[i] = arena_take(arena, blocks->sizes[i]);
    if (blocks->bytes[i] != NULL)
        memset(blocks->bytes[i], i, blocks->sizes[i]);
}

/* Append to the list on top of the stack. */
static void push_granted(lua_State *L, const struct blocks *blocks)
{
    for (int i = 0; i < blocks->count; i++) {
        lua_pushboolean(L,
                        blocks->bytes[i] != NULL &&
                            is_intact(blocks->bytes[i], blocks->sizes[i], i));
        lua_rawseti(L, -2, (int)lua_objlen(L, -2) + 1);
    }
}

/* arena(limit, sizes [, kept]): which blocks were granted and found intact,
 * before and after all but the first `kept` were forgotten. */
static int arena_lua_take(lua_State *L)
{
    struct arena *arena = arena_new((size_t)luaL_checknumber(L, 1));
    struct blocks blocks = {.count = (int)lua_objlen(L, 2)};
    int kept = (int)luaL_optinteger(L, 3, 0);
    struct arena_mark mark = arena_mark(arena);

    luaL_argcheck(L, blocks.count <= ARENA_BLOCKS, 2, "too many");
    for (int i = 0; i < blocks.count; i++) {
        lua_rawgeti(L, 2, i + 1);
        blocks.sizes[i] = (size_t)lua_tonumber(L, -1);
        lua_pop(L, 1);
        take_block(&blocks, arena, i);
        if (i + 1 == kept)
            mark = arena_mark(arena);
    }
    lua_newtable(L);
    push_granted(L, &blocks);
    if (kept > 0)
        arena_rewind(arena, &mark);
    else
        arena_reset(arena);
    for (int i = kept; i < blocks.count; i++)
        take_block(&blocks, arena, i);
    push_granted(L, &blocks);
    arena_free(arena);
    return 1;
}

void module_arena(lua_State *L)
{
    static const luaL_Reg functions[] = {
        {"arena", arena_lua_take},
        {NULL, NULL},
    };

    luaL_setfuncs(L, functions, 0);
}

#include "script/heap.h"

#include "base/memory.h"

#include <stdlib.h>

enum { STEP = 200, GROWTH = 16 }; /* a cycle is due after 1/16 of the limit */

struct heap {
    lua_State *L;
    lua_Alloc allocate; /* LuaJIT's */
    void *context;
    size_t used;
    size_t limit;
    size_t floor; /* used after the last whole cycle */
    bool refused; /* since then */
    uint32_t *breach;
    uint32_t mark;
};

/* `size` is that of `block` only where there is one.  Less is never refused:
 * Lua does not expect it. */
static void *allocate(void *context, void *block, size_t size, size_t wanted)
{
    struct heap *heap = context;
    size_t held = block == NULL ? 0 : size;
    void *result;

    if (wanted > held && wanted - held > heap->limit - heap->used)
        result = NULL;
    else
        result = heap->allocate(heap->context, block, size, wanted);
    if (result == NULL && wanted > 0) {
        heap->refused = true;
        *heap->breach = heap->mark;
        return NULL;
    }
    heap->used = heap->used - held + wanted;
    return result;
}

struct heap *heap_new(lua_State *L, size_t limit, uint32_t *breach,
                      uint32_t mark)
{
    struct heap *heap = memory_new(sizeof *heap);

    heap->L = L;
    heap->allocate = lua_getallocf(L, &heap->context);
    heap->used = (size_t)lua_gc(L, LUA_GCCOUNT, 0) * 1024 +
                 (size_t)lua_gc(L, LUA_GCCOUNTB, 0);
    heap->limit = limit > heap->used ? limit : heap->used;
    heap->breach = breach;
    heap->mark = mark;
    lua_setallocf(L, allocate, heap);
    return heap;
}

void heap_free(struct heap *heap)
{
    if (heap == NULL)
        return;
    lua_setallocf(heap->L, heap->allocate, heap->context);
    free(heap);
}

bool heap_is_due(const struct heap *heap)
{
    return heap->refused || (heap->used > heap->limit / 2 &&
                             heap->used > heap->floor + heap->limit / GROWTH);
}

int heap_collect(lua_State *L)
{
    struct heap *heap = lua_touserdata(L, 1);
    bool full = heap->refused || heap->used > heap->limit / 4 * 3;

    if (full)
        lua_gc(L, LUA_GCCOLLECT, 0);
    if (full || lua_gc(L, LUA_GCSTEP, STEP)) {
        heap->floor = heap->used;
        heap->refused = false;
    }
    return 0;
}

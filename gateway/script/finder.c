#include "script/finder.h"

#include "base/nearest.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <lauxlib.h>
#include <limits.h>
#include <stdbool.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/*
 * Push the name of the file relative to a directory of the path: a script's is
 * as it was written; dots of a module's name lead into folders.
 */
static void push_file_name(lua_State *L, const char *name, bool is_module)
{
    if (!is_module) {
        lua_pushstring(L, name);
        return;
    }
    if (*name == '\0' || *name == '.' || strstr(name, "..") != NULL ||
        strpbrk(name, "/\\\n") != NULL)
        luaL_error(L, "a module's name has words and dots, not \"%s\"", name);
    luaL_gsub(L, name, ".", "/"); /* pushes its result */
    lua_pushstring(L, ".lua");
    lua_concat(L, 2);
}

/* No errno: a pipe could keep us waiting for ever. */
enum { NOT_REGULAR = -1 };

static const char *fault_text(int fault)
{
    return fault == NOT_REGULAR ? "it is no regular file" : strerror(fault);
}

static int check_file(int file)
{
    struct stat status;

    if (fstat(file, &status) != 0)
        return errno;
    if (S_ISDIR(status.st_mode))
        return EISDIR;
    return S_ISREG(status.st_mode) ? 0 : NOT_REGULAR;
}

static int read_all(int file, char *text, size_t *size)
{
    ssize_t got;

    while ((got = read(file, text + *size, FINDER_FILE_MAX + 1 - *size)) > 0) {
        *size += (size_t)got;
        if (*size > FINDER_FILE_MAX)
            return EFBIG;
    }
    return got < 0 ? errno : 0;
}

/* Nothing of Lua in here, so nothing raises while the file is open. */
static int read_file(const char *path, char *text, size_t *size)
{
    int file = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    int fault;

    if (file < 0)
        return errno;
    fault = check_file(file);
    if (fault == 0)
        fault = read_all(file, text, size);
    close(file);
    return fault;
}

/* Push the text of the file at `path`, whose string stays on the stack below;
 * false if there is none.  Raises if it is there and cannot be read. */
static bool push_file(lua_State *L, const char *path)
{
    char *text = lua_newuserdata(L, FINDER_FILE_MAX + 1);
    size_t size = 0;
    int fault = read_file(path, text, &size);

    if (fault == ENOENT || fault == ENOTDIR) {
        lua_pop(L, 1);
        return false;
    }
    if (fault != 0)
        luaL_error(L, "%s: %s", path, fault_text(fault));
    lua_pushlstring(L, text, size);
    lua_remove(L, -2);
    return true;
}

static const char *push_searched(lua_State *L, char *const *path)
{
    luaL_Buffer text;

    luaL_buffinit(L, &text);
    for (; *path != NULL; path++) {
        luaL_addstring(&text, *path);
        if (path[1] != NULL)
            luaL_addstring(&text, ", ");
    }
    luaL_pushresult(&text);
    return lua_tostring(L, -1);
}

/* Offer the scripts of a folder; the name of the nearest goes into `best`. */
static void offer_scripts(struct nearest *nearest, const char *folder,
                          char best[NAME_MAX + 1])
{
    DIR *entries = opendir(folder);

    for (struct dirent *entry; entries && (entry = readdir(entries)) != NULL;) {
        const char *ending = strrchr(entry->d_name, '.');

        if (ending == NULL || strcmp(ending, ".lua") != 0)
            continue;
        nearest_offer(nearest, entry->d_name);
        if (nearest->known == entry->d_name)
            nearest->known = strcpy(best, entry->d_name);
    }
    if (entries != NULL)
        closedir(entries);
}

/* Push `; did you mean NAME?`, or nothing: a script beside the places where
 * the missing one was looked for. */
static const char *push_hint(lua_State *L, const char *file, char *const *path)
{
    char best[NAME_MAX + 1];
    const char *slash = strrchr(file, '/');
    struct nearest nearest = {.word = slash != NULL ? slash + 1 : file};

    lua_pushlstring(L, file, (size_t)(nearest.word - file));
    file = lua_tostring(L, -1);
    if (*file == '/')
        offer_scripts(&nearest, file, best);
    for (; *file != '/' && *path != NULL; path++) {
        offer_scripts(&nearest, lua_pushfstring(L, "%s/%s", *path, file), best);
        lua_pop(L, 1);
    }
    return nearest.known == NULL
               ? ""
               : lua_pushfstring(L, "; did you mean %s%s?", file, best);
}

static int raise_missing(lua_State *L, const char *name, const char *file,
                         bool is_module, char *const *path)
{
    const char *searched;

    if (*file == '/')
        return luaL_error(L, "there is no file %s%s", file,
                          push_hint(L, file, path));
    searched = push_searched(L, path);
    if (is_module)
        return luaL_error(L, "there is no module \"%s\": no %s in %s%s", name,
                          file, searched, push_hint(L, file, path));
    return luaL_error(L, "there is no script %s in %s%s", name, searched,
                      push_hint(L, file, path));
}

/* find(name, is_module) -> path, text */
static int find(lua_State *L)
{
    char *const *path = lua_touserdata(L, lua_upvalueindex(1));
    const char *name = luaL_checkstring(L, 1);
    bool is_module = lua_toboolean(L, 2);
    const char *file;

    push_file_name(L, name, is_module);
    file = lua_tostring(L, -1);
    if (*file == '/')
        return push_file(L, file)
                   ? 2
                   : raise_missing(L, name, file, is_module, path);
    for (char *const *folder = path; *folder != NULL; folder++) {
        lua_pushfstring(L, "%s/%s", *folder, file);
        if (push_file(L, lua_tostring(L, -1)))
            return 2;
        lua_pop(L, 1);
    }
    return raise_missing(L, name, file, is_module, path);
}

void finder_push(lua_State *L, char *const *path)
{
    lua_pushlightuserdata(L, (void *)path);
    lua_pushcclosure(L, find, 1);
}

--- What a script may reach: an allow list, fresh for every file.
--
-- A script's globals are an empty table in front of the allowed ones, so that every write shows:
-- all are errors. A blocked name says that it is blocked, and why. Each file has copies of the
-- library tables; the string functions that all strings share through their metatable are in a
-- table that no script gets hold of.

local border = require "kvgate.border"
local sort = require "kvgate.sort"
local apart = require("kvgate.world").apart

local sandbox = {}

local PATTERN_MAX = 256       -- bytes of a pattern
local SUBJECT_MAX = 64 * 1024 -- bytes that a pattern may run over
local SEARCH_MAX = 2 ^ 28     -- bytes sought times bytes searched, of a plain search
local REPEAT_MAX = 1024 * 1024 -- bytes that string.rep may make
local NESTED_MAX = 64         -- functions of C that call back, in each other

-- ---- what calls back ----

local function leave(ok, result, count)
  border.nested = border.nested - 1
  if not ok then error(result, 0) end
  return result, count
end

--- Functions of C call back what a script gave them with a stack that LuaJIT does not watch: a
--- gsub in the replacement of a gsub, and so on, would end the process.
local function guard(name, func, ...)
  if border.nested == NESTED_MAX then
    error(("%s: calls back at most %d deep"):format(name, NESTED_MAX), 2)
  end
  border.nested = border.nested + 1
  return leave(pcall(func, ...))
end

--- These call with no look at the size of Lua's stack, or whether it is time to stop. As functions
--- of Lua they do: without, `__call = pcall` ends the process, and `__tostring = tostring` runs on
--- where no hook looks.

local function protected(func, ...) return pcall(func, ...) end

local function handled(func, handler, ...) return xpcall(func, handler, ...) end

local function text_of(...)
  local text = tostring(...)
  return text
end

-- ---- strings, with caps ----

local find, match, gmatch, gsub = string.find, string.match, string.gmatch, string.gsub
local format, rep = string.format, string.rep

local function is_text(item) return type(item) == "string" or type(item) == "number" end

local function check_text(item, number, name)
  if is_text(item) then return end
  error(("bad argument #%d to '%s' (string expected, got %s)"):format(number, name, type(item)), 4)
end

local function size_of(item)
  if type(item) == "string" then return #item end
  return type(item) == "number" and #tostring(item) or 0
end

--- The functions below end in tail calls, for the compiler's sake: a wrong argument must be found
--- before, or the error would name the wrong function.
local function check_pattern(name, subject, pattern)
  check_text(subject, 1, name)
  check_text(pattern, 2, name)
  if size_of(subject) > SUBJECT_MAX then
    error(("string.%s: a pattern may run over %d bytes, not %d")
      :format(name, SUBJECT_MAX, #subject), 3)
  end
  if size_of(pattern) > PATTERN_MAX then
    error(("string.%s: a pattern has at most %d bytes, not %d")
      :format(name, PATTERN_MAX, #pattern), 3)
  end
end

local strings = {
  byte = string.byte,
  char = string.char,
  len = string.len,
  lower = string.lower,
  reverse = string.reverse,
  sub = string.sub,
  upper = string.upper,
}

function strings.find(subject, pattern, init, plain)
  if not plain then
    check_pattern("find", subject, pattern)
  elseif size_of(subject) * size_of(pattern) > SEARCH_MAX then
    error(("string.find: %d bytes may not be searched for %d")
      :format(size_of(subject), size_of(pattern)), 2)
  end
  return find(subject, pattern, init, plain)
end

function strings.match(subject, pattern, init)
  check_pattern("match", subject, pattern)
  return match(subject, pattern, init)
end

function strings.gmatch(subject, pattern)
  check_pattern("gmatch", subject, pattern)
  return gmatch(subject, pattern)
end

function strings.gsub(subject, pattern, replacement, limit)
  check_pattern("gsub", subject, pattern)
  if type(replacement) ~= "function" and type(replacement) ~= "table" then
    return gsub(subject, pattern, replacement, limit)
  end
  return guard("string.gsub", gsub, subject, pattern, replacement, limit)
end

--- May one be a table, whose __tostring is called? Without a loop, for the compiler's sake.
local function may_call(a, b, c, d, e, f, ...)
  return type(a) == "table" or type(b) == "table" or type(c) == "table" or type(d) == "table"
    or type(e) == "table" or type(f) == "table" or select("#", ...) > 0
end

function strings.format(text, ...)
  if may_call(...) then return (guard("string.format", format, text, ...)) end
  local result = format(text, ...)
  return result
end

function strings.rep(text, count, separator)
  local times = tonumber(count)
  if not is_text(text) or not times then
    error("string.rep takes a string and a number", 2)
  end
  if (size_of(text) + size_of(separator)) * times > REPEAT_MAX then
    error(("string.rep: makes at most %d bytes"):format(REPEAT_MAX), 2)
  end
  return rep(text, count, separator)
end

-- ---- tables and time ----

local insert, time = table.insert, os.time

--- To insert far below 1 would move items that are not there, for minutes.
local function insert_item(items, ...)
  if select("#", ...) == 2 and type(items) == "table" then
    local position = tonumber((...))
    if position and not (position >= 1 and position <= #items + 1) then
      error(("table.insert: position %g of a list of %d items"):format(position, #items), 2)
    end
  end
  insert(items, ...)
end

--- C would sort for minutes what is arranged badly for it, and no hook would look.
local function sort_items(items, comes_before)
  if type(items) ~= "table" or (comes_before ~= nil and type(comes_before) ~= "function") then
    error("table.sort takes a list and, if any, a function that compares", 2)
  end
  guard("table.sort", apart, sort, items, comes_before)
end

--- A table's fields are read here, as their __index may be the script's.
local function time_of(date)
  if date == nil then return time() end
  return time {
    year = date.year, month = date.month, day = date.day,
    hour = date.hour, min = date.min, sec = date.sec, isdst = date.isdst,
  }
end

-- ---- names ----

local function count_memory(what)
  if what == "count" then return collectgarbage "count" end
  error("collectgarbage is blocked in a filter but for \"count\"", 2)
end

--- Metatables of other things (strings, events) are the runtime's.
local function metatable_of(item)
  if type(item) ~= "table" then return nil end
  return getmetatable(item)
end

local functions = {
  _VERSION = _VERSION,
  assert = assert,
  collectgarbage = count_memory,
  error = error,
  getmetatable = metatable_of,
  ipairs = ipairs,
  next = next,
  pairs = pairs,
  pcall = protected,
  rawequal = rawequal,
  rawget = rawget,
  select = select,
  setmetatable = setmetatable,
  tonumber = tonumber,
  tostring = text_of,
  type = type,
  unpack = unpack,
  xpcall = handled,
}

local libraries = {
  bit = bit,
  math = math,
  os = { clock = os.clock, time = time_of },
  string = strings,
  table = {
    concat = table.concat,
    insert = insert_item,
    maxn = table.maxn,
    remove = table.remove,
    sort = sort_items,
    unpack = unpack,
  },
}

local code = "code comes from script files only"
local outside = "a filter sees events and its options, nothing else of the machine"
local shared = "a filter's variables are local"

--- Names that people may look for, with the reason why they aren't there.
local blocked = {
  _G = shared,
  coroutine = "a filter answers at once",
  debug = "it would open the sandbox",
  dofile = code,
  ffi = "it would open the sandbox",
  gcinfo = "use collectgarbage \"count\"",
  getfenv = shared,
  io = outside,
  jit = "the runtime controls the compiler",
  load = code,
  loadfile = code,
  loadstring = code,
  module = "a module returns its table",
  newproxy = "it would open the sandbox",
  package = "require finds modules along the script path",
  print = "standard output is not for filters",
  rawset = shared,
  setfenv = shared,
  ["os.date"] = outside,
  ["os.difftime"] = "subtract",
  ["os.execute"] = outside,
  ["os.exit"] = outside,
  ["os.getenv"] = outside,
  ["os.remove"] = outside,
  ["os.rename"] = outside,
  ["os.setlocale"] = outside,
  ["os.tmpname"] = outside,
  ["string.dump"] = code,
}

local function check_blocked(name)
  local reason = blocked[name]
  if reason then error(("'%s' is blocked in a filter: %s"):format(name, reason), 3) end
end

local function copy_library(name, library)
  local copy = {}
  for key, item in pairs(library) do copy[key] = item end
  return setmetatable(copy, {
    __index = function(_, key) check_blocked(name .. "." .. tostring(key)) end,
    __metatable = false,
  })
end

local function read_unknown(_, name)
  check_blocked(name)
  error(("'%s' is not defined"):format(tostring(name)), 2)
end

local function write_global(_, name)
  error(("'%s' is not a local variable: write `local %s = …`"):format(name, name), 2)
end

--- The globals of one file.
---@param require fun(name: string): any
---@return table
function sandbox.environment(require)
  local names = { require = require }
  for name, item in pairs(functions) do names[name] = item end
  for name, library in pairs(libraries) do names[name] = copy_library(name, library) end
  setmetatable(names, { __index = read_unknown })
  return setmetatable({}, { __index = names, __newindex = write_global, __metatable = false })
end

--- ("x"):rep(n) and its like go through the caps as well.
function sandbox.seal_strings()
  local metatable = getmetatable ""
  metatable.__index = strings
  metatable.__metatable = false
end

return sandbox

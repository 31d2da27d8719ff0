--- What hostile filters try: bodies of function(event), for one event.
--
-- Each is { name, body, head }: `head` stands in front of the filter's function. `refused` raise an
-- error, `harmless` come to nothing and the event keeps its verdict, `loops` are stopped by time,
-- `bombs` by memory.

local hostile = {}

--- The text of a filter that does `body` for the events of one tenant.
---@param body string
---@param head? string
---@param tenant? string "bad" unless given
function hostile.text(body, head, tenant)
  return ([[
return function()
  %s
  return function(event)
    if event.tenant_id == %q then
      %s
    end
    return "a"
  end
end]]):format(head or "", tenant or "bad", body)
end

local RECURSION = "local t = setmetatable({}, {})\nlocal meta = getmetatable(t)\n"

hostile.refused = {
  -- ---- deep recursion, of Lua and of C ----
  { "a function that calls itself", "return f(1)",
    "local f\nfunction f(n) return 1 + f(n + 1) end" },
  { "a tostring that asks itself", "return tostring(t)",
    RECURSION .. "function meta.__tostring() return tostring(t) .. 'x' end" },
  { "tostring as its own __tostring", "return tostring(t)",
    RECURSION .. "meta.__tostring = tostring" },
  { "a format that formats itself", "return ('%s'):format(t)",
    RECURSION .. "function meta.__tostring() return ('%s'):format(t) end" },
  { "a format with many values that formats itself", "return tostring(t)",
    RECURSION .. "function meta.__tostring() return ('%d%d%d%d%d%d%s')"
    .. ":format(1, 2, 3, 4, 5, 6, t) end" },
  { "a sort that sorts", "table.sort({ 1, 2 }, f)",
    "local f\nfunction f() table.sort({ 1, 2 }, f) end" },
  { "a __lt that sorts", "table.sort({ t, setmetatable({}, meta) })",
    RECURSION .. "function meta.__lt() table.sort { t, setmetatable({}, meta) } end" },
  { "a gsub that substitutes", "('x'):gsub('.', f)",
    "local f\nfunction f() return (('x'):gsub('.', f)) end" },
  { "a gsub's table that substitutes", "('x'):gsub('.', t)",
    RECURSION .. "function meta.__index() return (('x'):gsub('.', t)) end" },
  { "sort, gsub and format in turns", "f()", [[
    local f, t
    t = setmetatable({}, { __tostring = function() return f() end })
    function f()
      table.sort({ 1, 2 }, function()
        return ("x"):gsub(".", function() return ("%s"):format(t) end)
      end)
    end]] },
  { "a time that is asked for itself", "return os.time(t)",
    RECURSION .. "function meta.__index() return os.time(t) end" },
  { "an __index chain of 200 tables", "return t.x",
    "local t = {} for _ = 1, 200 do t = setmetatable({}, { __index = t }) end" },
  { "an __index that is itself", "return t.x", RECURSION .. "meta.__index = t" },
  { "arguments without end", "f()", "local f\nfunction f(...) return select('#', f(1, ...)) end" },
  { "a table that holds itself, in an event", "local t = {} t[1] = t event.x = t" },
  { "a key that asks when it is told", "event.x = require('kvgate.value').array { [t] = 1 }",
    "local t\nt = setmetatable({}, { __tostring = function() error 'asked' end })" },

  -- ---- bombs ----
  { "a string repeated far too often", "return ('x'):rep(1e9)" },
  { "a pattern that is too long", "return ('x'):find(('a?'):rep(200))" },
  { "a plain search that goes on for minutes",
    "return ('a'):rep(2 ^ 20):find(('a'):rep(2 ^ 15) .. 'b', 1, true)" },
  { "an item that is inserted far below", "table.insert({}, -2 ^ 31, 1)" },
  { "an item that is inserted beyond all integers", "table.insert({}, 2 ^ 33, 1)" },
  { "an item that is inserted at no number", "table.insert({}, 0 / 0, 1)" },
  { "ten million results", "return unpack({}, 1, 1e7)" },
  { "copies without end", "while true do event:copy() end" },

  -- ---- errors that are no text ----
  { "an error that is a table", "error {}" },
  { "an error that is nothing", "error()" },
  { "an error that is an event", "error(event)" },
  { "an error that is a 64-bit integer", "error(5ULL)" },
  { "an error that is a function", "error(error)" },
  { "an error that cannot be printed",
    "error(setmetatable({}, { __tostring = function() while true do end end }))" },
  { "an error of a megabyte", "error(('x'):rep(2 ^ 20))" },
  { "an error of several lines", "error 'one\\ntwo\\0three'" },
  { "an error in an error's handler", "error(select(2, xpcall(error, function() error {} end)))" },
  { "an error that pretends to come from elsewhere", "error('/etc/passwd:1: root', 0)" },

  -- ---- state that is to stay ----
  { "a global", "x = 1" },
  { "a global function", "function tostring() end" },
  { "the table of globals", "_G.x = 1" },
  { "an event that was kept", "return held.tenant_id and 'a'",
    "local held = setmetatable({}, { __index = function() error 'not yet' end })" },
  { "strings' methods", "getmetatable('').__index.upper = nil" },
  { "events' methods", "getmetatable(event).__index = nil" },
  { "a library's metatable", "setmetatable(string, {})" },
  { "strings' metatable", "setmetatable('', {})" },
  { "integers' metatable", "setmetatable(5ULL, {})" },
  { "an event's", "setmetatable(event, {})" },
  { "an array's", "setmetatable(require('kvgate.value').array {}, {})" },
  { "null", "require('kvgate.value').null.x = 1" },
  { "a template", "require('kvgate.keys').vllm.match = nil" },
  { "a metatable of the runtime's",
    "setmetatable({}, getmetatable(require('kvgate.value').bin '') or error())" },
  { "bytes that are none", "local b = require('kvgate.value').bin '' b.bytes = event event.x = b" },
  { "a length of one's own", "local b = require('kvgate.value').bin ''"
    .. " b.bytes = setmetatable({}, { __len = function() return 2 ^ 30 end }) event.x = b" },
  { "a number that is none",
    "local f = require('kvgate.value').float(1) f.number = {} event.x = f" },

  -- ---- ways out ----
  { "string.dump", "return string.dump(function() end)" },
  { "dump as a method", "return ('').dump(function() end)" },
  { "load", "load('return 1')" },
  { "loadstring with bytecode", "loadstring('\\27LJ')" },
  { "newproxy", "newproxy(true)" },
  { "coroutines", "coroutine.wrap(function() while true do end end)()" },
  { "the debug library", "debug.getregistry()" },
  { "package.loaded", "return package.loaded.ffi" },
  { "require ffi", "require 'ffi'" },
  { "require ffi, protected",
    "local ok, m = pcall(require, 'ffi') return ok and m.C or error 'no'" },
  { "require with an object for a name",
    "require(setmetatable({}, { __tostring = function() return 'ffi' end }))" },
  { "require of what the runtime uses", "require 'kvgate.border'" },
  { "require of the driver", "require 'kvgate.driver'" },
  { "jit", "jit.off()" },
  { "getfenv", "getfenv(1)" },
  { "setfenv", "setfenv(1, {})" },
  { "rawset", "rawset(string, 'x', 1)" },
  { "an integer's field", "return (0ULL).x" },
  { "an integer's item", "return (0ULL)[0]" },
  { "an integer called", "return (0ULL)()" },
  { "an event's item", "return event[0]" },
  { "an event's item, written", "event[1] = 1" },
  { "an event's item at a 64-bit place", "return event[1ULL]" },
  { "an event counted up", "return event + 1" },
  { "the distance of events", "return event - event:copy()" },
  { "an event called", "return event()" },
  { "an event's length", "return #event" },
  { "an event's method without an event", "return event.copy(5ULL)" },
  { "an event's method with a table", "return event.copy {}" },
  { "a match without a template",
    "return require('kvgate.keys').vllm.match(5ULL, event, 'object_key')" },
}

hostile.harmless = {
  { "pcall as a __call", "t()", RECURSION .. "meta.__call = pcall" },
  { "xpcall as a __call", "pcall(t, unpack(list))",
    RECURSION .. "meta.__call = xpcall\nlocal list = {} for i = 1, 2000 do list[i] = t end" },
  { "pcall of pcall, two thousand deep", "pcall(unpack(list))",
    "local list = {} for i = 1, 2000 do list[i] = pcall end" },
  { "xpcall of xpcall, two thousand deep", "pcall(unpack(list))",
    "local list = {} for i = 1, 2000 do list[i] = xpcall end" },
  { "pcall as an __index", "return t.x == false and 'a'", RECURSION .. "meta.__index = pcall" },
  { "a pcall in each call", "f(1)", "local f\nfunction f(n) return pcall(f, n + 1) end" },
  { "a handler that needs a handler", "xpcall(error, f)",
    "local f\nfunction f() return xpcall(error, f) end" },
  { "a handler that is its own", "xpcall(error, xpcall, error, xpcall)" },
  { "a finaliser that loops",
    "setmetatable({}, { __gc = function() while true do end end }) churn()",
    "local function churn() for _ = 1, 2e4 do local t = {} t[1] = t end end" },
  { "a __close that loops",
    "local t = setmetatable({}, { __close = function() while true do end end }) t = nil" },
  { "weak tables",
    "local t = setmetatable({}, { __mode = 'kv' }) for i = 1, 1e4 do t[{}] = {} end" },
  { "a length of a list's own",
    "return #setmetatable({}, { __len = function() return 2 ^ 40 end }) == 0 and 'a'" },
  { "the least integer by minus one",
    "local x = -0x7fffffffffffffffLL - 1 for i = 1, 100 do x = x / -1LL x = x % -1LL + x end" },
  { "a division by nothing",
    "local x = 5LL for i = 1, 100 do x = 5LL / (x - x) x = 5ULL % (0ULL * x) end" },
  { "a shift too far",
    "for i = 1, 100 do local x = bit.lshift(1ULL, 2 ^ 40) + bit.tobit(1e300) end" },
  { "a repetition below nothing",
    "return ('x'):rep(-3221225472) == '' and ('x'):rep(0 / 0) == '' and 'a'" },
  { "a random seed", "math.randomseed(0 / 0) math.randomseed(2 ^ 70)" },
  { "functions of C as comparisons", "table.sort({ 3, 2, 1 }, rawequal) table.sort({ 1, 2 }, pcall)"
    .. " table.sort({ 1, 2 }, select)" },
  { "a comparison that says yes to all", "local t = {} for i = 1, 1000 do t[i] = i end"
    .. " table.sort(t, function() return true end)" },
  { "a file's own string.format", "string.format = nil table.sort = nil" },
  { "getmetatable of everything", "return not (getmetatable('') or getmetatable(event)"
    .. " or getmetatable(5ULL) or getmetatable(print_)) and 'a'", "local print_ = tostring" },
}

hostile.loops = {
  { "while true", "while true do end" },
  { "repeat until false", "repeat until false" },
  { "goto", "::again:: goto again" },
  { "a numeric for", "for _ = 1, math.huge do end" },
  { "a counter", "local n = 0 while true do n = n + 1 end" },
  { "a table that is filled in a circle",
    "local t, n = {}, 0\nwhile true do\n n = n + 1\n t[n % 8] = { n }\n end" },
  { "a self tail call", "return loop()", "local loop\nfunction loop() return loop() end" },
  { "two functions that call each other",
    "return ping(1)", "local ping, pong\nfunction ping(n) return pong(n + 1) end\n"
    .. "function pong(n) return ping(n) end" },
  { "a loop that makes closures", "while true do local f = function() end f() end" },
  { "a loop that makes strings",
    "local n = 0 while true do n = n + 1 local s = ('x'):rep(100) .. n end" },
  { "next over a table that never ends",
    "for _ in function() return 1 end do end" },
  { "a pcall around an endless loop", "while true do pcall(loop) end",
    "local function loop() while true do end end" },
  { "a pcall around it, once", "pcall(loop) return true",
    "local function loop() while true do end end" },
  { "a pcall around it, as a tail call", "return pcall(loop)",
    "local function loop() while true do end end" },
  { "pcalls in pcalls", "local function f(n) if n == 0 then while true do end end "
    .. "pcall(f, n - 1) f(n) end f(20)" },
  { "a handler that loops", "xpcall(error, function() while true do end end) return true" },
  { "a handler that swallows", "while true do xpcall(loop, function() return 1 end) end",
    "local function loop() while true do end end" },
  { "an __index that loops", "local x = t.x",
    "local t = setmetatable({}, { __index = function() while true do end end })" },
  { "an __index chain of itself", "while true do local x = t.x end",
    "local t = setmetatable({}, { __index = function(_, k) return k end })" },
  { "an __add that loops", "local x = t + 1",
    "local t = setmetatable({}, { __add = function() while true do end end })" },
  { "a comparison that loops in table.sort",
    "table.sort({ 3, 2, 1 }, function() while true do end end)" },
  { "a replacement that loops in gsub",
    "('aaa'):gsub('a', function() while true do end end)" },
  { "sorting without end",
    "while true do table.sort({ 3, 1, 2 }, function(a, b) return a < b end) end" },
  { "tostring in a loop", "while true do tostring(t) end",
    "local t = setmetatable({}, { __tostring = function() return 'x' end })" },
  { "reading events in a loop", "while true do local x = event.object_key end" },
  { "editing an event in a loop", "local n = 0 while true do n = n + 1 event.seen = n % 8 end" },
  { "errors in a loop", "while true do pcall(error, {}) end" },
  { "an error's __tostring that loops in format", "('%s'):format(t)",
    "local t = setmetatable({}, { __tostring = function() while true do end end })" },
  { "a __lt that loops", "table.sort { t, t }",
    "local t = setmetatable({}, { __lt = function() while true do end end })" },
  { "a __call, a __concat, an __eq that loop", "return pcall(t) or pcall(f) or t == u", [[
    local meta = {}
    local t, u = setmetatable({}, meta), setmetatable({}, meta)
    function meta.__call() while true do end end
    meta.__concat, meta.__eq = meta.__call, meta.__call
    local function f() return t .. u end]] },
  { "a __newindex that loops", "t.x = 1",
    "local t = setmetatable({}, { __newindex = function() while true do end end })" },
  { "sorts of a million by a function of C", "while true do table.sort(t, rawequal) end",
    "local t = {} for i = 1, 1e6 do t[i] = i end" },
  { "gmatch of nothing", "while true do for _ in ('x'):gmatch '' do end end" },
  { "a verdict that is long in coming", "while true do event:to_table() end" },
  { "all fields, over and over", "while true do for _ in pairs(event) do end end" },
}

hostile.bombs = {
  { "tables in a table", "local t = {} for i = 1, 1e9 do t[i] = { i } end" },
  { "a string that doubles", "local s = 'x' while true do s = s .. s end" },
  { "string.rep in a table",
    "local t = {} for i = 1, 1e9 do t[i] = ('x'):rep(1e6) .. i end" },
  { "table.concat",
    "local t = {} for i = 1, 1000 do t[i] = ('x'):rep(1e5) end local s = table.concat(t)" },
  { "a pcall that swallows it", "pcall(bomb) return true",
    "local function bomb() local s = 'x' while true do s = s .. s end end" },
  { "a pcall that swallows it, as a tail call", "return pcall(bomb)",
    "local function bomb() local s = 'x' while true do s = s .. s end end" },
  { "a handler that swallows it",
    "xpcall(bomb, function() return 1 end) return true",
    "local function bomb() local s = 'x' while true do s = s .. s end end" },
}

return hostile

local scripts = require "tests.support.script"
local wire = require "tests.support.wire"

local function error_of(code) return (scripts.error_of(code)) end

describe("a blocked name", function()
  local names = {
    _G = "a filter's variables are local",
    coroutine = "a filter answers at once",
    debug = "it would open the sandbox",
    dofile = "code comes from script files only",
    ffi = "it would open the sandbox",
    gcinfo = 'use collectgarbage "count"',
    getfenv = "a filter's variables are local",
    io = "a filter sees events and its options, nothing else of the machine",
    jit = "the runtime controls the compiler",
    load = "code comes from script files only",
    loadfile = "code comes from script files only",
    loadstring = "code comes from script files only",
    module = "a module returns its table",
    newproxy = "it would open the sandbox",
    package = "require finds modules along the script path",
    print = "standard output is not for filters",
    rawset = "a filter's variables are local",
    setfenv = "a filter's variables are local",
    ["os.date"] = "a filter sees events and its options, nothing else of the machine",
    ["os.difftime"] = "subtract",
    ["os.execute"] = "a filter sees events and its options, nothing else of the machine",
    ["os.exit"] = "a filter sees events and its options, nothing else of the machine",
    ["os.getenv"] = "a filter sees events and its options, nothing else of the machine",
    ["os.remove"] = "a filter sees events and its options, nothing else of the machine",
    ["os.rename"] = "a filter sees events and its options, nothing else of the machine",
    ["os.setlocale"] = "a filter sees events and its options, nothing else of the machine",
    ["os.tmpname"] = "a filter sees events and its options, nothing else of the machine",
    ["string.dump"] = "code comes from script files only",
  }
  for name, reason in pairs(names) do
    it("says that it is blocked, and where: " .. name, function()
      local text, failure = scripts.error_of("\nlocal x = " .. name)
      assert.equal(("'%s' is blocked in a filter: %s"):format(name, reason), text)
      assert.truthy(failure.error:find "^@/f%.lua:3: ")
    end)
  end

  it("is blocked while the file loads, too", function()
    local script = scripts.new { ["f.lua"] = "local f = io.open('/etc/passwd')" }
    assert.truthy(script:refusal("f.lua"):find("@/f.lua:1: 'io' is blocked in a filter", 1, true))
    script:remove()
  end)

  it("is blocked in modules, too", function()
    local script = scripts.new {
      ["f.lua"] = "require 'm' return function() end", ["m.lua"] = "\nlocal x = os.execute 'true'" }
    assert.truthy(script:refusal("f.lua"):find("@/m.lua:2: 'os.execute' is blocked", 1, true))
    script:remove()
  end)
end)

describe("what standard Lua has", function()
  local luajit_globals = {}
  for name in pairs(_G) do luajit_globals[#luajit_globals + 1] = name end
  table.sort(luajit_globals)

  it("is either allowed, or said to be blocked", function()
    for _, name in ipairs(luajit_globals) do
      if #name < 40 and name:find "^[%a_][%w_]*$" and type(rawget(_G, name)) ~= "nil" then
        local report = scripts.try(("local x = %s\nreturn true"):format(name), { wire.event {} })
        local failure = report.failures[1]
        if failure then
          local told = failure.error:find "is blocked" or failure.error:find "is not defined"
          assert.truthy(told, name)
        end
      end
    end
  end)

  it("is allowed as far as this list goes", function()
    for _, name in ipairs {
      "assert", "error", "getmetatable", "ipairs", "next", "pairs", "pcall", "rawequal", "rawget",
      "require", "select", "setmetatable", "tonumber", "tostring", "type", "unpack", "xpcall",
      "bit.band", "bit.bxor", "bit.tohex", "math.floor", "math.random", "math.huge", "os.clock",
      "os.time", "string.byte", "string.char", "string.find", "string.format", "string.gmatch",
      "string.gsub", "string.len", "string.lower", "string.match", "string.rep", "string.reverse",
      "string.sub", "string.upper", "table.concat", "table.insert", "table.maxn", "table.remove",
      "table.sort", "table.unpack",
    } do
      assert.not_equal("nil", scripts.seen("return type(" .. name .. ")"), name)
    end
  end)

  it("counts memory and does nothing else to the collector", function()
    assert.equal("number", scripts.seen "return type(collectgarbage 'count')")
    assert.equal('collectgarbage is blocked in a filter but for "count"',
      error_of "collectgarbage 'stop'")
    assert.equal('collectgarbage is blocked in a filter but for "count"',
      error_of "collectgarbage()")
  end)
end)

describe("a global", function()
  it("that is unknown is an error to read", function()
    assert.equal("'tennant' is not defined", error_of "local x = tennant")
  end)

  it("is an error to write, known or not", function()
    assert.equal("'count' is not a local variable: write `local count = …`", error_of "count = 1")
    assert.equal("'string' is not a local variable: write `local string = …`",
      error_of "string = nil")
    assert.equal("'helper' is not a local variable: write `local helper = …`",
      error_of "function helper() end")
  end)

  it("of a library changes for the script's own file only", function()
    local script = scripts.new {
      ["bad.lua"] = "string.format = nil math.floor = nil return function() return function(event)"
        .. " return string.format == nil end end",
      ["good.lua"] = scripts.body [[
        return ("%d"):format(math.floor(1.5)) == "1" and string.format("%d", 1) == "1"]],
    }
    local bad, good = script:load "bad.lua", script:load "good.lua"
    local report = script:run({ bad, good }, { wire.event {} })
    assert.same({}, report.failures)
    assert.equal("live", report.events[1].state)
    script:remove()
  end)
end)

describe("no way leads out", function()
  --- Each must end as an error or see nothing.
  local escapes = {
    "getmetatable('').__index = nil",
    "getmetatable('').__index.rep = nil",
    "getmetatable(event).__index = nil",
    "getmetatable(5ULL).__index = nil",
    "getmetatable(math).__index = nil",
    "setmetatable(string, {})",
    "setmetatable(math, nil)",
    "setmetatable('', {})",
    "setmetatable(5ULL, {})",
    "require 'ffi'",
    "require 'debug'",
    "require 'jit'",
    "require 'io'",
    "require 'string'",
    "require 'package'",
    "require '_G'",
    "require 'kvgate.event'",
    "require 'kvgate.border'",
    "require 'kvgate.driver'",
    "require 'kvgate.sandbox'",
    "require 'kvgate.loader'",
    "require 'kvgate.fault'",
    "require 'kvgate.world'",
    "require 'kvgate.meta'",
    "require 'kvgate.'",
    "require '/etc/passwd'",
    "require '../x'",
    "require '..x'",
    "require 'a..b'",
    "require 'a/b'",
    "require ''",
    "require(5)",
    "require(nil)",
    "require {}",
    "(5ULL).x = 1",
    "local x = (5ULL).x",
    "local x = (5ULL)[0]",
    "(5ULL)()",
    "local x = ('x').y.z",
    "string.rep('x', 1e9)",
    "string.rep('x', '1e9')",
    "string.rep('x', 1e6, ('y'):rep(100))",
    "string.rep('', 1e9, 1)",
    "string.rep(('x'):rep(1024), 1025)",
    "('x'):rep(2^20 + 1)",
    "(12345):rep(1e6)",
    "string.format('%q', event.nope.nope)",
    "('x'):dump()",
    "('x'):find(('a'):rep(257))",
    "('x'):rep(65537):find 'x'",
    "('x'):rep(65537):match 'x'",
    "('x'):rep(65537):gsub('x', 'y')",
    "('x'):rep(65537):gmatch 'x'",
    "string.match(('x'):rep(65537), 'x')",
    "local x = error.x",
    "setmetatable({}, { __index = function() return io end }).x.y = 1",
    "rawget(_ENV, 'io')",
  }
  for _, code in ipairs(escapes) do
    it("by " .. code, function()
      local report = scripts.try(code .. "\nreturn true", { wire.event {}, wire.event {} })
      assert.equal(2, #report.failures)
      assert.equal("raised an error", report.failures[1].result)
      assert.truthy(report.failures[1].error:find "^@/f%.lua:2: ", report.failures[1].error)
    end)

    it("while loading by " .. code, function()
      local script = scripts.new { ["f.lua"] = "local event\n" .. code }
      assert.truthy(script:refusal("f.lua"):find "^@/f%.lua:2: ")
      script:remove()
    end)
  end

  it("through the environment of a function", function()
    assert.equal("nil", scripts.seen "return getmetatable('')")
    assert.equal("nil", scripts.seen "return getmetatable(5ULL)")
    assert.equal("nil", scripts.seen "return getmetatable(event)")
    assert.equal("false", scripts.seen "return getmetatable(string)")
  end)

  it("through the iterators of pairs", function()
    assert.equal("format", scripts.seen [[
      for name, item in pairs(string) do
        if name == "dump" then return "dump" end
        if item == string.format then return name end
      end]])
  end)

  it("through a string's methods, which have the caps as well", function()
    assert.equal("string.rep: makes at most 1048576 bytes", error_of "local x = ('x'):rep(2e6)")
    assert.equal("string.find: a pattern may run over 65536 bytes, not 65537",
      error_of "local x = ('x'):rep(65537):find 'y'")
    assert.equal("string.gsub: a pattern has at most 256 bytes, not 257",
      error_of "local x = ('x'):gsub(('y'):rep(257), 'z')")
  end)

  it("through C's stack, which a gsub that calls itself would use up", function()
    local nest = [[
      local calls = 0
      local function nest() calls = calls + 1 return (("x"):gsub(".", nest)) end
      local indexed
      indexed = setmetatable({}, { __index = function() return (("x"):gsub(".", indexed)) end })
      local ok, text = pcall(nest)
      local also_ok, also = pcall(string.gsub, "x", ".", indexed)
      if ok or also_ok then error "it went on" end
    ]]
    for _, text in ipairs { "text", "also" } do
      assert.equal("string.gsub: calls back at most 64 deep",
        scripts.seen(nest .. "return " .. text):match "string%.gsub: .*")
    end
    assert.equal("64", scripts.seen(nest .. "return calls - 1"))
    assert.equal("y", scripts.seen(nest .. [[
      for _ = 1, 200 do pcall(string.gsub, "x", ".", function() error "out of it" end) end
      return (("x"):gsub(".", function() return "y" end))]]))
  end)

  it("but plain searches take any subject", function()
    assert.equal("100000", scripts.seen
      "return (('x'):rep(99999) .. 'y'):find('y', 1, true)")
  end)

  it("and the string functions do what they do", function()
    assert.equal("2 3 b-b 1 cab k=v aaa a,a", scripts.seen [[
      local list = { ("abc"):find "bc" }
      list[#list + 1] = ("abc"):match "b" .. "-" .. ("abc"):match("%w", 2)
      list[#list + 1] = select(2, ("abc"):gsub("b", "x"))
      list[#list + 1] = ("abc"):gsub("(%w%w)(%w)", "%2%1")
      for key, item in ("k=v"):gmatch "(%w+)=(%w+)" do list[#list + 1] = key .. "=" .. item end
      list[#list + 1] = ("a"):rep(3)
      list[#list + 1] = ("a"):rep(2, ",")
      return table.concat(list, " ")]])
  end)
end)

describe("require", function()
  local function load(files, options)
    local script = scripts.new(files, options)
    local ok, result = pcall(script.load, script, "f.lua")
    local text = not ok and scripts.headline(script:plain(result))
    script:remove()
    return ok, text
  end

  it("gives what a module returns", function()
    local report = scripts.try("return require('m').name == 'module'", { wire.event {} }, {
      ["m.lua"] = "return { name = 'module' }" })
    assert.equal("module \"m\" is not loaded: require it while the filter loads",
      report.failures[1].error:match ": ([^\n]*)")
    local script = scripts.new { ["m.lua"] = "return { name = 'module' }",
      ["f.lua"] = "local m = require 'm' return function() return function(event)"
        .. " event.tenant_id = m.name return require('m') == m end end" }
    report = script:run({ script:load "f.lua" }, { wire.event {} })
    assert.same({}, report.failures)
    assert.equal("live", report.events[1].state)
    assert.equal("module", wire.get(report.events[1].map, "tenant_id"))
    script:remove()
  end)

  it("loads a module once for all filters", function()
    local text = "local m = require 'm' return function() return function(event)"
      .. " m.count = m.count + 1 event.n = m.count return true end end"
    local script = scripts.new {
      ["m.lua"] = "return { count = 0 }", ["f.lua"] = text, ["g.lua"] = text }
    local report = script:run({ script:load "f.lua", script:load "g.lua" }, { wire.event {} })
    assert.equal(2, wire.get(report.events[1].map, "n"))
    script:remove()
  end)

  it("gives true for a module that returns nothing, and keeps false", function()
    assert.is_true(load { ["m.lua"] = "", ["f.lua"] = "assert(require 'm' == true) "
      .. "assert(require 'n' == false) return function() return print == nil or function() end end",
      ["n.lua"] = "return false" } == false)
    assert.is_true((load { ["m.lua"] = "", ["n.lua"] = "return false", ["f.lua"] =
      "assert(require 'm' == true) assert(require 'n' == false) "
      .. "return function() return function() end end" }))
  end)

  it("finds modules in folders by dots, and in the first folder of the path", function()
    local second = scripts.new {
      ["only.lua"] = "return 'second'", ["both.lua"] = "return 'second'" }
    local script = scripts.new({ ["both.lua"] = "return 'first'", ["f.lua"] = [[
      local both, only, deep = require "both", require "only", require "a.b.c"
      return function()
        return function(event)
          event.tenant_id = both .. " " .. only .. " " .. deep
          return true
        end
      end]] }, { path = { second.folder } })
    os.execute("mkdir -p " .. script.folder .. "/a/b")
    script:write("a/b/c.lua", "return ...")
    local report = script:run({ script:load "f.lua" }, { wire.event {} })
    assert.equal("first second a.b.c", wire.get(report.events[1].map, "tenant_id"))
    script:remove()
    second:remove()
  end)

  it("names the folders that it searched", function()
    local ok, text = load({ ["f.lua"] = "\nlocal x = require 'a.b'" }, { path = { "/no/such" } })
    assert.is_false(ok)
    assert.equal("@/f.lua:2: there is no module \"a.b\": no a/b.lua in @, /no/such", text)
  end)

  it("gives no internal module", function()
    local _, text = load { ["f.lua"] = "local x = require 'kvgate.event'" }
    assert.truthy(text:find('@/f.lua:1: there is no module "kvgate.event"; there are kvgate.',
      1, true), text)
    assert.is_nil(text:find("there are .*kvgate%.event"))
  end)

  it("tells a misspelt name of the gateway's modules where it is read", function()
    local cases = {
      { "log", "wran", '"wran"; did you mean "warn"? known are debug, error, info, warn' },
      { "keys", "vlm", '"vlm"; did you mean "vllm"? known are convention, detect, ' },
      { "u64", "prase", '"prase"; did you mean "parse"? known are hex, high, ' },
    }
    for _, case in ipairs(cases) do
      local ok, text = load { ["f.lua"] = ("local it = require 'kvgate.%s'\nit.%s 'x'")
        :format(case[1], case[2]) }
      assert.is_false(ok)
      assert.truthy(text:find("@/f.lua:2: kvgate." .. case[1] .. " has no " .. case[3], 1, true),
        text)
    end
  end)

  it("tells a circle", function()
    local ok, text = load { ["f.lua"] = "require 'a'", ["a.lua"] = "require 'b'",
      ["b.lua"] = "\nrequire 'a'" }
    assert.is_false(ok)
    assert.truthy(text:find('@/b.lua:2: module "a" requires itself: a -> b -> a', 1, true), text)
  end)

  it("shows where a module is wrong", function()
    local _, text = load { ["f.lua"] = "require 'm'", ["m.lua"] = "\n\nlocal = 5" }
    assert.equal("@/m.lua:3: '<name>' expected near '='", text)
    _, text = load { ["f.lua"] = "require 'm'", ["m.lua"] = "\nlocal x = nil + 1" }
    assert.equal("@/m.lua:2: attempt to perform arithmetic on a nil value", text)
  end)

  it("refuses modules that are bytecode", function()
    local _, text = load { ["f.lua"] = "require 'm'", ["m.lua"] = string.dump(function() end) }
    assert.equal("@/m.lua:1: is bytecode; scripts are source text", text)
  end)

  it("may be tried again when a module failed", function()
    local ok = load { ["f.lua"] = [[
      local fails = pcall(require, "m")
      local _, text = pcall(require, "m")
      assert(not fails and text:find "broken" and not text:find "requires itself")
      return function() return function() return true end end]], ["m.lua"] = "error 'broken'" }
    assert.is_true(ok)
  end)

  it("gives copies of the runtime's modules, which nobody else sees change", function()
    local script = scripts.new {
      ["bad.lua"] = "local u64 = require 'kvgate.u64' u64.hex = nil "
        .. scripts.body "return u64.hex == nil",
      ["good.lua"] = "local u64 = require 'kvgate.u64' return function() return function()"
        .. " return u64.hex(10ULL) == '000000000000000a' end end",
    }
    local bad, good = script:load "bad.lua", script:load "good.lua"
    local report = script:run({ bad, good }, { wire.event {} })
    assert.equal("live", report.events[1].state)
    assert.same({}, report.failures)
    script:remove()
  end)

  it("gives the runtime's modules while events run, too", function()
    assert.equal("255", scripts.seen "return require('kvgate.u64').tostring(255)")
  end)
end)

describe("a 64-bit literal", function()
  it("is a value like any other", function()
    assert.equal("true", scripts.seen "return event.event_id == 1ULL")
    assert.equal("18446744073709551615ULL", scripts.seen "return -1ULL")
  end)
end)

--- lua/kvgate/state.lua, script/kept.c and script/keep.c: tables that survive a reload.
local relay = require "tests.support.relay"

--- A filter that counts events in a declared table and shows the sum in backend_id.
local function counting(options, more)
  return ([[
    local state = require "kvgate.state"
    return function(options)
      local counts = state.table("counts", %s)
      %s
      return function(event)
        counts.events = (counts.events or 0) + 1
        event.backend_id = tostring(counts.events)
        return event
      end
    end]]):format(options or "{ version = 1 }", more or "")
end

--- What the last event that a stream sent has in backend_id.
local function sum(subject, stream)
  local wire = require "tests.support.wire"
  subject:send { relay.event "a" }
  subject.core:idle()
  local sent = subject.core:sent(stream or "out")
  local events = wire.decode(sent[#sent].payload)[2]
  return wire.get(events[#events], "backend_id")
end

--- A reload with this filter text, if any; returns what it said.
local function reload(subject, yaml, text)
  if text then subject:write("f.lua", text) end
  local done, _, told = subject.core:reload(yaml)
  assert(done, _)
  return told
end

local function refusal(text)
  local ok, message = pcall(relay.new, relay.FILTERED, { ["f.lua"] = text })
  assert(not ok, "it loaded")
  return message
end

describe("a declared table", function()
  it("survives a reload while its version stays", function()
    local subject = relay.new(relay.FILTERED, { ["f.lua"] = counting() })
    assert.equal("1", sum(subject))
    assert.equal("", reload(subject, relay.FILTERED))
    assert.equal("2", sum(subject))
    assert.equal("", reload(subject, relay.FILTERED, counting(nil, "local more = 1")))
    assert.equal("3", sum(subject))
  end)

  it("starts anew with another version, and the reload says so", function()
    local subject = relay.new(relay.FILTERED, { ["f.lua"] = counting() })
    sum(subject)
    assert.equal('state "counts" of filter f.lua starts anew: it has version 2 instead of 1\n',
      reload(subject, relay.FILTERED, counting "{ version = 2 }"))
    assert.equal("1", sum(subject))
  end)

  it("is gone when nothing declares it, and the reload says so", function()
    local subject = relay.new(relay.FILTERED, { ["f.lua"] = counting() })
    sum(subject)
    assert.equal('state "counts" of filter f.lua is gone: nothing declares it any more\n',
      reload(subject, relay.FILTERED, "return function() return function() return true end end"))
    assert.equal("", reload(subject, relay.FILTERED, counting()))
    assert.equal("1", sum(subject))
  end)

  it("belongs to one filter in its place: to its stream, and to its number of a name", function()
    local two = [[
sources: [ { name: store, connect: "ipc:///tmp/in" } ]
streams:
  - { name: one, bind: "ipc:///tmp/one", filters: [ { script: f.lua }, { script: f.lua } ] }
  - { name: two, bind: "ipc:///tmp/two", filters: [ { script: f.lua } ] }
]]
    local text = counting(nil, "counts.mine = counts.mine or {}"):gsub("tostring%(counts.events%)",
      "tostring(counts.events) .. (event.backend_id == 'mooncake' and '' or event.backend_id)")
    local subject = relay.new(two, { ["f.lua"] = text })
    assert.equal("11", sum(subject, "one"))
    local told = reload(subject, (two:gsub(", { script: f.lua }", "")))
    assert.equal('state "counts" of filter f.lua of stream "one" (number 2 of its name) is gone: '
      .. "nothing declares it any more\n", told)
    assert.equal("2", sum(subject, "one"))
    assert.equal("3", sum(subject, "two"))
  end)

  it("is as it was when a reload is refused", function()
    local subject = relay.new(relay.FILTERED, { ["f.lua"] = counting() })
    assert.equal("1", sum(subject))
    subject:write("f.lua", counting(nil, "counts.events = 100 error 'no'"))
    assert.is_nil((subject.core:reload(relay.FILTERED)))
    assert.equal("2", sum(subject))
  end)

  it("is tried with a copy of what it holds: the trial changes nothing", function()
    local subject = relay.new(relay.FILTERED, { ["f.lua"] = counting() })
    subject:at(1000)
    assert.equal("1", sum(subject))
    local _, tried = subject.core:reload(relay.FILTERED)
    assert.equal(1, tried)
    assert.equal("2", sum(subject))
  end)

  it("starts anew when it cannot be kept, and the reload says what and where", function()
    local cases = {
      ["it takes more than 100 bytes"] = 'counts.text = ("x"):rep(100)',
      [".deep.er is a function"] = "counts.deep = { er = function() end }",
      [".list[2] is a table with a metatable"] = "counts.list = { 1, setmetatable({}, {}) }",
      [".me.you is a table that contains itself"] = "counts.me = {} counts.me.you = counts.me",
      [".here is a table that contains itself"] = "counts.here = counts",
      [".n.n.n"] = "local at = counts for _ = 1, 70 do at.n = {} at = at.n end",
      ["is nested too deep: more than 64 tables"] =
        "local at = counts for _ = 1, 70 do at.n = {} at = at.n end",
      ["it is a table with keys other than strings, numbers and booleans"] =
        "counts[{}] = 1",
    }
    for expected, body in pairs(cases) do
      local max = expected:find "bytes" and 100 or 10000
      local text = counting(("{ version = 1, max = %d }"):format(max), body)
      local subject = relay.new(relay.FILTERED, { ["f.lua"] = text })
      local told = reload(subject, relay.FILTERED, counting "{ version = 1, max = 10000 }")
      assert.truthy(told:find('state "counts" of filter f.lua starts anew: ', 1, true), told)
      assert.truthy(told:find(expected, 1, true), told)
      assert.equal("1", sum(subject))
    end
  end)

  it("keeps no event, which only lives now", function()
    local text = counting():gsub("counts.events = ", "counts.event = event counts.events = ")
    local subject = relay.new(relay.FILTERED, { ["f.lua"] = text })
    sum(subject)
    assert.equal('state "counts" of filter f.lua starts anew: .event is an event or something else '
      .. "that only lives now\n", reload(subject, relay.FILTERED, counting()))
  end)

  it("is written down within its bound, however much it holds", function()
    local text = counting("{ version = 1 }", "for i = 1, 1000000 do counts[i] = {} end")
    local subject = relay.new(relay.FILTERED, { ["f.lua"] = text })
    assert.equal('state "counts" of filter f.lua starts anew: it takes more than 1048576 bytes\n',
      reload(subject, relay.FILTERED, counting()))
  end)

  it("is declared while the filter loads, and not later", function()
    local subject = relay.new(relay.FILTERED, { ["f.lua"] = [[
      local state = require "kvgate.state"
      return function() return function() state.table("late", { version = 1 }) end end]] })
    subject:send { relay.event "a" }
    local failure = subject.core:failure()
    assert.truthy(failure:find('"late": declare it while the filter loads', 1, true), failure)
  end)

  it("is refused with a reason where the declaration is wrong", function()
    local cases = {
      ["state.table: a name is a text of 1 to 64 bytes, not the number 1"] = "(1, { version = 1 })",
      ["state.table: a name is a text of 1 to 64 bytes, not the string \"\""] =
        '("", { version = 1 })',
      ['state.table "a": expected options such as { version = 1 }, not nil'] = '("a")',
      ['state.table "a": version is a whole number, not nil'] = '("a", {})',
      ['state.table "a": version is a whole number, not the number 1.5'] =
        '("a", { version = 1.5 })',
      ['state.table "a": version is a whole number, not the number nan'] =
        '("a", { version = 0/0 })',
      ['state.table "a": max is a whole number of bytes up to 67108864, not the number 1e'] =
        '("a", { version = 1, max = 1e20 })',
      ['state.table "a": unknown option \'vershion\'; did you mean "version"?'] =
        '("a", { vershion = 1 })',
      ['state.table "a": this filter has it already'] =
        '("a", { version = 1 }) state.table("a", { version = 1 })',
      ['state.table "b": the tables of all filters together would keep more than 64 MiB'] =
        '("a", { version = 1, max = 2^26 }) state.table("b", { version = 1, max = 1 })',
    }
    for expected, call in pairs(cases) do
      local message = refusal([[
        local state = require "kvgate.state"
        return function() state.table]] .. call .. " return function() return true end end")
      assert.truthy(message:find(expected, 1, true), message)
    end
  end)
end)

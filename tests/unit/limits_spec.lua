--- What hostile scripts run into. Every case: a good event, a hostile one, a good one.

local hostile = require "tests.support.hostile"
local scripts = require "tests.support.script"
local wire = require "tests.support.wire"

local MODES = { "on", "off" }

local function good(id) return wire.event { event_id = id, tenant_id = "good" } end
local function bad(id) return wire.event { event_id = id, tenant_id = "bad" } end

local function limited(jit, limits)
  local chosen = { event = 20, memory = 32 * 2 ^ 20, jit = jit }
  for name, limit in pairs(limits or {}) do chosen[name] = limit end
  return chosen
end

local function states(report)
  local list = {}
  for index, event in ipairs(report.events) do list[index] = event.state end
  return table.concat(list, " ")
end

local function attack(jit, body, head, limits)
  local script = scripts.new({ ["f.lua"] = hostile.text(body, head) },
    { limits = limited(jit, limits) })
  local report = script:run({ script:load "f.lua" }, { good(1), bad(2), good(3) })
  script:remove()
  return report
end

for _, jit in ipairs(MODES) do
  describe("with jit: " .. jit .. ", time", function()
    for _, case in ipairs(hostile.loops) do
      local name, body, head = unpack(case)
      it("is up for " .. name, function()
        local report = attack(jit, body, head)
        assert.equal("live lost live", states(report))
        assert.equal(1, #report.failures)
        local failure = report.failures[1]
        assert.equal(1, failure.slot)
        if failure.result == "ran out of memory" then
          -- what an edit leaves is kept until the message is done
          assert.equal("editing an event in a loop", name)
        else
          assert.equal("ran out of time", failure.result)
          assert.truthy(failure.error:find "^@/f%.lua:%d+: ran for more than 20 ms$", failure.error)
        end
      end)
    end

    it("is told by the line that was running", function()
      local report = attack(jit, "local n = 0\nwhile true do\nn = n + 1\nend")
      assert.truthy(report.failures[1].error:find "^@/f%.lua:[67]: ", report.failures[1].error)
    end)

    it("does not add up over events", function()
      local script = scripts.new({ ["f.lua"] = scripts.body
        "local n = 0 for i = 1, 3e5 do n = (n + i) % 7 end return n >= 0" },
        { limits = limited(jit, { event = 60 }) })
      local list = {}
      for id = 1, 300 do list[id] = good(id) end
      local report = script:run({ script:load "f.lua" }, list)
      script:remove()
      assert.same({}, report.failures)
    end)

    it("is each event's own: every one in its place is judged", function()
      local script = scripts.new({ ["f.lua"] = hostile.text "while true do end" },
        { limits = limited(jit, { event = 10 }) })
      local list, expected = {}, {}
      for id = 1, 60 do
        list[id] = id % 6 == 0 and bad(id) or good(id)
        expected[id] = id % 6 == 0 and "lost" or "live"
      end
      local report = script:run({ script:load "f.lua" }, list)
      script:remove()
      assert.equal(table.concat(expected, " "), states(report))
      assert.equal(10, #report.failures)
    end)

    it("leaves nothing behind in gsub, however often it stops there", function()
      local script = scripts.new({ ["f.lua"] = hostile.text(
        "('a'):gsub('a', function() while true do end end)") },
        { limits = limited(jit, { event = 10 }) })
      local filter = script:load "f.lua"
      for _ = 1, 70 do script:run({ filter }, { bad(1) }) end
      script:write("g.lua", scripts.body
        "return (('a'):gsub('a', function() return 'b' end)) == 'b'")
      local report = script:run({ script:load "g.lua" }, { good(1) })
      script:remove()
      assert.same({}, report.failures)
      assert.equal("live", states(report))
    end)

    it("passes the event on unfiltered where that is the policy", function()
      local script = scripts.new({ ["f.lua"] = hostile.text "event.seen = 1 while true do end" },
        { limits = limited(jit) })
      local report = script:run({ script:load "f.lua" }, { bad(1) }, "pass")
      script:remove()
      assert.equal("live", states(report))
      assert.is_nil(wire.get(report.events[1].map, "seen"))
    end)

    it("is up for a file that loops while it loads", function()
      local script = scripts.new({
        ["f.lua"] = "\nwhile true do end",
        ["g.lua"] = "return function()\n\nrepeat until false\nend",
        ["h.lua"] = "require 'm'\nreturn function() end",
        ["m.lua"] = "pcall(function() while true do end end)\nwhile true do end",
        ["good.lua"] = scripts.body "return true",
      }, { limits = limited(jit, { load = 50 }) })
      assert.equal("@/f.lua:2: ran for more than 50 ms", script:refusal "f.lua")
      assert.equal("@/g.lua:3: ran for more than 50 ms", script:refusal "g.lua")
      assert.equal("@/m.lua:1: ran for more than 50 ms", script:refusal "h.lua")
      assert.equal("@/m.lua:1: ran for more than 50 ms", script:refusal "h.lua")
      assert.equal("live", states(script:run({ script:load "good.lua" }, { good(1) })))
      script:remove()
    end)
  end)

  describe("with jit: " .. jit .. ", memory", function()
    for _, case in ipairs(hostile.bombs) do
      it("is up for " .. case[1], function()
        local report = attack(jit, case[2], case[3], { event = 5000, stuck = 60000 })
        assert.equal("live lost live", states(report))
        assert.equal(1, #report.failures)
        assert.equal("ran out of memory", report.failures[1].result)
        assert.truthy(report.failures[1].error:find "^@/f%.lua", report.failures[1].error)
      end)
    end

    it("is free again after it ran out, a hundred times", function()
      local script = scripts.new({
        ["f.lua"] = hostile.text "local s = 'x' while true do s = s .. s end" },
        { limits = limited(jit, { event = 5000, stuck = 60000 }) })
      local filter = script:load "f.lua"
      for _ = 1, 100 do
        assert.equal("lost live", states(script:run({ filter }, { bad(1), good(2) })))
      end
      assert.is_true(script.state:memory() < 8 * 2 ^ 20)
      script:remove()
    end)

    it("ends a deep recursion in an error of the script", function()
      local report = attack(jit, "local function f(n) return 1 + f(n + 1) end return f(1)", nil,
        { event = 5000, stuck = 60000 })
      assert.equal("live lost live", states(report))
      assert.equal(1, #report.failures)
    end)

    it("holds while a file loads, too", function()
      local script = scripts.new({ ["f.lua"] = "local s = 'x' while true do s = s .. s end" },
        { limits = limited(jit) })
      assert.equal("f.lua: all filters together would take more than 33554432 bytes",
        script:refusal "f.lua")
      script:remove()
    end)
  end)
end

describe("two states", function()
  it("are both stopped, though there is one profiler", function()
    local files = { ["f.lua"] = hostile.text "while true do end" }
    local old = scripts.new(files, { limits = limited "on" })
    local new = scripts.new(files, { limits = limited "on" })
    local filter, newer = old:load "f.lua", new:load "f.lua"
    for _ = 1, 3 do
      assert.equal("live lost live", states(old:run({ filter }, { good(1), bad(2), good(3) })))
      assert.equal("live lost live", states(new:run({ newer }, { good(1), bad(2), good(3) })))
    end
    old:remove()
    new:remove()
  end)
end)

--- What hostile filters try besides running on and filling memory, which limits_spec has. Each is
--- refused or comes to nothing, its neighbours get their verdicts, and the state is as before.

local hostile = require "tests.support.hostile"
local scripts = require "tests.support.script"
local wire = require "tests.support.wire"

local MODES = { "on", "off" }

--- A filter that fails if anything that filters share is not as it was.
local PROBE = scripts.body [[
  local u64, value = require "kvgate.u64", require "kvgate.value"
  assert(("%s %d %q"):format("a", 1, "b") == 'a 1 "b"')
  assert(("abc"):upper() == "ABC" and ("a-b"):gsub("%w", { a = "x" }) == "x-b")
  assert(#("x"):rep(10) == 10 and tostring(nil) == "nil" and tonumber "7" == 7)
  local list = { 3, 1, 2 }
  table.sort(list)
  table.insert(list, 1, 0)
  assert(table.concat(list, ",") == "0,1,2,3")
  assert(select(2, pcall(error, "x")) == "x" and u64.hex(1ULL) == "0000000000000001")
  assert(value.null ~= nil and require("kvgate.keys").vllm.match)
  assert(event:has "tenant_id" and event:copy().tenant_id == event.tenant_id)
  event.seen = { 1, { a = 2ULL } }
  assert(event.seen[2].a == 2)
  return "b"
]]

local function event(id, tenant) return wire.event { event_id = id, tenant_id = tenant } end

local function states(report)
  local list = {}
  for index, each in ipairs(report.events) do list[index] = each.state end
  return table.concat(list, " ")
end

--- Run one attack between good events, then the probe; a second time, as the first may prepare it.
local function attack(jit, case)
  local script = scripts.new(
    { ["f.lua"] = hostile.text(case[2], case[3]), ["probe.lua"] = PROBE },
    { limits = { event = 5000, stuck = 60000, memory = 64 * 2 ^ 20, jit = jit } })
  local filter, probe = script:load "f.lua", script:load "probe.lua"
  local report
  for _ = 1, 2 do
    report = script:run({ filter }, { event(1, "good"), event(2, "bad"), event(3, "good") })
    local after = script:run({ probe }, { event(4, "good") })
    assert.same({}, after.failures)
  end
  script:remove()
  return report
end

for _, jit in ipairs(MODES) do
  describe("with jit: " .. jit .. ", it is refused to try", function()
    for _, case in ipairs(hostile.refused) do
      it(case[1], function()
        local report = attack(jit, case)
        assert.equal("live lost live", states(report))
        assert.equal(1, #report.failures)
        assert.truthy(report.failures[1].error:find "^[@/].-f%.lua:", report.failures[1].error)
      end)
    end
  end)

  describe("with jit: " .. jit .. ", nothing comes of", function()
    for _, case in ipairs(hostile.harmless) do
      it(case[1], function()
        local report = attack(jit, case)
        assert.same({}, report.failures)
        assert.equal("live live live", states(report))
      end)
    end
  end)
end

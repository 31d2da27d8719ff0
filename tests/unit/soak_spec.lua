--- Hostile filters in chains with good ones, over random events: every event that no hostile filter
--- was meant for has its right verdict, every other one its loss, whatever came before.
---
---   KVGATE_SOAK=600 luajit /usr/bin/busted … tests/unit/soak_spec.lua      ten minutes

local hostile = require "tests.support.hostile"
local scripts = require "tests.support.script"
local wire = require "tests.support.wire"

local SECONDS = tonumber(os.getenv "KVGATE_SOAK" or 4)
local SEED = tonumber(os.getenv "KVGATE_SOAK_SEED" or os.time())
local HOSTILE, BATCHES, EVENTS = 8, 8, 24 -- filters of a chain, batches of a round, events of each
local MEMORY = 48 * 2 ^ 20
local GROWTH = 24 * 2 ^ 20 -- bytes that the process may grow by, once warm

--- Takes some of an event's time, never all of it; what it does over a message would.
local BUSY = scripts.body [[
  local n = 0
  for i = 1, 2e5 do n = (n + i) % 7 end
  event.first = n >= 0 and event.event_id
  return true
]]
local ROUTE = scripts.body [[
  local id = tonumber(event.event_id)
  if id % 5 == 0 then return false end
  event.seen = { id, "x" }
  return id % 2 == 0 and "a" or { "b", "c" }
]]

--- Edits are kept until their message is done: who fills what room they have costs its neighbours.
--- And where one filter holds a third of the memory for good, compiled code of others is refused
--- some, which LuaJIT does not always survive (gateway/script/README.md, Limits).
local SHARED = {
  ["editing an event in a loop"] = true,
  ["sorts of a million by a function of C"] = true,
}

local cases = {}
for _, list in ipairs { "refused", "loops", "bombs", "harmless" } do
  for _, case in ipairs(hostile[list]) do
    if not SHARED[case[1]] then cases[#cases + 1] = { case, list ~= "harmless" } end
  end
end

--- A chain of good filters with some hostile ones in between, which act on tenants of their names.
local function chain(jit)
  local files = { ["busy.lua"] = BUSY, ["route.lua"] = ROUTE }
  local names, acting = { "busy.lua" }, {}
  for number = 1, HOSTILE do
    local case, loses = unpack(cases[math.random(#cases)])
    local tenant = "bad" .. number
    files[tenant .. ".lua"] = hostile.text(case[2], case[3], tenant)
      :gsub('return "a"', "return true"):gsub("and 'a'", "and true")
    names[#names + 1] = tenant .. ".lua"
    acting[tenant] = { name = case[1], loses = loses }
  end
  names[#names + 1] = "route.lua"
  local script = scripts.new(files, { limits = {
    event = 100, stuck = 60000, load = 20000, memory = MEMORY, jit = jit } })
  local filters = {}
  for index, name in ipairs(names) do filters[index] = script:load(name) end
  return script, filters, acting
end

local function random_events(first, acting)
  local events, wanted = {}, {}
  for index = 1, EVENTS do
    local tenant = math.random(4) == 1 and "bad" .. math.random(HOSTILE) or "good"
    local id = first + index
    events[index] = wire.event {
      event_id = id, tenant_id = tenant, object_key = ("k"):rep(math.random(0, 40)) }
    local lost = acting[tenant] and acting[tenant].loses
    wanted[index] = lost and "lost" or id % 5 == 0 and "dropped" or "live"
  end
  return events, wanted
end

local function check(event, wanted, acting, report)
  local id, tenant = wire.get(event.map, "event_id"), wire.get(event.map, "tenant_id")
  local about = ("event %d, %s (seed %d)")
    :format(id, acting[tenant] and acting[tenant].name or "good", SEED)
  for _, failure in ipairs(report.failures) do
    if failure.slot == event.slot then about = about .. ": " .. failure.error end
  end
  assert.equal(wanted, event.state, about)
  if wanted ~= "live" then return end
  assert.equal(id, wire.get(event.map, "first"), about)
  assert.equal(id % 2 == 0 and "a" or "b c", table.concat(event.reach, " "), about)
  assert.equal(id, wire.get(event.map, "seen")[1], about)
end

local function resident()
  local file = assert(io.open "/proc/self/statm")
  local pages = file:read "*n" and file:read "*n"
  file:close()
  return pages * 4096
end

local function round(jit)
  local script, filters, acting = chain(jit)
  for batch = 1, BATCHES do
    local events, wanted = random_events(batch * 1000, acting)
    local report = script:run(filters, events)
    assert.equal(EVENTS, #report.events)
    for index, event in ipairs(report.events) do check(event, wanted[index], acting, report) end
  end
  for _ = 1, 1000 do -- the collector takes a step at a time
    if script.state:memory() < MEMORY / 2 then break end
    script:run(filters, { wire.event { tenant_id = "good" } })
  end
  assert.is_true(script.state:memory() < MEMORY / 2, "the scripts' memory is not given back")
  script:remove()
end

describe("for as long as it goes on", function()
  for _, jit in ipairs { "on", "off" } do
    it("every event gets what its filters say, with jit: " .. jit, function()
      math.randomseed(SEED)
      local stop, rounds, warm = os.time() + SECONDS / 2, 0, nil
      repeat
        round(jit)
        rounds = rounds + 1
        collectgarbage()
        collectgarbage()
        if rounds == 10 then warm = resident() end
      until os.time() >= stop
      if os.getenv "KVGATE_SOAK" then
        io.write(("\njit: %s, seed %d: %d rounds, %d events, resident %.1f MB (%.1f when warm)\n")
          :format(jit, SEED, rounds, rounds * BATCHES * EVENTS, resident() / 2 ^ 20,
            (warm or 0) / 2 ^ 20))
      end
      assert.is_true(not warm or resident() < warm + GROWTH, "the process grew")
    end)
  end
end)

--- lua/kvgate/event.lua: all fields of an event together, by pairs and to_table.

local golden = require "tests.support.golden"
local scripts = require "tests.support.script"
local wire = require "tests.support.wire"

local seen = scripts.seen

--- The value of a field after the body ran.
local function field(name, body, event)
  local report = scripts.try(body .. "\nreturn true", { event or wire.event {} })
  assert(#report.failures == 0, report.failures[1] and report.failures[1].error)
  return wire.get(report.events[1].map, name)
end

describe("event:to_table", function()
  it("has every field, nil as null", function()
    local event = wire.event { x = wire.null, tenant_id = "t", seq_hashes = wire.array { 5 } }
    assert.equal("t true true 5ULL nil", seen([[
      local null = require "kvgate.value".null
      local t = event:to_table()
      return t.tenant_id .. " " .. tostring(t.x == null) .. " " .. tostring(t.model_name == null)
        .. " " .. tostring(t.seq_hashes[1]) .. " " .. tostring(t.cache_prefix)]], event))
  end)

  it("writes back as the map that the event is", function()
    local event = wire.event { x = wire.map { { "b", 1 }, { "a", wire.array {} } } }
    assert.same(event, field("whole", "event.whole = event:to_table()", event))
  end)

  it("is the script's own", function()
    assert.equal("default", field("tenant_id", "event:to_table().tenant_id = 'x'"))
  end)
end)

--- An event with as many fields that nobody knows, from f1 = 1 on.
local function wide_event(count)
  local pairs_of = { { "event_type", "stored" } }
  for index = 1, count do pairs_of[index + 1] = { "f" .. index, index } end
  return wire.map(pairs_of)
end

describe("the fields of an event with very many", function()
  it("are gone through in a time that grows with them, not with their square", function()
    -- A search for each by its name took minutes for these.
    local event = wide_event(150000)
    assert.equal("11250075000 150000 149999", seen([[
      local sum, last = 0, nil
      event:remove "f7"
      event.f7 = 7
      for name, value in pairs(event) do
        if name ~= "event_type" then sum, last = sum + value, value end
      end
      event:remove "f1"
      local count = 0
      for _ in pairs(event:to_table()) do count = count + 1 end
      return ("%.0f %d %d"):format(sum, last, count - 1)]], event))
  end)
end)

describe("pairs(event)", function()
  it("gives a name that repeats once, with the value that reading it gives", function()
    local event = wire.map { { "event_type", "stored" }, { "x", 1 }, { "y", 2 }, { "x", 3 } }
    local list = [[
      local list = {}
      for name, value in pairs(event) do list[#list + 1] = name .. "=" .. tostring(value) end
      return table.concat(list, " ") .. " " .. event.x .. event:to_table().x]]
    assert.equal("event_type=stored x=3 y=2 33", seen(list, event))
    assert.equal("event_type=stored x=3 y=5 33", seen("event.y = 5\n" .. list, event))
  end)

  it("sees what the loop writes", function()
    local event = wire.map { { "event_type", "stored" }, { "x", 1 }, { "y", 2 } }
    assert.equal("event_type=stored x=1 y=9", seen([[
      local list = {}
      for name, value in pairs(event) do
        if name == "x" then event.y, event.z = 9, 1 end
        list[#list + 1] = name .. "=" .. tostring(value)
      end
      return table.concat(list, " ")]], event))
  end)

  it("gives the fields that are present, in their order, edits included", function()
    local event = wire.map { { "event_type", "stored" }, { "tenant_id", "t" }, { "x", wire.null },
      { "y", 1 } }
    assert.equal("event_type=stored x=nil y=2 medium=cpu z=1", seen([[
      event:remove "tenant_id"
      event.y = 2
      event.medium = "cpu"
      event.z = 1
      local list = {}
      for name, value in pairs(event) do list[#list + 1] = name .. "=" .. tostring(value) end
      return table.concat(list, " ")]], event))
  end)

  it("gives every field of a message of the publisher", function()
    local script = scripts.new { ["f.lua"] = scripts.body [[
      local list = {}
      for name in pairs(event) do list[#list + 1] = name end
      event.seen = table.concat(list, " ")
      return true]] }
    local filter = script:load "f.lua"
    for name, payload in pairs(golden) do
      local report = assert(script.state:run(payload, { filter }))
      assert.same({}, report.failures)
      for _, event in ipairs(report.events) do
        local map = wire.decode(event.bytes)
        local names = wire.names(map)
        assert.equal("seen", table.remove(names), name)
        assert.equal(table.concat(names, " "), wire.get(map, "seen"), name)
      end
    end
    script:remove()
  end)
end)

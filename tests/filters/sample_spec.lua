local filter = require "kvgate.testing"

local function kept(options, events) return filter.kept("sample.lua", options, events) end

--- A thousand objects, named by `prefix`, each stored.
local function objects(prefix)
  local events = {}
  for i = 1, 1000 do events[i] = { object_key = prefix .. i } end
  return events
end

local function count(flags)
  local number = 0
  for _, flag in ipairs(flags) do number = number + (flag and 1 or 0) end
  return number
end

describe("sample", function()
  it("keeps about the fraction that it is told to", function()
    assert.is_near(500, count(kept({ rate = 0.5 }, objects "key-")), 80)
    assert.is_near(100, count(kept({ one_in = 10 }, objects "key-")), 50)
  end)

  it("keeps everything at 1, and nothing but cleared at 0", function()
    assert.equal(1000, count(kept({ rate = 1 }, objects "a")))
    assert.equal(1000, count(kept({ one_in = 1 }, objects "a")))
    assert.equal(0, count(kept({ rate = 0 }, objects "a")))
    assert.same({ true }, kept({ rate = 0 }, { { event_type = "cleared" } }))
  end)

  it("decides of all events of an object alike", function()
    local stored, removed = objects "x", objects "x"
    for i, event in ipairs(removed) do
      event.event_type, event.medium, event.tenant_id = "removed", "disk", "t" .. i
    end
    assert.same(kept({ rate = 0.3 }, stored), kept({ rate = 0.3 }, removed))
  end)

  it("decides today as it did yesterday, in every gateway", function()
    assert.same({ false, false, false, false, false, true, true, true },
      kept({ rate = 0.5 }, { { object_key = "a" }, { object_key = "b" }, { object_key = "c" },
        { object_key = "d" }, { object_key = "e" }, { object_key = "f" }, { object_key = "g" },
        { object_key = "h" } }))
  end)

  it("keeps at a higher rate what it keeps at a lower one", function()
    local few, many = kept({ rate = 0.2 }, objects "k"), kept({ rate = 0.6 }, objects "k")
    for i, flag in ipairs(few) do assert.is_true(many[i] or not flag) end
  end)

  it("keeps others with another salt", function()
    local one = kept({ rate = 0.5, salt = "one" }, objects "k")
    local two = kept({ rate = 0.5, salt = "two" }, objects "k")
    local both = 0
    for i = 1, 1000 do both = both + (one[i] and two[i] and 1 or 0) end
    assert.is_near(250, both, 80)
  end)

  it("goes by blocks where told to, whether a hash stands in a list or not", function()
    local lists, singles = {}, {}
    for i = 1, 200 do
      lists[i], singles[i] = { seq_hashes = { i } }, { parent_hash = i }
    end
    assert.same(kept({ rate = 0.5, by = "seq_hashes" }, lists),
      kept({ rate = 0.5, by = "parent_hash" }, singles))
  end)

  it("passes what it cannot judge: events without the field", function()
    assert.same({ true, true, true }, kept({ rate = 0 },
      { { object_key = filter.null }, { object_key = filter.absent },
        { event_type = "removed", object_key = filter.null } }))
    assert.same({ true }, kept({ rate = 0, by = "seq_hashes" }, { {} }))
  end)

  it("fails on a list of several blocks: some would be kept, some not", function()
    local failures = filter.failures("sample.lua", { rate = 0.5, by = "seq_hashes" },
      { { seq_hashes = { 1, 2 } } })
    assert.truthy(failures[1]:find("event.seq_hashes is a list of several", 1, true), failures[1])
  end)

  it("passes cleared, which concerns all objects, whatever it goes by", function()
    local events = {}
    for i = 1, 100 do events[i] = { event_type = "cleared", tenant_id = "t" .. i } end
    assert.equal(100, count(kept({ rate = 0.01, by = "tenant_id" }, events)))
  end)

  for _, case in ipairs({
    { "no options", {}, 'option "rate" or option "one_in"' },
    { "both rates", { rate = 1, one_in = 1 }, 'option "rate" or option "one_in"' },
    { "a rate above 1", { rate = 50 },
      'option "rate": expected a number from 0 to 1, not the number 50' },
    { "a rate below 0", { rate = -0.5 }, 'option "rate": expected a number from 0 to 1' },
    { "a rate that is a text", { rate = "half" },
      'option "rate": expected a number, not the string "half"' },
    { "one in 0", { one_in = 0 }, 'option "one_in": expected an integer from 1, not the number 0' },
    { "one in 1.5", { one_in = 1.5 }, 'option "one_in": expected an integer' },
  }) do
    it("refuses " .. case[1], function()
      local why = filter.mistake("sample.lua", case[2])
      assert.truthy(why and why:find(case[3], 1, true), why)
    end)
  end
end)

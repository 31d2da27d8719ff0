local filter = require "kvgate.testing"

local function kept(options, events) return filter.kept("select_medium.lua", options, events) end

describe("select_medium", function()
  local events = {
    { event_type = "stored", medium = "a" },
    { event_type = "removed", medium = "a" },
    { event_type = "stored", medium = "b" },
    { event_type = "stored", medium = filter.null },
    { event_type = "removed", medium = filter.absent },
  }

  it("keeps the listed tiers only", function()
    assert.same({ true, true, false, false, false }, kept({ keep = "a" }, events))
    assert.same({ true, true, true, false, false }, kept({ keep = { "a", "b" } }, events))
  end)

  it("drops the listed tiers only", function()
    assert.same({ false, false, true, true, true }, kept({ drop = { "a" } }, events))
  end)

  it("passes cleared, which names no medium and retracts them all", function()
    local cleared = {
      { event_type = "cleared" },
      { event_type = "cleared", medium = filter.absent },
    }
    assert.same({ true, true }, kept({ keep = "a" }, cleared))
    assert.same({ true, true }, kept({ drop = "a" }, cleared))
  end)

  it("judges a cleared that does name a medium by it", function()
    local cleared = { { event_type = "cleared", medium = "b" } }
    assert.same({ false }, kept({ keep = "a" }, cleared))
  end)

  it("changes nothing in what it keeps", function()
    local event = filter.run("select_medium.lua", { keep = "a" }, { events[1] })[1]
    assert.equal("a", event.medium)
    assert.equal(filter.null, event.group_id)
  end)

  for _, case in ipairs({
    { "no options", nil, 'option "keep" or option "drop"' },
    { "both options", { keep = "a", drop = "b" }, 'option "keep" or option "drop"' },
    { "a misspelt option", { keeps = "a" }, 'did you mean "keep"' },
    { "a number", { keep = 5 }, "expected a string or a list of strings, not the number 5" },
    { "a list with a number", { drop = { "a", 5 } }, "expected a string or a list of strings" },
    { "an empty string", { keep = "" }, "expected a string or a list of strings" },
  }) do
    it("refuses " .. case[1], function()
      local why = filter.mistake("select_medium.lua", case[2])
      assert.truthy(why and why:find(case[3], 1, true), why)
      assert.falsy(why:find "%.lua:%d", "the operator is not helped by a line of the filter")
    end)
  end
end)

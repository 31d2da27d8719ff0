local filter = require "kvgate.testing"
local selection = require "tests.support.selection"

local function kept(options, events) return filter.kept("select_medium.lua", options, events) end

describe("select_medium", function()
  selection.cases("select_medium.lua", "medium")

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
end)

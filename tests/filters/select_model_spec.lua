local filter = require "kvgate.testing"
local selection = require "tests.support.selection"

local function kept(options, events) return filter.kept("select_model.lua", options, events) end

describe("select_model", function()
  selection.cases("select_model.lua", "model_name")

  it("judges cleared by the model that it carries, and passes one that names none", function()
    local cleared = {
      { event_type = "cleared", model_name = "a" },
      { event_type = "cleared", model_name = "b" },
      { event_type = "cleared", model_name = filter.null },
      { event_type = "cleared", model_name = filter.absent },
    }
    assert.same({ true, false, true, true }, kept({ keep = "a" }, cleared))
    assert.same({ false, true, true, true }, kept({ drop = "a" }, cleared))
  end)

  it("knows a cleared by its legacy type alone", function()
    local legacy = {
      event_type = filter.absent, type = "AllBlocksCleared", model_name = filter.null,
    }
    assert.same({ true }, kept({ keep = "a" }, { legacy }))
  end)
end)

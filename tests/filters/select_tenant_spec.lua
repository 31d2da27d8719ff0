local filter = require "kvgate.testing"
local selection = require "tests.support.selection"

local function kept(options, events) return filter.kept("select_tenant.lua", options, events) end

describe("select_tenant", function()
  selection.cases("select_tenant.lua", "tenant_id")

  it("judges cleared by the tenant that it carries, and passes one that names none", function()
    local cleared = {
      { event_type = "cleared", tenant_id = "a" },
      { event_type = "cleared", tenant_id = "b" },
      { event_type = "cleared", tenant_id = filter.null },
      { event_type = "cleared", tenant_id = filter.absent },
    }
    assert.same({ true, false, true, true }, kept({ keep = "a" }, cleared))
    assert.same({ false, true, true, true }, kept({ drop = "a" }, cleared))
  end)

  it("knows a cleared by its legacy type alone", function()
    local legacy = {
      event_type = filter.absent, type = "AllBlocksCleared", tenant_id = filter.null,
    }
    assert.same({ true }, kept({ keep = "a" }, { legacy }))
  end)
end)

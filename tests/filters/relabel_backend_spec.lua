local filter = require "kvgate.testing"

local function names(options, events)
  local list = {}
  for i, event in ipairs(filter.run("relabel_backend.lua", options, events)) do
    list[i] = event.backend_id == nil and "absent" or event.backend_id
  end
  return list
end

describe("relabel_backend", function()
  local events = {
    { event_type = "stored", backend_id = "store-1" },
    { event_type = "removed", backend_id = "store-2" },
    { event_type = "stored", backend_id = filter.null },
    { event_type = "stored", backend_id = filter.absent },
  }

  it("gives all events one name", function()
    assert.same({ "pool", "pool", "pool", "pool" }, names({ backend_id = "pool" }, events))
  end)

  it("gives each old name its new one, and leaves the others", function()
    assert.same({ "pool-1", "store-2", filter.null, "absent" },
      names({ map = { ["store-1"] = "pool-1" } }, events))
  end)

  it("renames the backend of cleared as well", function()
    local cleared = { { event_type = "cleared", backend_id = "store-1" } }
    assert.same({ "pool" }, names({ backend_id = "pool" }, cleared))
    assert.same({ "pool-1" }, names({ map = { ["store-1"] = "pool-1" } }, cleared))
  end)

  for _, case in ipairs({
    { "no options", {}, 'option "backend_id" or option "map"' },
    { "both options", { backend_id = "a", map = { b = "c" } },
      'option "backend_id" or option "map"' },
    { "a new name that is a number", { map = { a = 5 } },
      'option "map.a": expected a string, not the number 5' },
    { "a name that is a number", { backend_id = 5 }, 'option "backend_id": expected a string' },
  }) do
    it("refuses " .. case[1], function()
      local why = filter.mistake("relabel_backend.lua", case[2])
      assert.truthy(why and why:find(case[3], 1, true), why)
    end)
  end
end)

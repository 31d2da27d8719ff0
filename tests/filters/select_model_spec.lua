local filter = require "kvgate.testing"

local function kept(options, events) return filter.kept("select_model.lua", options, events) end

describe("select_model", function()
  local events = {
    { event_type = "stored", model_name = "a" },
    { event_type = "removed", model_name = "a" },
    { event_type = "stored", model_name = "b" },
    { event_type = "stored", model_name = filter.null },
    { event_type = "removed", model_name = filter.absent },
  }

  it("keeps the listed models only", function()
    assert.same({ true, true, false, false, false }, kept({ keep = "a" }, events))
    assert.same({ true, true, true, false, false }, kept({ keep = { "a", "b" } }, events))
  end)

  it("drops the listed models only", function()
    assert.same({ false, false, true, true, true }, kept({ drop = { "a" } }, events))
  end)

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

  it("changes nothing in what it keeps", function()
    local event = filter.run("select_model.lua", { keep = "a" }, { events[1] })[1]
    assert.equal("a", event.model_name)
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
      local why = filter.mistake("select_model.lua", case[2])
      assert.truthy(why and why:find(case[3], 1, true), why)
      assert.falsy(why:find "%.lua:%d", "the operator is not helped by a line of the filter")
    end)
  end
end)

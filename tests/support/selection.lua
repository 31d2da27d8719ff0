--- What holds of every filter that keeps or drops by the values of one field.

local assert = require "luassert"
local busted = require "busted"
local testing = require "kvgate.testing"

local it = busted.it
local selection = {}

---@param script string
---@param field string
---@param options table
---@param events table[]
local function kept(script, field, options, events)
  local named = {}
  for i, event in ipairs(events) do
    named[i] = { event_type = event[1], [field] = event[2] }
  end
  return testing.kept(script, options, named)
end

--- Cases to be put into the spec of a filter; what it makes of `cleared` is for the spec to say.
---@param script string
---@param field string the field that the filter looks at
function selection.cases(script, field)
  local events = {
    { "stored", "a" }, { "removed", "a" }, { "stored", "b" }, { "stored", testing.null },
    { "removed", testing.absent },
  }

  it("keeps the listed ones only", function()
    assert.same({ true, true, false, false, false }, kept(script, field, { keep = "a" }, events))
    assert.same({ true, true, true, false, false },
      kept(script, field, { keep = { "a", "b" } }, events))
  end)

  it("drops the listed ones only", function()
    assert.same({ false, false, true, true, true }, kept(script, field, { drop = { "a" } }, events))
  end)

  it("changes nothing in what it keeps", function()
    local event = testing.run(script, { keep = "a" }, { { [field] = "a" } })[1]
    assert.equal("a", event[field])
    assert.equal(testing.null, event.group_id)
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
      local why = testing.mistake(script, case[2])
      assert.truthy(why and why:find(case[3], 1, true), why)
      assert.falsy(why:find "%.lua:%d", "the operator is not helped by a line of the filter")
    end)
  end
end

return selection

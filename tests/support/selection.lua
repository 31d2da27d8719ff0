--- What every filter that selects by a field does, as tests.

local assert = require "luassert"
local it = require("busted").it
local testing = require "kvgate.testing"

---@param script string takes `keep` or `drop`
---@param field string that it looks at
return function(script, field)
  local function filter(options) return testing.filter(script, options) end

  local function event(kind, value) return { event_type = kind, [field] = value } end

  it("keeps the listed only, as they are", function()
    local a = filter { keep = "a" }
    a:keeps(event("stored", "a"))
    a:keeps(event("removed", "a"))
    a:drops(event("stored", "b"))
    a:drops(event("stored", testing.null))
    a:drops(event("removed", testing.absent))
    filter({ keep = { "a", "b" } }):keeps(event("stored", "b"))
  end)

  it("drops the listed only", function()
    local a = filter { drop = { "a" } }
    a:drops(event("stored", "a"))
    a:drops(event("removed", "a"))
    a:keeps(event("stored", "b"))
    a:keeps(event("stored", testing.null))
    a:keeps(event("removed", testing.absent))
  end)

  it("passes a cleared that names none, known by its legacy type alone too", function()
    for _, option in ipairs { "keep", "drop" } do
      local a = filter { [option] = "a" }
      a:keeps(event("cleared", testing.null))
      a:keeps(event("cleared", testing.absent))
      a:keeps { event_type = testing.absent, type = "AllBlocksCleared", [field] = testing.null }
    end
  end)

  it("judges a cleared that names one by it", function()
    local a = filter { keep = "a" }
    a:keeps(event("cleared", "a"))
    a:drops(event("cleared", "b"))
  end)

  it("refuses options that say nothing, or too much, or are misspelt", function()
    testing.refuses(script, nil, 'give option "keep" or option "drop"')
    testing.refuses(script, { keep = "a", drop = "b" }, 'give option "keep" or option "drop"')
    testing.refuses(script, { keeps = "a" }, 'did you mean "keep"')
    testing.refuses(script, { keep = 5 }, "a string or a list of strings, not the number 5")
    testing.refuses(script, { keep = "" }, "expected a string or a list of strings")
    local why = testing.mistake(script, { drop = { "a", 5 } })
    assert.falsy(why:find "%.lua:%d", "the operator is not helped by a line of the filter")
  end)
end

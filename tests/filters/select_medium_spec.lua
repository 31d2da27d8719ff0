local selection = require "tests.support.selection"
local testing = require "kvgate.testing"

describe("select_medium", function()
  selection("select_medium.lua", "medium")

  it("passes what a publisher clears, which has no medium", function()
    testing.filter("select_medium.lua", { keep = "cpu" }):keeps { event_type = "cleared" }
  end)
end)

local selection = require "tests.support.selection"
local testing = require "kvgate.testing"

describe("select_model", function()
  selection("select_model.lua", "model_name")

  it("passes what a publisher clears that was not told its model", function()
    testing.filter("select_model.lua", { keep = "Qwen3-8B" }):keeps { event_type = "cleared" }
  end)
end)

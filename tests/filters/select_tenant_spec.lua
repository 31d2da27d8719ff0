local selection = require "tests.support.selection"
local testing = require "kvgate.testing"

describe("select_tenant", function()
  selection("select_tenant.lua", "tenant_id")

  it("drops what a publisher clears of another tenant", function()
    testing.filter("select_tenant.lua", { keep = "acme" })
      :drops { event_type = "cleared", tenant_id = "globex" }
  end)
end)

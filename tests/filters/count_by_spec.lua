local testing = require "kvgate.testing"

local NAME = "kvgate_filter_events_total"

describe("count_by", function()
  it("counts events by tenant and changes none", function()
    local chain = testing.filter "count_by.lua"
    for _, tenant in ipairs { "acme", "globex", "acme" } do chain:keeps { tenant_id = tenant } end
    assert.equal(2, chain:metric(NAME, { tenant_id = "acme" }))
    assert.equal(1, chain:metric(NAME, { tenant_id = "globex" }))
    testing.changes_nothing "count_by.lua"
  end)

  it("counts and keeps cleared like every event", function()
    local chain = testing.filter("count_by.lua", { fields = { "tenant_id", "event_type" } })
    chain:keeps { event_type = "cleared", tenant_id = "acme" }
    assert.equal(1, chain:metric(NAME, { tenant_id = "acme", event_type = "cleared" }))
  end)

  it("counts by up to four fields of any kind, under a name of the operator's", function()
    local chain = testing.filter("count_by.lua",
      { fields = { "dp_rank", "object_key", "seq_hashes", "mine" }, name = "mine_total" })
    chain:keeps { dp_rank = 3, object_key = testing.null, seq_hashes = { 1 }, mine = true }
    chain:keeps { dp_rank = 3, object_key = "", seq_hashes = { 1, 2 }, mine = true }
    assert.equal(2, chain:metric("kvgate_filter_mine_total",
      { dp_rank = "3", object_key = "", seq_hashes = "_other", mine = "true" }))
  end)

  it("counts values beyond its limit as _other", function()
    local chain = testing.filter("count_by.lua", { limit = 2 })
    for i = 1, 5 do chain:keeps { tenant_id = "t" .. i } end
    assert.equal(3, chain:metric(NAME, { tenant_id = "_other" }))
    assert.equal(5, chain:metric(NAME))
  end)

  it("counts for each filter and stream apart", function()
    local chain = testing.chain { { script = "count_by.lua" },
      { script = "select_tenant.lua", options = { keep = "acme" } },
      { script = "count_by.lua" } }
    chain:keeps { tenant_id = "acme" }
    chain:drops { tenant_id = "globex" }
    assert.equal(2, chain:metric(NAME, { position = "1" }))
    assert.equal(1, chain:metric(NAME, { position = "3" }))
  end)

  it("refuses what cannot be a metric", function()
    local five = { "a", "b", "c", "d", "e" }
    testing.refuses("count_by.lua", { fields = five }, 'option "fields": expected up to 4 fields')
    testing.refuses("count_by.lua", { fields = { "a-b" } }, 'not the string "a-b"')
    testing.refuses("count_by.lua", { fields = { "stream" } },
      'the label "stream" is there already')
    testing.refuses("count_by.lua", { name = "kept_total" }, "each filter has that anyway")
    testing.refuses("count_by.lua", { limit = 10001 }, "1 to 10000")
    testing.refuses("count_by.lua", { field = "a" }, 'unknown option "field"')
  end)
end)

local filter = require "kvgate.testing"

local function strip(options, event)
  return filter.run("strip_fields.lua", options, { event })[1]
end

describe("strip_fields", function()
  local event = { event_type = "stored", token_ids = { 1, 2 }, vendor_extra = "x" }

  it("takes the listed fields out and leaves the others", function()
    local out = strip({ fields = { "token_ids", "vendor_extra", "no_such_field" } }, event)
    assert.is_nil(out.token_ids)
    assert.is_nil(out.vendor_extra)
    assert.is_nil(out.no_such_field)
    assert.same({}, out.seq_hashes)
    assert.equal(filter.null, out.parent_hash)
  end)

  it("takes one field by its name", function()
    assert.is_nil(strip({ fields = "token_ids" }, event).token_ids)
  end)

  it("takes the legacy aliases out", function()
    local out = strip({ legacy = true }, event)
    assert.is_nil(out.type)
    assert.is_nil(out.block_hashes)
    assert.is_nil(out.parent_block_hash)
    assert.same({ 1, 2 }, out.token_ids)
  end)

  it("leaves nil behind when told to, and adds no field", function()
    local out = strip({ fields = { "token_ids", "no_such_field" }, leave_nil = true }, event)
    assert.equal(filter.null, out.token_ids)
    assert.is_nil(out.no_such_field)
  end)

  it("leaves cleared one, and takes its legacy type", function()
    local out = strip({ fields = "token_ids", legacy = true }, { event_type = "cleared" })
    assert.equal("cleared", out.event_type)
    assert.is_nil(out.type)
    assert.equal("mooncake", out.backend_id)
  end)

  for _, case in ipairs({
    { "no options", {}, "at least one field" },
    { "legacy: false alone", { legacy = false }, "at least one field" },
    { "event_id", { fields = { "event_id" } }, "fields that an event can do without" },
    { "event_type", { fields = "event_type" }, "fields that an event can do without" },
    { "a number", { fields = { 5 } }, "expected a string or a list of strings" },
    { "legacy as a string", { legacy = "yes" }, "expected true or false" },
  }) do
    it("refuses " .. case[1], function()
      local why = filter.mistake("strip_fields.lua", case[2])
      assert.truthy(why and why:find(case[3], 1, true), why)
    end)
  end
end)

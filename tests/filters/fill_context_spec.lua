local filter = require "kvgate.testing"

local FIELDS = { "model_name", "block_size", "additional_salt", "lora_name", "dp_rank" }

--- Per event its context, without what is nil.
local function contexts(options, events)
  local list = {}
  for i, event in ipairs(filter.run("fill_context.lua", options, events)) do
    list[i] = {}
    for _, name in ipairs(FIELDS) do
      if event[name] ~= filter.null then list[i][name] = event[name] end
    end
  end
  return list
end

describe("fill_context", function()
  local bare = { event_type = "stored", dp_rank = filter.null }
  local given = { event_type = "stored", model_name = "theirs", block_size = 16, dp_rank = 3 }

  it("fills what is nil or absent", function()
    local options = { model_name = "m", block_size = 64, lora_name = "l", additional_salt = "s" }
    local filled = { model_name = "m", block_size = 64, lora_name = "l", additional_salt = "s" }
    local absent = { event_type = "removed", model_name = filter.absent, dp_rank = filter.absent }
    assert.same({ filled, filled }, contexts(options, { bare, absent }))
  end)

  it("leaves what the publisher said, zero too", function()
    local options = { model_name = "m", block_size = 64, dp_rank = 1 }
    assert.same({ { model_name = "theirs", block_size = 16, dp_rank = 3 } },
      contexts(options, { given }))
    assert.same({ { model_name = "m", block_size = 64, dp_rank = 0 } },
      contexts(options, { { event_type = "stored", dp_rank = 0 } }))
  end)

  it("replaces it when told to overwrite", function()
    assert.same({ { model_name = "m", block_size = 16, dp_rank = 0 } },
      contexts({ model_name = "m", dp_rank = 0, overwrite = true }, { given }))
  end)

  it("takes the context of a backend before that for all", function()
    local options = {
      block_size = 64,
      model_name = "any",
      backends = { one = { model_name = "m1" }, two = { block_size = 128 } },
    }
    assert.same({
      { model_name = "m1", block_size = 64 },
      { model_name = "any", block_size = 128 },
      { model_name = "any", block_size = 64 },
      { model_name = "any", block_size = 64 },
    }, contexts(options, {
      { event_type = "stored", backend_id = "one", dp_rank = filter.null },
      { event_type = "stored", backend_id = "two", dp_rank = filter.null },
      { event_type = "stored", backend_id = "three", dp_rank = filter.null },
      { event_type = "stored", backend_id = filter.null, dp_rank = filter.null },
    }))
  end)

  it("takes the context of a tenant, and leaves tenants without one alone", function()
    assert.same({ { model_name = "m1", dp_rank = 0 }, { dp_rank = 0 } },
      contexts({ tenants = { acme = { model_name = "m1" } } }, {
        { event_type = "stored", tenant_id = "acme" },
        { event_type = "stored", tenant_id = "globex" },
      }))
  end)

  it("fills cleared too, which carries the same fields", function()
    assert.same({ { model_name = "m", block_size = 64, dp_rank = 0 } },
      contexts({ model_name = "m", block_size = 64 }, { { event_type = "cleared" } }))
  end)

  it("makes a stored event complete for Conductor", function()
    local event = filter.run("fill_context.lua", { model_name = "Qwen3-8B", block_size = 64 },
      { { event_type = "stored", object_key = "k" } })[1]
    local required = { "model_name", "block_size", "tenant_id", "backend_id", "object_key" }
    for _, name in ipairs(required) do
      assert.truthy(event[name] ~= filter.null and event[name] ~= "" and event[name] ~= 0, name)
    end
  end)

  for _, case in ipairs({
    { "an unknown option", { model = "m" }, 'unknown option "model"' },
    { "a block_size that is a string", { block_size = "64" },
      'option "block_size": expected an integer' },
    { "a negative dp_rank", { dp_rank = -1 }, 'option "dp_rank": expected an integer' },
    { "half a block", { block_size = 0.5 }, 'option "block_size": expected an integer' },
    { "backends and tenants",
      { backends = { a = { dp_rank = 1 } }, tenants = { b = { dp_rank = 1 } } },
      'option "backends" or option "tenants"' },
    { "a context that is a string", { backends = { a = "m" } }, "expected a map" },
    { "an unknown field in a context", { tenants = { a = { medium = "cpu" } } },
      'unknown option "medium"' },
    { "nothing to fill", {}, "at least one field" },
  }) do
    it("refuses " .. case[1], function()
      local why = filter.mistake("fill_context.lua", case[2])
      assert.truthy(why and why:find(case[3], 1, true), why)
    end)
  end
end)

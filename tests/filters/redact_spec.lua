local filter = require "kvgate.testing"

local KEY = "0123456789abcdef0123456789abcdef"

local function redact(options, ...)
  local given = { key = KEY }
  for name, value in pairs(options) do given[name] = value end
  return filter.run("redact.lua", given, { ... })
end

describe("redact", function()
  it("puts 32 digits in place of an object key, the same for equal keys", function()
    local out = redact({}, { object_key = "a" }, { object_key = "b" },
      { event_type = "removed", object_key = "a" })
    assert.truthy(out[1].object_key:find "^%x+$")
    assert.equal(32, #out[1].object_key)
    assert.not_equal(out[1].object_key, out[2].object_key)
    assert.equal(out[1].object_key, out[3].object_key)
  end)

  it("gives others with another key", function()
    local one = redact({}, { object_key = "a" })[1]
    local two = redact({ key = KEY .. "x" }, { object_key = "a" })[1]
    assert.not_equal(one.object_key, two.object_key)
  end)

  it("replaces block hashes, so that they still fit each other", function()
    local out = redact({}, {
      seq_hashes = { 5, 6 }, block_hashes = { 6 }, parent_hash = 5, connector_block_hash = "05",
    })[1]
    assert.not_equal(5, tonumber(out.seq_hashes[1]))
    assert.is_true(out.seq_hashes[1] == out.parent_hash)
    assert.is_true(out.seq_hashes[2] == out.block_hashes[1])
    assert.is_true(out.seq_hashes[1] ~= out.seq_hashes[2])
    assert.equal(32, #out.connector_block_hash)
  end)

  it("keeps block hashes for readers that route by them, when told to", function()
    local out = redact({ keep_hashes = true }, {
      object_key = "a", seq_hashes = { 5 }, parent_hash = 5, connector_block_hash = "05",
    })[1]
    assert.same({ 5 }, out.seq_hashes)
    assert.equal(5, out.parent_hash)
    assert.equal("05", out.connector_block_hash)
    assert.not_equal("a", out.object_key)
  end)

  it("takes token ids out", function()
    local out = redact({}, { token_ids = { 1, 2 } }, { token_ids = filter.absent })
    assert.equal(filter.null, out[1].token_ids)
    assert.is_nil(out[2].token_ids)
  end)

  it("replaces the fields that it is told, a name that nobody knows among them", function()
    local out = redact({ fields = { "tenant_id", "prompt", "block_size", "not_there" } },
      { tenant_id = "acme", prompt = "tell me", block_size = 64, model_name = "m" })[1]
    assert.equal(32, #out.tenant_id)
    assert.equal(32, #out.prompt)
    assert.not_equal(64, tonumber(out.block_size))
    assert.equal("m", out.model_name)
    assert.is_nil(out.not_there)
  end)

  it("leaves nil, absent and empty ones as they are", function()
    local out = redact({}, { object_key = filter.null, parent_hash = filter.absent })[1]
    assert.equal(filter.null, out.object_key)
    assert.is_nil(out.parent_hash)
    assert.same({}, out.seq_hashes)
  end)

  it("gives cleared the same tenant as the events that it retracts", function()
    local out = redact({ fields = "tenant_id" }, { tenant_id = "acme" },
      { event_type = "cleared", tenant_id = "acme" })
    assert.equal("cleared", out[2].event_type)
    assert.equal(out[1].tenant_id, out[2].tenant_id)
    assert.equal("mooncake", out[2].backend_id)
  end)

  it("fails on what it cannot replace, rather than let it pass", function()
    local failures = filter.failures("redact.lua", { key = KEY, fields = "prompt" },
      { { prompt = { { "tell me" } } }, { prompt = 1.5 }, { prompt = true } })
    for i = 1, 3 do
      assert.truthy(failures[i]:find("event.prompt is neither a text nor an integer", 1, true))
    end
  end)

  it("does not show its key in a mistake", function()
    for _, key in ipairs { "s3cr3t", 123456 } do
      local why = filter.mistake("redact.lua", { key = key })
      assert.truthy(why:find('option "key": expected a text of 16 bytes or more', 1, true), why)
      assert.is_nil(why:find(key, 1, true))
    end
  end)

  for _, case in ipairs({
    { "no key", {}, 'option "key": expected a text of 16 bytes or more' },
    { "event_type", { key = KEY, fields = "event_type" }, "fields that readers can do without" },
    { "event_id", { key = KEY, fields = { "a", "event_id" } },
      "fields that readers can do without" },
    { "keep_hashes as a text", { key = KEY, keep_hashes = "no" }, "expected true or false" },
  }) do
    it("refuses " .. case[1], function()
      local why = filter.mistake("redact.lua", case[2])
      assert.truthy(why and why:find(case[3], 1, true), why)
    end)
  end
end)

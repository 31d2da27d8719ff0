local codec = require("gateway").codec

describe("the field table", function()
  it("finds every field by its name", function()
    local names = codec.fields()
    assert.equal(28, #names)
    for number, name in ipairs(names) do
      local found, size = codec.field(name)
      assert.equal(number, found, name)
      assert.equal(#name, size, name)
    end
  end)

  it("keeps the publisher's order", function()
    local names = codec.fields()
    for number, name in pairs {
      [1] = "event_id", [2] = "timestamp", [3] = "event_type", [4] = "type", [9] = "tenant_id",
      [11] = "medium", [14] = "object_key", [23] = "seq_hashes", [28] = "parent_block_hash",
    } do
      assert.equal(name, names[number])
    end
  end)

  it("takes no other name for one of them", function()
    for _, name in ipairs {
      "", "t", "typ", "types", "Type", "event_i", "event_idx", "EVENT_ID", "type\0", "tenant",
      "block_hash", "seq_hashes ", "\xff\xff\xff\xff", ("x"):rep(1000),
    } do
      assert.is_nil(codec.field(name), name)
    end
  end)

  it("tells names apart that differ in any one byte", function()
    for _, name in ipairs(codec.fields()) do
      for at = 1, #name do
        local byte = (name:byte(at) + 1) % 256
        local other = name:sub(1, at - 1) .. string.char(byte) .. name:sub(at + 1)
        assert.is_nil(codec.field(other), other)
      end
    end
  end)
end)

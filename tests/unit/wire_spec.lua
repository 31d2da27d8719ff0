local python = require "tests.support.python"
local wire = require "tests.support.wire"

--- Each case: a Python expression, and the same value here.
local CASES = {
  { "None", wire.null }, { "True", true }, { "False", false },
  { "0", 0 }, { "127", 127 }, { "128", 128 }, { "255", 255 }, { "256", 256 },
  { "2**15", 2 ^ 15 }, { "2**16-1", 2 ^ 16 - 1 }, { "2**16", 2 ^ 16 }, { "2**31", 2 ^ 31 },
  { "2**32-1", 2 ^ 32 - 1 }, { "2**32", 2 ^ 32 }, { "2**53-1", 2 ^ 53 - 1 },
  { "2**53", 2 ^ 53 }, { "2**53+1", 0x20000000000001ULL }, { "2**63-1", 0x7fffffffffffffffULL },
  { "2**63", 0x8000000000000000ULL }, { "2**64-1", 0xffffffffffffffffULL },
  { "-1", -1 }, { "-32", -32 }, { "-33", -33 }, { "-128", -128 }, { "-129", -129 },
  { "-2**15", -2 ^ 15 }, { "-2**15-1", -2 ^ 15 - 1 }, { "-2**31", -2 ^ 31 },
  { "-2**31-1", -2 ^ 31 - 1 }, { "-2**53", -2 ^ 53 }, { "-2**53-1", -0x20000000000001LL },
  { "-2**63", -0x7fffffffffffffffLL - 1LL },
  { "1.5", wire.float(1.5) }, { "1.0", wire.float(1) }, { "-0.1", wire.float(-0.1) },
  { "float('inf')", wire.float(math.huge) },
  { "''", "" }, { "'k'", "k" }, { "'x'*31", ("x"):rep(31) }, { "'x'*32", ("x"):rep(32) },
  { "'x'*255", ("x"):rep(255) }, { "'x'*256", ("x"):rep(256) },
  { "'x'*65535", ("x"):rep(65535) }, { "'x'*65536", ("x"):rep(65536) },
  { "b''", wire.bin "" }, { "b'\\xff'*255", wire.bin(("\xff"):rep(255)) },
  { "b'a'*256", wire.bin(("a"):rep(256)) }, { "b'a'*65536", wire.bin(("a"):rep(65536)) },
  { "[]", wire.array {} }, { "[1, [2, None], []]",
    wire.array { 1, wire.array { 2, wire.null }, wire.array {} } },
  { "[7]*15", wire.array { 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7 } },
  { "[7]*16", wire.array { 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7 } },
  { "{}", wire.map {} }, { "{'b': 1, 'a': {}}", wire.map { { "b", 1 }, { "a", wire.map {} } } },
  { "{i: i for i in range(16)}", (function()
    local list = {}
    for index = 0, 15 do list[#list + 1] = { index, index } end
    return wire.map(list)
  end)() },
  { "msgpack.ExtType(5, b'x')", wire.ext(5, "x") },
  { "msgpack.ExtType(127, b'xyz')", wire.ext(127, "xyz") },
  { "msgpack.ExtType(5, b'x'*2)", wire.ext(5, "xx") },
  { "msgpack.ExtType(5, b'x'*4)", wire.ext(5, "xxxx") },
  { "msgpack.ExtType(5, b'x'*8)", wire.ext(5, ("x"):rep(8)) },
  { "msgpack.ExtType(5, b'x'*16)", wire.ext(5, ("x"):rep(16)) },
  { "msgpack.ExtType(5, b'x'*256)", wire.ext(5, ("x"):rep(256)) },
  { "msgpack.ExtType(5, b'x'*65536)", wire.ext(5, ("x"):rep(65536)) },
}

local PACK = [[
import sys, msgpack
for line in sys.stdin:
    print(msgpack.packb(eval(line), use_bin_type=True).hex())
]]

local FLOAT32 = [[
import msgpack
print(msgpack.packb(1.25, use_single_float=True).hex())
]]

describe("the tests' own msgpack", function()
  local packed
  setup(function()
    local expressions = {}
    for index, case in ipairs(CASES) do expressions[index] = case[1] end
    packed = python.lines(PACK, expressions)
  end)

  it("writes the bytes that python3-msgpack writes", function()
    for index, case in ipairs(CASES) do
      assert.equal(packed[index], wire.hex(wire.encode(case[2])), case[1])
    end
  end)

  it("reads what python3-msgpack wrote", function()
    for index, case in ipairs(CASES) do
      assert.same(case[2], wire.decode(wire.unhex(packed[index])), case[1])
    end
  end)

  it("knows single floats", function()
    local bytes = wire.unhex(python.run(FLOAT32))
    assert.equal(bytes, wire.encode(wire.float32(1.25)))
    assert.same(wire.float32(1.25), wire.decode(bytes))
  end)

  it("refuses bytes that hold less or more than one value", function()
    assert.has_error(function() wire.decode "\x92\x01" end, "wire: cut short")
    assert.has_error(function() wire.decode "\xd9\x05abcd" end, "wire: cut short")
    assert.has_error(function() wire.decode "\x01\x01" end, "wire: trailing bytes")
    assert.has_error(function() wire.decode "\xc1" end, "wire: 0xc1")
  end)

  it("keeps the order of a map and its duplicate keys", function()
    local map = wire.map { { "b", 1 }, { "a", 2 }, { "b", 3 } }
    assert.same(map, wire.decode(wire.encode(map)))
    assert.same({ "b", "a", "b" }, wire.names(map))
    assert.equal(1, wire.get(map, "b"))
    assert.is_nil(wire.get(map, "c"))
  end)

  it("numbers frames in big endian", function()
    assert.equal("0000000000000102", wire.hex(wire.seq(258)))
    assert.equal("ffffffffffffffff", wire.hex(wire.seq(0xffffffffffffffffULL)))
  end)

  it("builds the publisher's golden messages", function()
    local golden = require "tests.support.golden"
    local full = {
      model_name = "configured-model", block_size = 128, additional_salt = "salt-a",
      lora_name = "adapter-a", tenant_id = "tenant-a", backend_id = "mooncake-test", dp_rank = 5,
    }
    local key = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"
    local function event(fields)
      local merged = { group_id = "sglang-hicache:" .. key, object_key = key .. "_0_k" }
      for name, value in pairs(full) do merged[name] = value end
      for name, value in pairs(fields) do merged[name] = value end
      return wire.payload(nil, { wire.event(merged) }, 5)
    end
    assert.equal(golden.C1, event {})
    assert.equal(golden.C2, event { event_type = "removed", event_id = 2, medium = "cpu" })
    assert.equal(golden.C5, wire.payload(nil, {
      wire.event { legacy = false, backend_id = "b", medium = "disk" },
    }))
  end)
end)

local codec = require("gateway").codec
local python = require "tests.support.python"
local wire = require "tests.support.wire"

--- Every edge in every form that holds it: "hex decimal" a line.
local INTEGERS = [[
import struct
edges = {0, 1, 2**5 - 1, 2**5, 2**7 - 1, 2**7, 2**8 - 1, 2**8, 2**15 - 1, 2**15, 2**16 - 1, 2**16,
         2**31 - 1, 2**31, 2**32 - 1, 2**32, 2**53 - 1, 2**53, 2**53 + 1, 2**63 - 1, 2**63,
         2**64 - 1}
edges |= {-edge - 1 for edge in edges if edge < 2**63} | {-32, -33}
forms = [(0xcc, ">B"), (0xcd, ">H"), (0xce, ">I"), (0xcf, ">Q"),
         (0xd0, ">b"), (0xd1, ">h"), (0xd2, ">i"), (0xd3, ">q")]
for value in sorted(edges):
    if -32 <= value < 128:
        print(struct.pack(">b", value).hex(), value)
    for tag, form in forms:
        try:
            print(bytes([tag]).hex() + struct.pack(form, value).hex(), value)
        except struct.error:
            pass
]]

local function integers()
  local cases = {}
  for digits, value in python.run(INTEGERS):gmatch "(%x+) (%-?%d+)\n?" do
    cases[#cases + 1] = { wire.unhex(digits), value }
  end
  assert(#cases > 150, "python3 gave too few integers")
  return cases
end

--- At most 2^63 - 1, by the digits.
local function fits_i64(value)
  return value:sub(1, 1) == "-" or #value < 19 or (#value == 19 and value <= "9223372036854775807")
end

local function nested(depth, innermost)
  return ("\x91"):rep(depth) .. innermost
end

--- One value of every form, at every edge of its size: { bytes, kind, payload }.
local function forms()
  local cases = {
    { "\xc0", "nil" }, { "\xc2", "boolean" }, { "\xc3", "boolean" }, { "\x00", "integer" },
    { "\x7f", "integer" }, { "\xe0", "integer" }, { "\xff", "integer" },
    { "\xca\0\0\0\0", "float" }, { "\xcb\0\0\0\0\0\0\0\0", "float" },
    { "\x80", "map" }, { "\x81\x01\x02", "map" }, { "\x90", "array" },
    { "\xdc\0\0", "array" }, { "\xdd\0\0\0\0", "array" }, { "\xde\0\0", "map" },
    { "\xdf\0\0\0\0", "map" }, { "\xdc\0\1\xc0", "array" }, { "\xdf\0\0\0\1\1\2", "map" },
    { "\x9f" .. ("\x01"):rep(15), "array" }, { "\x8f" .. ("\x01"):rep(30), "map" },
  }
  local function add(kind, head, payload)
    cases[#cases + 1] = { head .. payload, kind, payload }
  end
  for size = 0, 31 do add("string", string.char(0xa0 + size), ("s"):rep(size)) end
  for width, sizes in pairs { { 0, 1, 31, 32, 255 }, { 0, 256, 65535 }, nil, { 0, 1, 65536 } } do
    for _, size in ipairs(sizes) do
      local field = wire.seq(size):sub(-width)
      local payload = ("x"):rep(size)
      local step = ({ 0, 1, nil, 2 })[width]
      add("string", string.char(0xd9 + step) .. field, payload)
      add("binary", string.char(0xc4 + step) .. field, payload)
      add("extension", string.char(0xc7 + step) .. field .. "\x05", payload)
    end
  end
  for step, size in ipairs { 1, 2, 4, 8, 16 } do
    add("extension", string.char(0xd3 + step) .. "\x05", ("x"):rep(size))
  end
  return cases
end

describe("the cursor", function()
  it("measures and names a value of every form", function()
    for _, case in ipairs(forms()) do
      local label = wire.hex(case[1]:sub(1, 8))
      assert.equal(#case[1], codec.check(case[1]), label)
      assert.equal(#case[1], codec.check(case[1] .. "\xc1"), label)
      assert.equal(case[2], codec.kind(case[1]), label)
      if case[3] then assert.equal(case[3], codec.bytes(case[1]), label) end
    end
  end)

  it("refuses a value that is cut at any byte", function()
    for _, case in ipairs(forms()) do
      local bytes = case[1]
      local step = #bytes > 600 and 997 or 1
      for size = 0, #bytes - 1, step do
        assert.is_nil(codec.check(bytes:sub(1, size)))
      end
      assert.is_nil(codec.check(bytes:sub(1, -2)))
    end
  end)

  it("reads an integer of every width exactly", function()
    for _, case in ipairs(integers()) do
      local bytes, value = case[1], case[2]
      local negative = value:sub(1, 1) == "-"
      assert.equal("integer", codec.kind(bytes))
      assert.equal(not negative and value or nil, codec.u64(bytes), wire.hex(bytes))
      assert.equal(fits_i64(value) and value or nil, codec.i64(bytes), wire.hex(bytes))
    end
  end)

  it("takes nothing else for an integer", function()
    for _, value in ipairs { wire.null, true, "1", wire.float(1), wire.array { 1 } } do
      assert.is_nil(codec.u64(wire.encode(value)))
      assert.is_nil(codec.i64(wire.encode(value)))
    end
  end)

  it("reads floats of both widths", function()
    for _, value in ipairs { 0, 1.5, -2.25, 2 ^ 60, math.huge, -math.huge } do
      assert.equal(value, codec.double(wire.encode(wire.float(value))))
      assert.equal(value, codec.double(wire.encode(wire.float32(value))))
    end
    assert.equal(0.1, codec.double(wire.encode(wire.float(0.1))))
  end)

  it("counts the members of containers of every width", function()
    for _, case in ipairs {
      { "\x93\1\2\3", 3 }, { "\xdc\0\2\1\2", 2 }, { "\xdd\0\0\0\2\1\2", 2 },
      { "\x82\1\2\3\4", 2 }, { "\xde\0\1\1\2", 1 }, { "\xdf\0\0\0\1\1\2", 1 },
    } do
      assert.equal(case[2], codec.count(case[1]))
    end
  end)

  it("refuses the one byte that msgpack never uses, wherever it stands", function()
    for _, bytes in ipairs { "\xc1", "\x91\xc1", "\x81\xa1k\xc1", "\x92\x01\xc1" } do
      assert.is_nil(codec.check(bytes))
    end
  end)

  it("follows 512 containers inside one another and no more", function()
    assert.equal(513, codec.check(nested(512, "\x01")))
    assert.equal(513, codec.check(nested(512, "\x90")))
    assert.equal(515, codec.check(nested(512, "\xdc\0\0")))
    assert.is_nil(codec.check(nested(513, "\x01")))
    assert.is_nil(codec.check(("\x91"):rep(1000000) .. "\x01"))
    assert.is_nil(codec.check(("\x81\xa1k"):rep(1000000) .. "\x01"))
  end)

  it("passes many containers side by side", function()
    assert.equal(5 + 600, codec.check("\xdd\0\0\2\88" .. ("\x90"):rep(600)))
    local deep = nested(500, "\x01")
    assert.equal(1 + 3 * 501, codec.check("\x93" .. deep:rep(3)))
  end)

  it("believes no claim that the bytes cannot keep", function()
    for _, head in ipairs {
      "\xdd\xff\xff\xff\xff", "\xdf\xff\xff\xff\xff", "\xdf\x80\0\0\0", "\xdb\xff\xff\xff\xff",
      "\xc6\xff\xff\xff\xff", "\xc9\xff\xff\xff\xff\5", "\xdc\xff\xff", "\xde\xff\xff",
      "\xda\xff\xff", "\xde\0\4\1\2\3",
    } do
      assert.is_nil(codec.check(head))
      assert.is_nil(codec.check(head .. "abc"))
    end
  end)

  it("passes a map of a million keys", function()
    local map = "\xdf\x00\x0f\x42\x40" .. ("\xa1k\xc0"):rep(1000000)
    assert.equal(#map, codec.check(map))
    assert.equal(1000000, codec.count(map))
    assert.is_nil(codec.check(map:sub(1, -2)))
  end)
end)

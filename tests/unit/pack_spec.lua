local codec = require("gateway").codec
local python = require "tests.support.python"
local wire = require "tests.support.wire"

--- "form number" in, the first bytes of what python3-msgpack makes of it out.
local PACK = [[
import sys, msgpack
for line in sys.stdin:
    form, number = line.split()
    packer = msgpack.Packer(use_single_float=form == "float32", use_bin_type=True)
    if form == "nil":
        packed = packer.pack(None)
    elif form == "bool":
        packed = packer.pack(number == "1")
    elif form in ("u64", "i64"):
        packed = packer.pack(int(number))
    elif form in ("float32", "float64"):
        packed = packer.pack(float(number))
    elif form == "array":
        packed = packer.pack_array_header(int(number))
    elif form == "map":
        packed = packer.pack_map_header(int(number))
    else:
        size = int(number)
        packed = packer.pack("x" * size if form == "str" else b"x" * size)
        packed = packed[:len(packed) - size]
    print(packed.hex())
]]

local UNSIGNED = {
  "0", "1", "127", "128", "255", "256", "32767", "32768", "65535", "65536", "2147483647",
  "2147483648", "4294967295", "4294967296", "9007199254740993", "9223372036854775807",
}
local SIZES = { "0", "1", "15", "16", "31", "32", "255", "256", "65535", "65536" }

local function cases()
  local lines = { "nil 0", "bool 0", "bool 1", "u64 9223372036854775808",
    "u64 18446744073709551615", "i64 -9223372036854775808", "i64 -32", "i64 -33", "i64 -128",
    "i64 -129", "i64 -32768", "i64 -32769", "i64 -2147483648", "i64 -2147483649", "i64 -1",
    "float32 1.5", "float64 0.1", "float64 -2.5", "array 4294967295", "map 4294967295" }
  for _, number in ipairs(UNSIGNED) do
    lines[#lines + 1] = "u64 " .. number
    lines[#lines + 1] = "i64 " .. number
  end
  for _, size in ipairs(SIZES) do
    for _, form in ipairs { "array", "map", "str", "bin" } do
      lines[#lines + 1] = form .. " " .. size
    end
  end
  return lines
end

describe("the packer", function()
  it("writes what python3-msgpack writes, the shortest form of every value", function()
    local lines = cases()
    for index, expected in ipairs(python.lines(PACK, lines)) do
      local form, number = lines[index]:match "(%S+) (%S+)"
      assert.equal(expected, wire.hex(codec.pack(form, number)), lines[index])
    end
  end)
end)

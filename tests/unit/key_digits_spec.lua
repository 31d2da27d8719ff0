local gateway = require "gateway"
local python = require "tests.support.python"

local H64 = "6358e31578a64b75ebe28cdb99d3beae65de82a2087321dc6ec84ae048faaaa6"

describe("digits", function()
  for _, case in ipairs({
    { H64, "6ec84ae048faaaa6", "6358e31578a64b75" },
    { "0123456789abcdef000000000000002a", "000000000000002a", "0123456789abcdef" },
    { "FFFFFFFFFFFFFFFF", "ffffffffffffffff", "ffffffffffffffff" },
    { "8000000000000001f", "000000000000001f", "8000000000000001" },
    { "2a", "000000000000002a", "000000000000002a" },
    { "0", "0000000000000000", "0000000000000000" },
  }) do
    it("of " .. case[1] .. " have their low and high 64 bits", function()
      assert.equal(case[2], gateway.key_low64(case[1]))
      assert.equal(case[3], gateway.key_high64(case[1]))
    end)
  end

  it("are worth what python says, in both cases and of any length", function()
    math.randomseed(9)
    local lines = {}
    for i = 1, 500 do
      local digits = {}
      for j = 1, math.random(1, 40) do
        local at = math.random(22)
        digits[j] = ("0123456789abcdefABCDEF"):sub(at, at)
      end
      lines[i] = table.concat(digits)
    end
    local answers = python.lines([[
import sys
for line in sys.stdin:
    digits = line.strip()
    print("%016x %016x" % (int(digits[-16:], 16), int(digits[:16], 16)))
]], lines)
    for i, digits in ipairs(lines) do
      local worth = gateway.key_low64(digits) .. " " .. gateway.key_high64(digits)
      assert.equal(answers[i], worth, digits)
    end
  end)

  it("of a decimal are exact to 2^64 - 1", function()
    assert.equal("ffffffffffffffff", gateway.key_decimal("18446744073709551615"))
    assert.equal("0020000000000001", gateway.key_decimal("9007199254740993"))
    assert.equal("0000000000000007", gateway.key_decimal("007"))
  end)
end)

local u64 = dofile "lua/kvgate/u64.lua"

local MAX = 18446744073709551615ULL

describe("u64.parse", function()
  local good = {
    ["0"] = 0ULL, ["1"] = 1ULL, ["42"] = 42ULL, ["9007199254740993"] = 9007199254740993ULL,
    ["18446744073709551615"] = MAX, ["00018446744073709551615"] = MAX,
    ["0x0"] = 0ULL, ["0xff"] = 255ULL, ["0XFF"] = 255ULL, ["0xffffffffffffffff"] = MAX,
    ["0xDeadBeef"] = 3735928559ULL,
  }
  for text, value in pairs(good) do
    it("reads " .. text, function() assert.is_true(u64.parse(text) == value) end)
  end

  for _, text in ipairs { "", " 1", "1 ", "+1", "-1", "1.0", "1e3", "x", "0x", "0xg", "12a",
    "18446744073709551616", "18446744073709551620", "99999999999999999999", "0x10000000000000000",
    ("9"):rep(65), "1ULL", "1\0", "1\n" } do
    it(("refuses %q"):format(text), function() assert.is_nil(u64.parse(text)) end)
  end

  it("refuses what is no string", function()
    assert.is_nil(u64.parse(5))
    assert.is_nil(u64.parse(nil))
  end)
end)

describe("u64.tostring", function()
  it("prints decimal digits without a suffix", function()
    assert.equal("18446744073709551615", u64.tostring(MAX))
    assert.equal("9007199254740993", u64.tostring(9007199254740993ULL))
    assert.equal("0", u64.tostring(0ULL))
    assert.equal("-5", u64.tostring(-5LL))
    assert.equal("-9223372036854775808", u64.tostring(-9223372036854775807LL - 1))
    assert.equal("1000000000000000", u64.tostring(1e15))
  end)

  it("is what parse reads", function()
    for _, value in ipairs { 0ULL, 1ULL, 4294967296ULL, 9223372036854775808ULL, MAX } do
      assert.is_true(u64.parse(u64.tostring(value)) == value)
      assert.is_true(u64.parse("0x" .. u64.hex(value)) == value)
    end
  end)
end)

describe("u64.hex", function()
  it("prints 16 digits", function()
    assert.equal("ffffffffffffffff", u64.hex(MAX))
    assert.equal("000000000000002a", u64.hex(42))
    assert.equal("8000000080000000", u64.hex(0x8000000080000000ULL))
    assert.equal("fffffffffffffffb", u64.hex(-5LL))
  end)
end)

describe("u64.key", function()
  it("is one table key for equal values, and another for others", function()
    local seen = {}
    for _, value in ipairs { 0ULL, 1ULL, 256ULL, 9007199254740992ULL, 9007199254740993ULL, MAX } do
      assert.is_nil(seen[u64.key(value)])
      seen[u64.key(value)] = true
      assert.is_true(seen[u64.key(value + 0ULL)])
    end
    assert.equal(u64.key(5), u64.key(5ULL))
    assert.equal(u64.key(MAX), u64.key(-1LL))
  end)
end)

describe("u64.low and u64.high", function()
  local digest = "0123456789abcdef0000000000000000fedcba9876543210ffffffffffffffff"

  it("are the ends of a digest", function()
    assert.equal("ffffffffffffffff", u64.hex(u64.low(digest)))
    assert.equal("0123456789abcdef", u64.hex(u64.high(digest)))
    assert.equal("000000000000002a", u64.hex(u64.low "0123456789abcdef000000000000002A"))
  end)

  it("are the whole of a short one", function()
    assert.is_true(u64.low "2a" == 42ULL)
    assert.is_true(u64.high "2a" == 42ULL)
  end)

  it("refuse what is not hexadecimal", function()
    for _, text in ipairs { "", "0x12", "xyz", "12 ", ("0"):rep(1025) } do
      assert.is_nil(u64.low(text))
      assert.is_nil(u64.high(text))
    end
    assert.is_nil(u64.low(5))
  end)
end)

describe("u64.signed and u64.unsigned", function()
  it("are the same bits", function()
    assert.equal("-1LL", tostring(u64.signed(MAX)))
    assert.equal("18446744073709551615ULL", tostring(u64.unsigned(-1LL)))
    assert.equal("5LL", tostring(u64.signed(5ULL)))
    assert.equal("5ULL", tostring(u64.unsigned(5)))
    assert.is_true(u64.unsigned(u64.signed(0x8000000000000001ULL)) == 0x8000000000000001ULL)
  end)
end)

describe("an argument", function()
  it("that is no exact 64-bit integer is refused", function()
    for _, name in ipairs { "tostring", "hex", "key", "signed", "unsigned" } do
      for _, value in ipairs { 1.5, -1, 2 ^ 54, 0 / 0, 1 / 0 } do
        assert.has_error(function() u64[name](value) end)
      end
      for _, value in ipairs { "5", {}, true } do
        assert.has_error(function() u64[name](value) end)
      end
      assert.has_error(function() u64[name](nil) end)
    end
  end)
end)

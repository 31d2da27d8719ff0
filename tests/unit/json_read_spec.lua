--- codec/json_read.c against python3's json and msgpack.
local gateway = require "gateway"
local python = require "tests.support.python"
local wire = require "tests.support.wire"

local ORACLE = [[
import json, sys, msgpack
for line in sys.stdin:
    print(msgpack.packb(json.loads(line), use_bin_type=True).hex())
]]

describe("json_read", function()
  it("makes what python3 makes of it", function()
    local deep = ("["):rep(64) .. ("]"):rep(64)
    local lines = {
      "null", "true", " false ", "0", "-1", "127", "128", "-33", "18446744073709551615",
      "-9223372036854775808", "9007199254740993", "1.5", "-0.0", "1e3", "2E-7", "[]", "{}",
      '""', '"a\\"\\\\\\/\\b\\f\\n\\r\\t"', '"\\u00e9\\u20ac\\ud83d\\ude00\\u0000"',
      '"gr\195\188n"', '{"a":[1,{"b":null}],"c":""}', " [ 1 , 2 ] ", deep,
      "[" .. ("1,"):rep(70000) .. "1]", '"' .. ("x"):rep(70000) .. '"',
    }
    local expected = python.lines(ORACLE, lines)
    for i, line in ipairs(lines) do
      assert.is_true(expected[i] == wire.hex(assert(gateway.codec.json(line))), line:sub(1, 80))
    end
  end)

  it("keeps both of two fields of a name, and reads what tap writes for a binary", function()
    assert.equal("82a16101a16102", wire.hex(gateway.codec.json '{"a":1,"a":2}'))
    assert.equal("81a162c40300ff10", wire.hex(gateway.codec.json '{"b":{"$bin":"00ff10"}}'))
  end)

  it("says where a text stops being JSON", function()
    for _, case in ipairs {
      { "", "column 1: expected a value, not the end" },
      { "nul", "column 1: expected a value, not 'nul'" },
      { "01", "column 1: expected a value, not '01'" },
      { "1.", "column 1: expected a value, not '1'" },
      { "[1", 'column 3: expected "," or "]", not the end' },
      { "[1,]", "column 4: expected a value, not ']'" },
      { '{"a"}', "column 5: expected \":\", not '}'" },
      { "{a:1}", "column 2: expected a name in double quotes, not 'a'" },
      { "{'a':1}", "column 2: expected a name in double quotes, not a single quote" },
      { '"a', "column 3: expected the end of the string, not the end" },
      { '"\n"', "column 2: expected an escape for a control character, not '\\n'" },
      { '"\\x"', "column 3: expected an escape that JSON has, not 'x'" },
      { '"\\ud800"', "column 8: expected the second half of a surrogate pair, not '\"'" },
      { "1 2", "column 3: expected the end, not '2'" },
      { "[é]", "column 2: expected a value, not 'é'" },
      { "[\xff]", "column 2: expected a value, not '\\xff'" },
      { "18446744073709551616",
        "column 1: expected an integer from -2^63 to 2^64 - 1, not '18446744073709551616'" },
      { ("["):rep(65), "column 66: expected less nesting, not the end" },
    } do
      local bytes, why = gateway.codec.json(case[1])
      assert.is_nil(bytes)
      assert.equal(case[2], why)
    end
  end)
end)

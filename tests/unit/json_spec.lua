--- base/json.c: always valid JSON, nothing lost.
local gateway = require "gateway"
local json = gateway.json

--- One value by itself.
local function value(call, argument)
  return json { { call, argument } }
end

describe("json", function()
  it("places commas and quotes", function()
    assert.equal(
      '{"a":1,"b":[true,null,{},[]],"c":{"d":"e"}}',
      json {
        { "object" },
        { "key", "a" }, { "u64", "1" },
        { "key", "b" }, { "array" },
        { "bool", true }, { "null" }, { "object" }, { "finish" }, { "array" }, { "finish" },
        { "finish" },
        { "key", "c" }, { "object" }, { "key", "d" }, { "string", "e" }, { "finish" },
        { "finish" },
      }
    )
  end)

  it("writes each top-level value as it comes, for JSON lines", function()
    assert.equal("1false", json { { "u64", "1" }, { "bool", false } })
  end)

  local texts = {
    { "an empty string", "", '""' },
    { "quotes and backslashes", 'a"b\\c/', '"a\\"b\\\\c/"' },
    { "the controls with a short name", "\b\t\n\f\r", '"\\b\\t\\n\\f\\r"' },
    { "other controls", "\0\1\31\127", '"\\u0000\\u0001\\u001f\\u007f"' },
    { "what a terminal obeys", "\194\155\226\128\174", '"\\u009b\\u202e"' },
    { "UTF-8 of each length", "é€😀\244\143\191\191", '"é€😀\244\143\191\191"' },
    { "a stray byte", "a\255b", '"a\\ufffd\\u00ffb"' },
    { "a cut character", "a\226\130", '"a\\ufffd\\u00e2\\ufffd\\u0082"' },
    { "an overlong form", "\192\175", '"\\ufffd\\u00c0\\ufffd\\u00af"' },
    { "a surrogate", "\237\160\128", '"\\ufffd\\u00ed\\ufffd\\u00a0\\ufffd\\u0080"' },
    { "past the last code point", "\244\144\128\128",
      '"\\ufffd\\u00f4\\ufffd\\u0090\\ufffd\\u0080\\ufffd\\u0080"' },
  }
  for _, case in ipairs(texts) do
    it("writes " .. case[1], function()
      assert.equal(case[3], value("string", case[2]))
      assert.equal("{" .. case[3] .. ":1}",
        json { { "object" }, { "key", case[2] }, { "u64", "1" }, { "finish" } })
    end)
  end

  it("writes a text that is not there as null", function()
    assert.equal("null", value "text")
    assert.equal('"a"', value("text", "a"))
  end)

  it("writes integers exactly", function()
    assert.equal("18446744073709551615", value("u64", "18446744073709551615"))
    assert.equal("-9223372036854775808", value("i64", "-9223372036854775808"))
    assert.equal("9007199254740993", value("u64", "9007199254740993"))
  end)

  for text, expected in pairs {
    ["0"] = "0",
    ["-0"] = "-0",
    ["1"] = "1",
    ["0.1"] = "0.1",
    ["1e21"] = "1e+21",
    ["1e-7"] = "1e-07",
    ["0.30000000000000004"] = "0.30000000000000004",
    ["123456789.125"] = "123456789.125",
    ["1.7976931348623157e308"] = "1.7976931348623157e+308",
    ["5e-324"] = "5e-324",
    ["nan"] = "null",
    ["inf"] = "null",
    ["-inf"] = "null",
  } do
    it("writes the double " .. text .. " as " .. expected, function()
      assert.equal(expected, value("double", text))
    end)
  end
end)

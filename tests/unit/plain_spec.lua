--- script/plain.c: plain data as bytes and back, through a reload.
local relay = require "tests.support.relay"

--- A filter that fills its table in the first generation, and in the next checks what is there.
local FILTER = [[
  local state, u64 = require "kvgate.state", require "kvgate.u64"
  return function()
    local kept = state.table("kept", { version = 1, max = 2^24 })
    local function check(ok, what) if not ok then error(what) end end
    if not kept.filled then
      kept.filled = true
      %s
    else
      %s
    end
    return function() return true end
  end]]

--- Holds `check` of what `fill` left, behind a reload?
local function survives(fill, check)
  local subject = relay.new(relay.FILTERED, { ["f.lua"] = FILTER:format(fill, check) })
  local done, message, told = subject.core:reload(relay.FILTERED)
  assert(done, message)
  assert.equal("", told)
end

describe("plain data", function()
  it("comes back with every type and every bit", function()
    survives([[
      kept.text, kept.bytes, kept.empty = "text", "a\0b\255", ""
      kept.numbers = { 0.1, -0, 2^53, -2^53, 1e308, 5e-324, 1/0, -1/0 }
      kept.yes, kept.no = true, false
      kept.unsigned = u64.parse "18446744073709551615"
      kept.signed = u64.signed(u64.parse "0x8000000000000001")
      kept[1], kept[-1], kept[1.5], kept[true], kept[false], kept[""] = 1, 2, 3, 4, 5, 6
      kept.nan = 0/0
    ]], [[
      check(kept.text == "text" and kept.bytes == "a\0b\255" and kept.empty == "", "texts")
      local numbers = kept.numbers
      check(#numbers == 8 and numbers[1] == 0.1 and 1 / numbers[2] < 0, "numbers")
      check(numbers[3] == 2^53, "numbers")
      check(numbers[4] == -2^53 and numbers[5] == 1e308 and numbers[6] == 5e-324, "numbers")
      check(numbers[7] == 1/0 and numbers[8] == -1/0 and kept.nan ~= kept.nan, "no numbers")
      check(kept.yes == true and kept.no == false, "booleans")
      check(u64.tostring(kept.unsigned) == "18446744073709551615", "unsigned")
      check(u64.tostring(kept.signed) == "-9223372036854775807", "signed")
      check(kept[1] == 1 and kept[-1] == 2 and kept[1.5] == 3 and kept[true] == 4
        and kept[false] == 5 and kept[""] == 6, "keys")
    ]])
  end)

  it("may be 64 tables deep, the declared one among them", function()
    survives("local at = kept for _ = 1, 63 do at.n = {} at = at.n end at.bottom = 1",
      "local at = kept for _ = 1, 63 do at = at.n end check(at.bottom == 1, 'bottom')")
  end)

  it("may name a table twice, which becomes two", function()
    survives("local one = { 1 } kept.a, kept.b = one, one",
      "check(kept.a[1] == 1 and kept.b[1] == 1 and kept.a ~= kept.b, 'one')")
  end)

  it("may be many entries and one large text", function()
    survives("kept.long = ('x'):rep(2^20) for i = 1, 100000 do kept[i] = 'entry ' .. i end",
      "check(#kept.long == 2^20 and #kept == 100000 and kept[77777] == 'entry 77777', 'entries')")
  end)
end)

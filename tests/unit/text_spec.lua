--- base/text.c: what is UTF-8, and what must not reach a terminal.
local gateway = require "gateway"

--- The bytes of a code point, without judging it.
local function encode(rune)
  local bit = require "bit"
  local function tail(shift)
    return bit.bor(0x80, bit.band(bit.rshift(rune, shift), 0x3f))
  end
  if rune < 0x80 then
    return string.char(rune)
  elseif rune < 0x800 then
    return string.char(bit.bor(0xc0, bit.rshift(rune, 6)), tail(0))
  elseif rune < 0x10000 then
    return string.char(bit.bor(0xe0, bit.rshift(rune, 12)), tail(6), tail(0))
  end
  return string.char(bit.bor(0xf0, bit.rshift(rune, 18)), tail(12), tail(6), tail(0))
end

local function is_control(rune)
  return rune < 0x20
    or (rune >= 0x7f and rune <= 0x9f)
    or rune == 0x200e
    or rune == 0x200f
    or (rune >= 0x2028 and rune <= 0x202e)
    or (rune >= 0x2066 and rune <= 0x2069)
end

describe("text", function()
  it("leaves every code point alone but surrogates and controls", function()
    for rune = 0, 0x10ffff do
      local bytes = encode(rune)
      local kept = gateway.escape(bytes) == bytes
      local plain = not is_control(rune) and (rune < 0xd800 or rune > 0xdfff)
      if kept ~= plain then
        error(("U+%04X: %s"):format(rune, gateway.escape(bytes)))
      end
    end
  end)

  it("takes no byte of a wrong form for a character", function()
    for _, bytes in ipairs {
      "\128", "\191", "\192\128", "\193\191", "\224\128\128", "\224\159\191", "\240\128\128\128",
      "\240\143\191\191", "\244\144\128\128", "\245\128\128\128", "\255", "\194", "\226\130",
      "\240\159\152", "\194A", "\226\130A",
    } do
      local expected = bytes:gsub("[\128-\255]", function(byte)
        return ("\\x%02x"):format(byte:byte())
      end)
      assert.equal(expected, gateway.escape(bytes))
    end
  end)
end)

--- script/digest.c and lua/kvgate/digest.lua: keyed digests, against an implementation in Python.
local python = require "tests.support.python"
local scripts = require "tests.support.script"
local u64 = require "kvgate.u64"
local wire = require "tests.support.wire"

--- SipHash-2-4 with 128 bits as its authors describe it; the key out of hashlib's BLAKE2b.
local ORACLE = [[
import hashlib, sys
M = 2**64 - 1
rotl = lambda x, b: (x << b | x >> (64 - b)) & M
def rounds(v, n):
    for _ in range(n):
        v[0] = (v[0] + v[1]) & M; v[1] = rotl(v[1], 13) ^ v[0]; v[0] = rotl(v[0], 32)
        v[2] = (v[2] + v[3]) & M; v[3] = rotl(v[3], 16) ^ v[2]
        v[0] = (v[0] + v[3]) & M; v[3] = rotl(v[3], 21) ^ v[0]
        v[2] = (v[2] + v[1]) & M; v[1] = rotl(v[1], 17) ^ v[2]; v[2] = rotl(v[2], 32)
def siphash(key, data):
    k = [int.from_bytes(key[:8], "little"), int.from_bytes(key[8:], "little")]
    v = [k[0] ^ 0x736f6d6570736575, k[1] ^ 0x646f72616e646f6d ^ 0xee,
         k[0] ^ 0x6c7967656e657261, k[1] ^ 0x7465646279746573]
    tail = data[len(data) // 8 * 8:]
    data = data[:len(data) - len(tail)] + tail.ljust(7, b"\0") + bytes([LENGTH(data) & 255])
    for at in range(0, len(data), 8):
        m = int.from_bytes(data[at:at + 8], "little")
        v[3] ^= m; rounds(v, 2); v[0] ^= m
    v[2] ^= 0xee; rounds(v, 4); first = v[0] ^ v[1] ^ v[2] ^ v[3]
    v[1] ^= 0xdd; rounds(v, 4); second = v[0] ^ v[1] ^ v[2] ^ v[3]
    return first.to_bytes(8, "little") + second.to_bytes(8, "little")
LENGTH = len
for line in sys.stdin:
    secret, data = (bytes.fromhex(word[1:]) for word in line.split())
    print(siphash(hashlib.blake2b(secret, digest_size=16).digest(), data).hex())
]]

local function in_hex(bytes)
  return "x" .. bytes:gsub(".", function(byte) return ("%02x"):format(byte:byte()) end)
end

--- A filter's words about `keyed`, a digest of "secret", as a body.
local function body(text)
  return 'local keyed = require("kvgate.digest").new "secret"\n'
    .. 'local u64 = require "kvgate.u64"\n' .. text
end

--- What an expression is, as text; the event has a field `it`.
local function seen(expression, it)
  return scripts.seen(body("return " .. expression), wire.event { it = it })
end

--- What the field is behind keyed:replace.
local function replaced(it, name)
  local report = scripts.try(body(('keyed:replace(event, %q) return event'):format(name or "it")),
    { wire.event { it = it, seq_hashes = it } })
  assert(#report.failures == 0, report.failures[1] and report.failures[1].error)
  return wire.get(report.events[1].map, name or "it")
end

describe("a digest", function()
  it("is SipHash-2-4-128 under the secret's BLAKE2b, for texts of every length", function()
    local lines = {}
    for size = 0, 70 do
      lines[size + 1] = in_hex(("s"):rep(size)) .. " " .. in_hex(("\0a\xff"):rep(30):sub(1, size))
    end
    local expected = python.lines(ORACLE, lines)
    local text = scripts.seen([[
      local digest = require "kvgate.digest"
      local list = {}
      for size = 0, 70 do
        local text = ("\0a\xff"):rep(30):sub(1, size)
        list[size + 1] = digest.new(("s"):rep(size)):hex(text)
      end
      return table.concat(list, " ")]])
    assert.equal(table.concat(expected, " "), text)
  end)

  it("has its first 16 digits as an integer", function()
    assert.equal("true", seen 'keyed:u64("abc") == u64.high(keyed:hex "abc")')
  end)

  it("is that of the eight bytes of an integer, whatever type it has", function()
    assert.equal("true", seen 'keyed:u64(5) == keyed:u64 "\\0\\0\\0\\0\\0\\0\\0\\5"')
    assert.equal("true", seen "keyed:u64(5) == keyed:u64(5ULL)")
    assert.equal("true", seen 'keyed:u64(-1LL) == keyed:u64(("\\255"):rep(8))')
  end)

  it("of a field is that of what it holds, be it in a list of one", function()
    assert.equal("true", seen('keyed:field(event, "it") == keyed:u64 "abc"', "abc"))
    assert.equal("true", seen('keyed:field(event, "it") == keyed:u64 "abc"', wire.bin "abc"))
    assert.equal("true", seen('keyed:field(event, "it") == keyed:u64(7)', { 7 }))
    assert.equal("true", seen('keyed:field(event, "it") == keyed:u64(-7LL)', -7))
  end)

  it("of a field that holds nothing is nil", function()
    assert.equal("nil", seen('keyed:field(event, "it")', wire.null))
    assert.equal("nil", seen('keyed:field(event, "it")', {}))
    assert.equal("nil", seen('keyed:field(event, "nothing")', 1))
  end)

  it("takes a field's place: digits for a text, integers for integers, member by member", function()
    local text = seen 'keyed:hex "abc"'
    assert.equal(text, replaced "abc")
    assert.same(wire.bin(text), replaced(wire.bin "abc"))
    assert.equal(seen "u64.tostring(keyed:u64(7))", u64.tostring(replaced(7)))
    local list = replaced({ 7, "abc" })
    assert.equal(seen "u64.tostring(keyed:u64(7))", u64.tostring(list[1]))
    assert.equal(text, list[2])
    assert.equal(seen "u64.tostring(keyed:u64(7))",
      u64.tostring(replaced({ 7 }, "seq_hashes")[1]))
  end)

  it("leaves nothing where nothing was", function()
    assert.equal(wire.null, replaced(wire.null))
    assert.equal(0, #replaced {})
    assert.is_nil(replaced(1, "absent"))
  end)

  it("is the value of the field as it is now, edited or not", function()
    assert.equal("true", seen('(function() event.it = "new" '
      .. 'return keyed:field(event, "it") == keyed:u64 "new" end)()', "old"))
  end)

  local OTHER = "event.it is neither a text nor an integer, nor a list of up to 65536 of them"
  local refused = {
    { 'keyed:field(event, "it")', true, OTHER },
    { 'keyed:field(event, "it")', { { 1 } }, OTHER },
    { 'keyed:field(event, "it")', { 1, 2 },
      "event.it is a list of several, which have no digest in common" },
    { 'keyed:replace(event, "it")', 1.5, OTHER },
    { 'keyed:replace(event, "it")', { 1, true }, OTHER },
    { 'keyed:replace(event, "it")', { 1, wire.null }, OTHER },
    { 'keyed:replace(event, "event_id")', 1, "event.event_id is read-only: streams stamp it" },
    { "keyed:replace(event, 5)", 1, "a field's name is a string, not the number 5" },
    { "keyed:field(event, 5)", 1, "a field's name is a string, not the number 5" },
    { 'keyed:field(5, "it")', 1,
      "not an event: methods are called with a colon, as in event:copy()" },
    { "keyed:hex(5)", 1, "hex takes a string, not the number 5" },
    { "keyed:u64(1.5)", 1, "1.5 is no exact 64-bit integer" },
    { "(function() keyed.hex = nil end)()", 1, "a digest cannot be changed" },
    { 'require("kvgate.digest").new(5)', 1, "a secret is a string, not a number" },
  }
  for _, case in ipairs(refused) do
    it("refuses " .. case[1] .. " of " .. tostring(case[2]), function()
      local told = scripts.error_of(body("local _ = " .. case[1] .. " return event"),
        wire.event { it = case[2] })
      assert.equal(case[3], told)
    end)
  end
end)

--- base/recording: files that were written by hand, and files that lie.
--
-- The bytes are spelt out here and the checksums are zlib's.

local folder = require "tests.support.folder"
local gateway = require "gateway"
local python = require "tests.support.python"
local wire = require "tests.support.wire"

local recording = gateway.recording

-- ---- a recording by hand ----

local function be(value, size)
  return wire.seq(value):sub(9 - size)
end

local function head(...)
  local names = ""
  for _, name in ipairs { ... } do names = names .. be(#name, 2) .. name end
  return "\x89KVGREC\n" .. be(1, 4) .. be(1700000000123, 8) .. be(select("#", ...), 2) .. names
end

local function crc(bytes)
  local text = python.run("import sys, zlib; print(zlib.crc32(sys.stdin.buffer.read()))", bytes)
  return be(tonumber(text), 4)
end

local function body(time, stream, frames)
  local parts = { be(time, 8), be(stream, 2), be(#frames, 2) }
  for _, frame in ipairs(frames) do parts[#parts + 1] = be(#frame, 4) .. frame end
  return table.concat(parts)
end

local function sealed(bytes) return be(#bytes, 4) .. bytes .. crc(bytes) end

local function message(...) return sealed(body(...)) end

local function read(bytes)
  local path = folder.file(bytes)
  local result, why = recording.read(path)
  local text = why or result.error
  return result, text and text:gsub(path:gsub("%p", "%%%0"), "FILE")
end

local FIRST = { "", wire.seq(7), "\x93\0\x90\0" }

describe("a recording", function()
  it("is written as the page says", function()
    assert.equal(wire.hex(head("acme", "tcp://127.0.0.1:1")),
      wire.hex(recording.head("1700000000123", { "acme", "tcp://127.0.0.1:1" })))
    local large = ("x"):rep(70000)
    for _, frames in ipairs { FIRST, { "" }, { "a", "b", "c", "d", large } } do
      assert.is_true(message(2 ^ 40, 1, frames) ==
        recording.message("1099511627776", 1, frames))
    end
  end)

  it("is read as it was written by hand, a second time too", function()
    local large = ("y"):rep(3 * 1024 * 1024)
    local result, why = read(head("a", "") .. message(5, 0, FIRST) ..
      message(6, 1, { "only" }) .. message(2 ^ 40, 1, { "t", "", large, "more" }))
    assert.is_nil(why)
    assert.equal("1700000000123", result.began_ms)
    assert.same({ "a", "" }, result.streams)
    assert.same({ time_ns = "5", stream = "0", frames = FIRST }, result.messages[1])
    assert.same({ time_ns = "6", stream = "1", frames = { "only" } }, result.messages[2])
    assert.equal("1099511627776", result.messages[3].time_ns)
    assert.is_true(result.messages[3].frames[3] == large)
    assert.equal(3, #result.messages)
  end)

  it("keeps times of 64 bits", function()
    local bytes = recording.head("0", { "a" }) ..
      recording.message("18446744073709551615", 0, { "" })
    assert.equal("18446744073709551615", read(bytes).messages[1].time_ns)
  end)

  it("may have no message", function()
    local result, why = read(head "a")
    assert.same({}, result.messages)
    assert.is_nil(why)
  end)
end)

describe("a file that is no recording", function()
  it("is refused with a sentence", function()
    local foreign = "FILE: this is no recording of kvgate tap --record"
    for _, case in ipairs {
      { "", foreign },
      { '{"seq":1}\n', foreign },
      { "\x89KVGREC\r\n" .. be(1, 4), foreign },
      { "\x89KVGREC\n", "FILE: the file ends in its head" },
      { "\x89KVGREC\n" .. be(2, 4),
        "FILE: a recording of version 2, this program reads version 1" },
      { head(), "FILE: damaged: it has no stream, or more than it can have" },
      { head "abc":sub(1, -2), "FILE: the file ends in its head" },
      { "\x89KVGREC\n" .. be(1, 4) .. be(0, 8) .. be(65535, 2),
        "FILE: damaged: it has no stream, or more than it can have" },
      { "\x89KVGREC\n" .. be(1, 4) .. be(0, 8) .. be(1, 2) .. be(65535, 2),
        "FILE: damaged: the name of a stream is longer than it can be" },
    } do
      local result, why = read(case[1])
      assert.is_nil(result)
      assert.equal(case[2], why)
    end
  end)

  it("is refused when it is not there, or a directory", function()
    local _, why = recording.read "/no/such/file"
    assert.equal("/no/such/file: No such file or directory", why)
    _, why = recording.read "/tmp"
    assert.equal("/tmp: Is a directory", why)
  end)
end)

describe("a damaged recording", function()
  local function refusal(second)
    local result, why = read(head "a" .. message(1, 0, FIRST) .. second)
    assert.equal(1, #result.messages, "what is whole is read")
    return (why:gsub("^FILE: message 2: ", ""))
  end

  it("says where the file was cut off", function()
    local whole = message(2, 0, FIRST)
    for size = 1, #whole - 1 do
      assert.truthy(refusal(whole:sub(1, size)):find "^the file ends in it")
    end
  end)

  it("tells a changed byte by the checksum", function()
    local whole = message(2, 0, FIRST)
    for at = 5, #whole do
      local changed = whole:sub(1, at - 1) .. string.char((whole:byte(at) + 1) % 256)
        .. whole:sub(at + 1)
      assert.equal("damaged: its checksum does not fit", refusal(changed))
    end
  end)

  it("does not believe sizes, whatever the checksum says", function()
    local impossible = "damaged: it has a size that none can have"
    assert.equal(impossible, refusal(be(0, 4)))
    assert.equal(impossible, refusal(be(11, 4)))
    assert.equal(impossible, refusal(be(4294967295, 4)))
    assert.truthy(refusal(be(2 ^ 28, 4)):find "^the file ends in it")
    local wrong = "damaged: its frames are not what it says"
    for _, bytes in ipairs {
      body(2, 1, FIRST), body(2, 0, {}), body(2, 0, FIRST) .. "x",
      body(2, 0, FIRST):sub(1, -2), be(2, 8) .. be(0, 2) .. be(17, 2),
      be(2, 8) .. be(0, 2) .. be(1, 2) .. be(4294967295, 4),
      be(2, 8) .. be(0, 2) .. be(1, 2) .. "abc",
    } do
      assert.equal(wrong, refusal(sealed(bytes)))
    end
  end)
end)

--- base/log.c: one line a call, nothing forged, nothing without end.
local gateway = require "gateway"

local HEAD = "2026-11-30T23:01:02.345Z "
local TIME = 1796079662345

local function line(level, text)
  return gateway.log_line(TIME, level, text)
end

describe("log", function()
  it("writes time, level and text", function()
    assert.equal(HEAD .. "error a\n", line("error", "a"))
    assert.equal(HEAD .. "warn  a\n", line("warn", "a"))
    assert.equal(HEAD .. "info  a\n", line("info", "a"))
    assert.equal(HEAD .. "debug a\n", line("debug", "a"))
    assert.equal("1970-01-01T00:00:00.007Z info  a\n", gateway.log_line(7, "info", "a"))
  end)

  it("knows no other level", function()
    assert.has_error(function()
      line("warning", "a")
    end, "no such level")
  end)

  local cases = {
    { "a second line", "a\nb\r\n\tc", "a\\nb\\r\\n\\tc" },
    { "a colour", "\27[31mred", "\\x1b[31mred" },
    { "a NUL", "a\0b", "a\\x00b" },
    { "a control of ISO 8859", "\194\155", "\\xc2\\x9b" },
    { "an override of direction", "\226\128\174b\226\129\166", "\\xe2\\x80\\xaeb\\xe2\\x81\\xa6" },
    { "a separator of lines", "\226\128\168", "\\xe2\\x80\\xa8" },
    { "bytes that are not UTF-8", "a\255\192\128", "a\\xff\\xc0\\x80" },
  }
  for _, case in ipairs(cases) do
    it("escapes " .. case[1], function()
      assert.equal(HEAD .. "info  " .. case[3] .. "\n", line("info", case[2]))
    end)
  end

  it("leaves all other text as it is", function()
    local text = "tenant \"é\" at 10.0.0.1 \\ € 😀 'x' %s"
    assert.equal(HEAD .. "info  " .. text .. "\n", line("info", text))
  end)

  it("cuts what is too long, and shows that", function()
    local written = line("info", ("x"):rep(100000))
    assert.equal(HEAD .. "info  " .. ("x"):rep(8192) .. "...\n", written)
  end)
end)

describe("a log gate", function()
  local gate = gateway.log_gate

  it("lets ten lines of a window pass and counts the rest", function()
    local calls, expected = {}, {}
    for i = 1, 15 do
      calls[i], expected[i] = { "admit", 1000 + i }, i <= 10
    end
    calls[16], expected[16] = { "close", 1001 + 9999 }, 0
    calls[17], expected[17] = { "close", 1001 + 10000 }, 5
    calls[18], expected[18] = { "close", 1001 + 20000 }, 0
    calls[19], expected[19] = { "admit", 30000 }, true
    assert.same(expected, gate(calls))
  end)

  it("opens its window with the first line, not before", function()
    assert.same({ 0, true, 0, 0 },
      gate { { "close", 50000 }, { "admit", 60000 }, { "close", 69999 }, { "close", 70000 } })
  end)

  it("opens at time 0 too", function()
    local calls = {}
    for i = 1, 11 do
      calls[i] = { "admit", 0 }
    end
    calls[12] = { "close", 10000 }
    local returned = gate(calls)
    assert.is_false(returned[11])
    assert.equal(1, returned[12])
  end)
end)

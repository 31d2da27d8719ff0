--- relay/sequence.c: every judgement and every number handed out, as tables.
local gateway = require "gateway"
local ffi = require "ffi"

--- Eight big-endian bytes of a number or uint64_t.
local function bytes(number)
  local value, out = ffi.cast("uint64_t", number), {}
  for i = 8, 1, -1 do
    out[i] = string.char(tonumber(value % 256))
    value = value / 256
  end
  return table.concat(out)
end

local MAX = 18446744073709551615ULL

describe("sequence", function()
  --- Each step: number, first id, last id -> verdict, missing, guard.
  local function judges(name, guard, steps)
    it(name, function()
      local tracker = gateway.tracker(guard)
      for i, step in ipairs(steps) do
        local verdict, missing, owed =
          tracker:track(bytes(step[1]), bytes(step[2]), bytes(step[3]))
        local at = "step " .. i
        assert.equal(step[4], verdict, at)
        assert.equal(bytes(step[5] or 0), missing, at)
        assert.equal(step[6] or false, owed, at)
      end
    end)
  end

  judges("takes any first number, for nobody has state from this publisher yet", true, {
    { 7, 3, 9, "first" },
    { 8, 10, 10, "next" },
  })
  judges("counts the numbers that are missing", false, {
    { 1, 1, 1, "first" },
    { 2, 2, 2, "next" },
    { 6, 3, 3, "gap", 3 },
    { 7, 4, 4, "next" },
    { 9, 5, 5, "gap", 1 },
  })
  judges("calls a number that goes back a restart", false, {
    { 5, 50, 60, "first" },
    { 1, 1, 2, "restart" },
    { 2, 3, 4, "next" },
  })
  judges("calls a number that repeats a restart", false, {
    { 5, 50, 60, "first" },
    { 5, 61, 62, "restart" },
    { 6, 63, 64, "next" },
  })
  judges("calls an event_id that goes back a restart, though the number is next", false, {
    { 1, 1, 9, "first" },
    { 2, 1, 1, "restart" },
    { 3, 2, 2, "next" },
  })
  judges("calls an event_id that goes back a restart, though numbers are missing", false, {
    { 1, 1, 9, "first" },
    { 5, 9, 12, "restart" },
    { 6, 13, 13, "next" },
  })
  judges("does not mistake holes in event_id for anything", false, {
    { 1, 1, 1, "first" },
    { 2, 900, 950, "next" },
    { 3, 951, 951, "next" },
  })
  judges("keeps the last event_id over messages that carry none", false, {
    { 1, 5, 9, "first" },
    { 2, 0, 0, "next" },
    { 3, 9, 9, "restart" },
  })
  judges("forgets the old publisher's ids at a restart", false, {
    { 9, 5, 90, "first" },
    { 1, 0, 0, "restart" },
    { 2, 1, 1, "next" },
  })
  judges("is exact at the upper end of 64 bits", false, {
    { MAX - 3, 1, 1, "first" },
    { MAX - 2, 2, MAX - 1, "next" },
    { MAX, MAX, MAX, "gap", 1 },
    { 1, 1, 1, "restart" },
  })
  judges("measures a gap of nearly 2^64", false, {
    { 0, 0, 0, "first" },
    { MAX, 0, 0, "gap", MAX - 1 },
  })
  judges("tells apart numbers that a double would not", false, {
    { 9007199254740992ULL, 1, 1, "first" },
    { 9007199254740993ULL, 2, 2, "next" },
    { 9007199254740993ULL, 3, 3, "restart" },
  })

  judges("owes a mark behind the batch that showed a gap", true, {
    { 1, 1, 1, "first" },
    { 4, 2, 2, "gap", 2 },
    { 5, 3, 3, "next", 0, true },
    { 6, 4, 4, "next" },
  })
  judges("owes no mark when a new gap follows anyway, but one behind that", true, {
    { 1, 1, 1, "first" },
    { 4, 2, 2, "gap", 2 },
    { 7, 3, 3, "gap", 2 },
    { 8, 4, 4, "next", 0, true },
  })
  judges("owes no mark when a restart follows", true, {
    { 1, 1, 1, "first" },
    { 4, 2, 2, "gap", 2 },
    { 1, 1, 1, "restart" },
    { 2, 2, 2, "next" },
  })
  -- Found by the gap model: a restarted master's queue dropped events while its worker still held
  -- the first batch without a number.
  judges("owes a mark behind the first batch of a restart that is past number 1", true, {
    { 1, 1, 2, "first" },
    { 7, 1, 1, "restart" },
    { 8, 2, 5, "next", 0, true },
    { 9, 6, 6, "next" },
  })
  judges("owes nothing without the guard", false, {
    { 1, 1, 1, "first" },
    { 4, 2, 2, "gap", 2 },
    { 5, 3, 3, "next" },
  })

  it("pays an owed mark once", function()
    local tracker = gateway.tracker(true)
    tracker:track(bytes(1), bytes(0), bytes(0))
    tracker:track(bytes(3), bytes(0), bytes(0))
    assert.is_true(tracker:close_guard())
    assert.is_false(tracker:close_guard())
    local _, _, owed = tracker:track(bytes(4), bytes(0), bytes(0))
    assert.is_false(owed)
  end)

  it("hands out numbers from 1, each once, with holes only where reserved", function()
    local stamper = gateway.stamper()
    local last, silent = stamper:last()
    assert.equal(bytes(0), last)
    assert.is_false(silent)
    assert.equal(bytes(1), stamper:take())
    assert.equal(bytes(2), stamper:take())
    assert.equal(bytes(3), stamper:reserve(bytes(3)))
    last, silent = stamper:last()
    assert.equal(bytes(5), last)
    assert.is_true(silent)
    assert.equal(bytes(6), stamper:take())
    last, silent = stamper:last()
    assert.equal(bytes(6), last)
    assert.is_false(silent)
  end)

  it("reserves at least 1 and at most 2^20 numbers", function()
    for _, case in ipairs {
      { 0, 1 },
      { 1, 1 },
      { 1048575, 1048575 },
      { 1048576, 1048576 },
      { 1048577, 1048576 },
      { MAX, 1048576 },
    } do
      assert.equal(bytes(case[2]), gateway.stamper():reserve(bytes(case[1])))
    end
  end)

  it("hands out event_ids that no loss interrupts", function()
    local stamper = gateway.stamper()
    assert.equal(bytes(1), stamper:take_id())
    stamper:reserve(bytes(10))
    assert.equal(bytes(2), stamper:take_id())
  end)
end)

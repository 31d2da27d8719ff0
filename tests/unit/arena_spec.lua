--- base/arena.c: blocks of one message never overlap, never move, never pass the limit.
local gateway = require "gateway"

--- Which of `sizes` a new arena granted, in its first message and after a reset; or after a rewind
--- to behind the first `kept`, which must be intact.
local function take(limit, sizes, kept)
  local granted = gateway.arena(limit, sizes, kept)
  local first, second = {}, {}
  for i = 1, #sizes do
    first[i], second[i] = granted[i], granted[#sizes + i]
  end
  return first, second
end

describe("arena", function()
  it("keeps blocks of all sizes apart and aligned", function()
    local sizes, all = {}, {}
    for i = 1, 1000 do
      sizes[i], all[i] = (i * 37) % 3001, true
    end
    local first, second = take(1e8, sizes)
    assert.same(all, first)
    assert.same(all, second)
  end)

  it("grants a block larger than its chunks", function()
    assert.same({ true, true, true }, (take(1e8, { 10, 5000000, 10 })))
  end)

  it("refuses what passes the limit, and grants it again in the next message", function()
    local first, second = take(1024, { 512, 513, 512, 1 })
    assert.same({ true, false, true, false }, first)
    assert.same(first, second)
  end)

  it("grants what a rewind forgot again, and leaves the rest as it was", function()
    assert.same({ true, true, true }, select(2, take(1024, { 500, 300, 200 }, 1)))
    assert.same({ true, true, false }, select(2, take(1024, { 500, 512, 100 }, 2)))
    local sizes, all = {}, {}
    for i = 1, 1000 do
      sizes[i], all[i] = (i * 997) % 20011, true
    end
    for _, kept in ipairs { 1, 2, 500, 999, 1000 } do
      local first, second = take(1e8, sizes, kept)
      assert.same(all, first)
      assert.same(all, second)
    end
    assert.same({ true, true, true }, select(2, take(1e8, { 10, 5000000, 10 }, 1)))
  end)

  it("grants a block of nothing", function()
    assert.same({ true, true }, (take(16, { 0, 16 })))
  end)

  it("refuses sizes that would wrap around", function()
    assert.same({ false, false, true }, (take(1024, { 2 ^ 63, 2 ^ 64 - 2048, 1 })))
  end)
end)

--- base/buffer.c: what was written is there, in order.
local gateway = require "gateway"

describe("buffer", function()
  it("holds what was put and printed", function()
    assert.equal("abababab", gateway.buffer("ab", 4))
  end)

  it("grows", function()
    local text = ("0123456789"):rep(100)
    assert.equal(text:rep(1000), gateway.buffer(text, 1000))
  end)

  it("holds nothing at first", function()
    assert.equal("", gateway.buffer("x", 0))
    assert.equal("", gateway.buffer("", 9))
  end)

  it("keeps a NUL that was put", function()
    assert.equal("a\0b", gateway.buffer("a\0b", 1))
  end)
end)

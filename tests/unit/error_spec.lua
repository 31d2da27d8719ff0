--- base/error.c: the first message wins, prefixed, bounded.
local gateway = require "gateway"

describe("error", function()
  it("keeps the first message and puts a prefix before it", function()
    assert.equal("config: no such file", gateway.error("no such file", "too late", "config"))
  end)

  it("takes the second when the first is empty", function()
    assert.equal("p: second", gateway.error("", "second", "p"))
  end)

  it("cuts what is too long, and shows that", function()
    local long = ("x"):rep(5000)
    assert.equal("p: " .. ("x"):rep(4089) .. "...", gateway.error(long, "b", "p"))
    assert.equal(("x"):rep(4092) .. "...", gateway.error("a", "b", long))
    assert.equal("pp: " .. ("x"):rep(4088) .. "...", gateway.error(("x"):rep(4092), "b", "pp"))
  end)
end)

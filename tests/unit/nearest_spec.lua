--- base/nearest.c: what a misspelt word was probably meant to be.
local gateway = require "gateway"

local function nearest(word, ...) return (gateway.nearest(word, { ... })) end

describe("nearest", function()
  it("forgives one edit of two letters, two of a word, three of a long one", function()
    assert.equal("tp", nearest("tt", "tp"))
    assert.is_nil(nearest("xy", "tp"))
    assert.equal("tap", nearest("tpa", "tap"))
    assert.equal("sources", nearest("sxurcxs", "sources"))
    assert.is_nil(nearest("sxurxxs", "sources"))
    assert.equal("drop-every", nearest("drxp-xvexy", "drop-every"))
    assert.is_nil(nearest("drxp-xvexx", "drop-every"))
  end)

  it("takes an abbreviation for the whole, and a whole with an ending", function()
    assert.equal("convention", nearest("conv", "template", "convention"))
    assert.equal("bind", nearest("bind-address", "bind"))
    assert.is_nil(nearest("co", "convention"))
  end)

  it("prefers the nearer, and of two as near the first", function()
    assert.equal("filters", nearest("filter", "fitter5", "filters"))
    assert.equal("card", nearest("caxd", "card", "cald"))
  end)

  it("says how far it is: nothing for the word itself", function()
    assert.same({ "bind", 0 }, { gateway.nearest("bind", { "kind", "bind" }) })
    assert.same({ "bind", 1 }, { gateway.nearest("bnd", { "bind" }) })
  end)

  it("does not guess what shares no letter, nor for a word without an end", function()
    assert.is_nil(nearest("x", "y"))
    assert.is_nil(nearest("", "a"))
    assert.is_nil(nearest(("a"):rep(129), ("a"):rep(129)))
    assert.is_nil(nearest("aaa", ("a"):rep(129)))
  end)
end)

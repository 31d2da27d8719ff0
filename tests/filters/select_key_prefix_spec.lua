local filter = require "kvgate.testing"

local function kept(options, events)
  return filter.kept("select_key_prefix.lua", options, events)
end

describe("select_key_prefix", function()
  local events = {
    { event_type = "stored", object_key = "prod@m@1" },
    { event_type = "removed", object_key = "prod@" },
    { event_type = "stored", object_key = "prod" },
    { event_type = "stored", object_key = "test@prod@" },
    { event_type = "stored", object_key = filter.null },
    { event_type = "removed", object_key = filter.absent },
    { event_type = "stored", object_key = "[{x}]\\\0\255prod@" },
  }

  it("keeps keys that start in a listed way", function()
    assert.same({ true, true, false, false, false, false, false }, kept({ keep = "prod@" }, events))
    assert.same({ true, true, true, true, false, false, false },
      kept({ keep = { "prod", "test" } }, events))
  end)

  it("drops keys that start in a listed way", function()
    assert.same({ false, false, true, true, true, true, true },
      kept({ drop = { "prod@" } }, events))
  end)

  it("takes braces, brackets and backslashes as they are", function()
    assert.same({ false, false, false, false, false, false, true },
      kept({ keep = "[{x}]\\" }, events))
  end)

  it("passes cleared, which names no key and retracts them all", function()
    local cleared = { { event_type = "cleared" }, { event_type = "cleared", medium = "cpu" } }
    assert.same({ true, true }, kept({ keep = "prod@" }, cleared))
    assert.same({ true, true }, kept({ drop = "prod@" }, cleared))
  end)

  it("refuses options that it does not know", function()
    local why = filter.mistake("select_key_prefix.lua", { prefix = "prod@" })
    assert.truthy(why:find('unknown option "prefix"; known are drop, keep', 1, true), why)
  end)
end)

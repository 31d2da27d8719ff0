local testing = require "kvgate.testing"

describe("select_key_prefix", function()
  local function filter(options) return testing.filter("select_key_prefix.lua", options) end

  it("keeps keys that start in a listed way, as they are", function()
    local prod = filter { keep = "prod@" }
    prod:keeps { object_key = "prod@m@1" }
    prod:keeps { event_type = "removed", object_key = "prod@" }
    for _, key in ipairs { "prod", "test@prod@", testing.null, testing.absent } do
      prod:drops { object_key = key }
    end
    filter({ keep = { "prod", "test" } }):keeps { object_key = "test@prod@" }
  end)

  it("drops keys that start in a listed way", function()
    local prod = filter { drop = { "prod@" } }
    prod:drops { object_key = "prod@m@1" }
    for _, key in ipairs { "prod", "test@prod@", testing.null, testing.absent } do
      prod:keeps { object_key = key }
    end
  end)

  it("takes braces, brackets and backslashes as they are", function()
    local odd = filter { keep = "[{x}]\\" }
    odd:keeps { object_key = "[{x}]\\\0\255prod@" }
    odd:drops { object_key = "x" }
  end)

  it("passes cleared, which names no key and retracts them all", function()
    for _, option in ipairs { "keep", "drop" } do
      local subject = filter { [option] = "prod@" }
      subject:keeps { event_type = "cleared" }
      subject:keeps { event_type = "cleared", medium = "cpu" }
    end
  end)

  it("refuses options that it does not know", function()
    testing.refuses("select_key_prefix.lua", { prefix = "prod@" },
      'unknown option "prefix"; known are drop, keep')
  end)
end)

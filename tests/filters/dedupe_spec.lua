local testing = require "kvgate.testing"

local function stored(fields)
  local event = { event_type = "stored", object_key = "k" }
  for name, value in pairs(fields or {}) do event[name] = value end
  return event
end

local function removed(fields)
  local event = stored(fields)
  event.event_type = "removed"
  return event
end

local function sources(options)
  return testing.chain({ { script = "dedupe.lua", options = options } },
    { sources = { "a", "b" } })
end

describe("dedupe", function()
  it("forwards the first stored and no repeat of it, byte for byte", function()
    local subject = testing.filter "dedupe.lua"
    subject:keeps(stored())
    subject:drops(stored())
    subject:keeps(removed())
    subject:drops(removed())
    subject:keeps(stored())
  end)

  for _, field in ipairs { "object_key", "backend_id", "tenant_id", "medium" } do
    it("takes objects of another " .. field .. " for others", function()
      local subject = testing.filter "dedupe.lua"
      local other = { [field] = "other" }
      subject:keeps(stored())
      subject:keeps(stored(other))
      subject:keeps(removed(other))
      subject:drops(stored())
      subject:keeps(removed())
    end)
  end

  it("forwards the removed of the last source that has the object", function()
    local subject = sources()
    assert.equal("kept", subject:send(stored(), "a").verdict)
    assert.equal("dropped", subject:send(stored(), "b").verdict)
    assert.equal("dropped", subject:send(removed(), "a").verdict)
    assert.equal("dropped", subject:send(removed(), "a").verdict)
    assert.equal("kept", subject:send(removed(), "b").verdict)
  end)

  it("counts copies where each stored is one", function()
    local subject = testing.filter("dedupe.lua", { copies = true })
    subject:keeps(stored())
    for _ = 1, 99 do subject:drops(stored()) end
    for _ = 1, 99 do subject:drops(removed()) end
    subject:keeps(removed())
    subject:drops(removed())
    subject:keeps(stored())
  end)

  it("forgets what a cleared retracts, and passes it", function()
    local subject = testing.filter "dedupe.lua"
    subject:keeps(stored())
    subject:keeps(stored { tenant_id = "other" })
    subject:keeps { event_type = "cleared" }
    subject:keeps(stored())
    subject:drops(stored { tenant_id = "other" })
  end)

  it("tells readers what a loss left in doubt, and forwards it anew", function()
    local subject = testing.filter "dedupe.lua"
    subject:keeps(stored())
    local told = subject:gap().streams.out
    assert.equal(1, #told)
    assert.equal("cleared", told[1].event_type)
    assert.equal("mooncake", told[1].backend_id)
    assert.equal("default", told[1].tenant_id)
    subject:drops(removed())
    subject:keeps(stored())
    assert.equal("cleared", subject:restart().streams.out[1].event_type)
  end)

  it("passes what is of no object, and events of another type", function()
    local subject = testing.filter "dedupe.lua"
    for _ = 1, 2 do
      subject:keeps(stored { object_key = testing.absent })
      subject:keeps { event_type = "updated", object_key = "k" }
    end
  end)

  it("loses what there is no room for, by the name of the option", function()
    local subject = testing.filter("dedupe.lua", { objects = 1 })
    subject:keeps(stored())
    subject:loses(stored { object_key = "other" }, 'option "objects": all 1 are taken')
    subject:drops(stored())
    subject:keeps(removed())
    subject:keeps(stored { object_key = "other" })
  end)

  it("refuses what it does not know", function()
    local function mistake(options) return testing.mistake("dedupe.lua", options) end
    assert.truthy(mistake({ size = 1 }):find('unknown option "size"', 1, true))
    assert.truthy(mistake({ objects = 0 }):find("expected 1 to", 1, true))
  end)
end)

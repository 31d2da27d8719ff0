--- relay/continuity.c: numbers that outlive what they belong to.
local relay = require "tests.support.relay"
local event = relay.event
local TWO = relay.TWO

describe("continuity", function()
  it("goes on behind a gap when a reload took a stream away and another brought it back", function()
    local subject = relay.new(TWO)
    subject:send { event "a" }
    assert.equal("1:a", subject:out "mine")
    assert.is_true(subject.core:reload((TWO:gsub("[^\n]*name: mine[^\n]*\n", ""))))
    subject:send { event "missed" }
    assert.is_true(subject.core:reload(TWO))
    subject:send { event "b" }
    assert.equal("3:b", subject:out "mine")
  end)

  it("keeps the numbers of streams that change their place in the configuration", function()
    local subject = relay.new(TWO)
    subject:send { event "a" }
    local head, streams = TWO:match "^(.*\nstreams:\n)(.*)$"
    local lines = {}
    for line in streams:gmatch "[^\n]+\n" do
      table.insert(lines, 1, line)
    end
    assert.is_true(subject.core:reload(head .. table.concat(lines)))
    subject:send { event "b" }
    assert.equal("1:a 2:b", subject:out "mine")
    assert.equal("1:a 2:b", subject:out "both")
    assert.equal("", subject:out "theirs")
  end)

  it("judges a source by what it said before a reload", function()
    local subject = relay.new(TWO)
    subject:send({ event "a" }, { seq = 5 })
    assert.is_true(subject.core:reload(TWO))
    subject:send({ event "b" }, { seq = 8 })
    assert.equal("1:a 4:b", subject:out "mine")
  end)
end)

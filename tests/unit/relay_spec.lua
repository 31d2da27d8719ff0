--- relay/relay.c: the promise, sentence by sentence, on bytes.
local relay = require "tests.support.relay"
local wire = require "tests.support.wire"
local event = relay.event
local TWO, ONE, FILTERED, PICKY = relay.TWO, relay.ONE, relay.FILTERED, relay.PICKY

describe("relay", function()
  it("numbers the messages of a stream from 1, one by one", function()
    local subject = relay.new(ONE)
    subject:send { event "a" }
    subject:send { event "b", event "c" }
    assert.equal("1:a 2:b,c", subject:out "out")
    subject:assert_identity "out"
  end)

  it("leaves no gap for what a filter drops, and sends nothing for an emptied batch", function()
    local subject = relay.new(FILTERED, { ["f.lua"] = PICKY })
    subject:send { event "a", event "d1" }
    subject:send { event "d2", event "d3" }
    subject:send { event "b" }
    assert.equal("1:a 2:b", subject:out "out")
    subject:assert_identity "out"
  end)

  it("reserves as many numbers as upstream misses, on the streams the source reaches", function()
    local subject = relay.new(TWO)
    subject:send({ event "a" }, { seq = 1 })
    subject:send({ event "z" }, { source = "other", seq = 1 })
    subject:send({ event "b" }, { seq = 5 })
    subject:send({ event "y" }, { source = "other", seq = 2 })
    assert.equal("1:a 2:z 6:b 7:y", subject:out "both")
    assert.equal("1:a 5:b", subject:out "mine")
    assert.equal("1:z 2:y", subject:out "theirs")
    subject:assert_identity("both", "mine", "theirs")
  end)

  it("caps the width of one loss at 2^20", function()
    local subject = relay.new(ONE)
    subject:send({ event "a" }, { seq = 1 })
    subject:send({ event "b" }, { seq = 1000000000 })
    assert.equal("1:a 1048578:b", subject:out "out")
    subject:assert_identity "out"
  end)

  it("processes the message that shows a restart, behind one reserved number", function()
    local subject = relay.new(ONE)
    subject:send({ event "a" }, { seq = 9 })
    subject:send({ event "b" }, { seq = 1 })
    subject:send({ event "c" }, { seq = 1 })
    subject:send({ event("d", { event_id = 1 }) }, { seq = 2 })
    assert.equal("1:a 3:b 5:c 7:d", subject:out "out")
    assert.equal(3, subject:metric 'kvgate_source_restarts_total{source="store"}')
  end)

  it("loses a message that has not three frames, whatever its number was", function()
    local subject = relay.new(ONE)
    subject:send { event "a" }
    local payload = wire.payload(1, { event "lost" }, 0)
    subject.core:receive_frames("store", { "", wire.seq(2) })
    subject.core:receive_frames("store", { "", wire.seq(2), payload, "" })
    subject.core:receive_frames("store", {})
    subject.core:receive_frames("store", { "", ("\0"):rep(7), payload })
    subject:send { event "b" }
    assert.equal("1:a 6:b", subject:out "out")
    assert.equal(3, subject:metric 'kvgate_source_losses_total{source="store",cause="frames"}')
    assert.equal(1, subject:metric 'kvgate_source_losses_total{source="store",cause="sequence"}')
    subject:assert_identity "out"
  end)

  it("loses a payload that is no batch as one message", function()
    local subject = relay.new(ONE)
    subject:send { event "a" }
    subject.core:receive("store", 2, "\147\1\144")
    subject.core:receive("store", 3, "junk")
    subject:send({ event "b" }, { seq = 4 })
    assert.equal("1:a 4:b", subject:out "out")
    assert.equal(2, subject:metric 'kvgate_source_losses_total{source="store",cause="payload"}')
  end)

  it("loses one malformed event at its place and keeps its neighbours", function()
    local subject = relay.new(ONE)
    subject:send { event "a", event "b", 42, event "c" }
    assert.equal("1:a,b 3:c", subject:out "out")
    assert.equal(
      1,
      subject:metric 'kvgate_source_malformed_events_total{source="store",cause="not_a_map"}'
    )
    subject:assert_identity "out"
  end)

  it("loses an event on which a filter fails at its place", function()
    local subject = relay.new(FILTERED, { ["f.lua"] = PICKY })
    subject:send { event "a", event "x1", event "d", event "x2", event "b", event "x3" }
    assert.equal("1:a 4:b", subject:out "out")
    subject:send { event "c" }
    assert.equal("6:c", subject:out "out")
    subject:assert_identity "out"
  end)

  it("marks a gap of a Mooncake master again behind the batch that showed it", function()
    local subject = relay.new(ONE)
    subject:send({ event "a" }, { seq = 1 })
    subject:send({ event "b" }, { seq = 3 })
    subject:send({ event "c" }, { seq = 4 })
    subject:send({ event "d" }, { seq = 5 })
    assert.equal("1:a 3:b 5:c 6:d", subject:out "out")
  end)

  it("does not mark it again when a new gap follows, nor when the guard is off", function()
    local subject = relay.new(ONE)
    for _, number in ipairs { 1, 3, 5 } do
      subject:send({ event "a" }, { seq = number })
    end
    assert.equal("1:a 3:a 5:a", subject:out "out")
    subject = relay.new((ONE:gsub('ipc:///tmp/in"', 'ipc:///tmp/in", gap_guard: false')))
    for _, number in ipairs { 1, 3, 4 } do
      subject:send({ event "a" }, { seq = number })
    end
    assert.equal("1:a 3:a 4:a", subject:out "out")
  end)

  it("pays the guard's mark in time when nothing follows", function()
    local subject = relay.new(ONE)
    subject:send({ event "a" }, { seq = 1 })
    subject:send({ event "b" }, { seq = 3 })
    subject:at(499)
    subject:at(500)
    subject:at(1499)
    assert.equal("1:a 3:b", subject:out "out")
    subject:at(1500)
    assert.equal("5:", subject:out "out")
    subject:assert_identity "out"
  end)

  it("sends what is open and announces every gap when it stops", function()
    local subject = relay.new(ONE)
    subject:send({ event "a" }, { seq = 1 })
    subject:send({ event "b" }, { seq = 3, more = true })
    subject.core:stop()
    assert.equal("1:a 3:b 5:", subject:out "out")
  end)

  it("sends at once when nothing is waiting, and merges messages when more are", function()
    local subject = relay.new(ONE)
    subject:send({ event "a" }, { more = true })
    subject:send({ event "b" }, { more = true })
    assert.equal("", subject:out "out")
    subject:send { event "c" }
    assert.equal("1:a,b,c", subject:out "out")
  end)

  it("never mixes timestamps or ranks in a message", function()
    local subject = relay.new(ONE)
    subject:send({ event "a" }, { more = true, timestamp = 1 })
    subject:send({ event "b" }, { more = true, timestamp = 2 })
    subject:send({ event "c" }, { more = true, timestamp = 2, rank = 7 })
    subject:send({ event "d" }, { timestamp = 2, rank = 7 })
    local messages = subject.core:sent "out"
    local heads = {}
    for i, message in ipairs(messages) do
      local payload = wire.decode(message.payload)
      heads[i] = { payload[1], #payload[2], payload[3] }
    end
    assert.same({ { 1, 1, 0 }, { 2, 1, 0 }, { 2, 2, 7 } }, heads)
  end)

  it("does not keep a message open for ever under an endless backlog", function()
    local subject = relay.new((TWO:gsub('tmp/both"', 'tmp/both", accept: { tenant_id: [rare] }')))
    subject:send({ event("a", { tenant_id = "rare" }) }, { more = true })
    for _ = 1, 300 do
      subject:send({ event "b" }, { more = true })
    end
    assert.equal("1:a", subject:out "both")
  end)
end)

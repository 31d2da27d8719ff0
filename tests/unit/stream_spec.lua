--- relay/stream.c: flush first, then reserve; announcements, heartbeats, refused messages.
local relay = require "tests.support.relay"
local wire = require "tests.support.wire"
local event = relay.event
local TWO, ONE = relay.TWO, relay.ONE

describe("stream", function()
  it("announces a gap that nothing follows with an empty batch of the last rank", function()
    local subject = relay.new(ONE)
    subject:send({ event "a" }, { rank = 5 })
    subject.core:receive("store", 2, "junk")
    assert.equal(1000, subject:at(0))
    subject:at(999)
    assert.equal("1:a", subject:out "out")
    subject:at(1000)
    local messages = subject.core:sent "out"
    assert.equal(1, #messages)
    assert.equal(3, messages[1].sequence)
    local payload = wire.decode(messages[1].payload)
    assert.equal(1700000001000, payload[1])
    assert.equal(0, #payload[2])
    assert.equal(5, payload[3])
    subject:at(5000)
    assert.equal("", subject:out "out")
    assert.equal(1, subject:metric 'kvgate_stream_announcements_total{stream="out"}')
    subject:assert_identity "out"
  end)

  it("announces nothing early when a caller's clock is a little behind", function()
    -- A reload looks at the clock after the loop did: the tick that follows comes with an
    -- older time than the loss, and an age below zero was taken for a very old one.
    local subject = relay.new(ONE)
    subject:send { event "a" }
    subject:at(1000)
    subject.core:receive("store", 2, "junk")
    assert.equal(1000, subject:at(996))
    assert.equal("1:a", subject:out "out")
    subject:at(2000)
    assert.equal("3:", subject:out "out")
  end)

  it("beats the heart of an idle stream, and only of an idle one", function()
    local subject = relay.new((ONE:gsub('tmp/out"', 'tmp/out", heartbeat: 2s')))
    subject:at(1999)
    assert.equal("", subject:out "out")
    subject:at(2000)
    assert.equal("1:", subject:out "out")
    subject:at(3000)
    subject:send { event "a" }
    subject:at(4500)
    assert.equal("2:a", subject:out "out")
    subject:at(5000)
    assert.equal("3:", subject:out "out")
    assert.equal(2, subject:metric 'kvgate_stream_heartbeats_total{stream="out"}')
    subject:assert_identity "out"
  end)

  it("makes a refused message a gap, and announces it", function()
    local subject = relay.new(ONE)
    subject.core:refuse("out", 1)
    subject:send { event "lost" }
    subject:send { event "b" }
    assert.equal("2:b", subject:out "out")
    subject.core:refuse("out", 1)
    subject:send { event "lost too" }
    subject:at(1000)
    assert.equal("4:", subject:out "out")
    assert.equal(2, subject:metric 'kvgate_stream_losses_total{stream="out",cause="send"}')
    subject:assert_identity "out"
  end)

  it("puts at most 64 events into a message", function()
    local events = {}
    for i = 1, 150 do
      events[i] = event("e" .. i)
    end
    local subject = relay.new(ONE)
    subject:send(events)
    local counts = {}
    for i, message in ipairs(subject.core:sent "out") do
      counts[i] = #wire.decode(message.payload)[2]
    end
    assert.same({ 64, 64, 22 }, counts)
  end)

  it("stamps contiguous event_ids on a stream that merges sources", function()
    local subject = relay.new(TWO)
    subject:send({ event("a", { event_id = 90 }), event("b", { event_id = 91 }) }, { seq = 1 })
    subject:send({ event("z", { event_id = 7 }) }, { source = "other", seq = 1 })
    local ids = {}
    for _, message in ipairs(subject.core:sent "both") do
      for _, one in ipairs(wire.decode(message.payload)[2]) do
        ids[#ids + 1] = wire.get(one, "event_id")
      end
    end
    assert.same({ 1, 2, 3 }, ids)
  end)

  it("sends what is open before it reserves", function()
    local subject = relay.new(ONE)
    subject:send({ event "a" }, { seq = 1, more = true })
    subject:send({ event "b" }, { seq = 3, more = true })
    subject.core:idle()
    assert.equal("1:a 3:b", subject:out "out")
  end)
end)

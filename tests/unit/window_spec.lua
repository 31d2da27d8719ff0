--- relay/window.c: the route, the streams' own chains, and losses in their place.
local relay = require "tests.support.relay"
local wire = require "tests.support.wire"
local event = relay.event
local ONE = relay.ONE

local CHAINS = [[
sources: [ { name: store, connect: "ipc:///tmp/in" } ]
filters: [ { script: global.lua } ]
streams:
  - { name: plain, bind: "ipc:///tmp/plain" }
  - { name: own, bind: "ipc:///tmp/own", filters: [ { script: own.lua } ] }
]]
local KEEP = "return function() return function() return true end end"

--- A filter whose body sees `event`, `key`.
local function filter(body)
  local frame = "return function() return function(event)\n"
    .. "local key = event.object_key\n%s\nend end"
  return frame:format(body)
end

describe("window", function()
  it("routes by name, to one stream or several, and never wider than before", function()
    local subject = relay.new(
      (CHAINS:gsub("own.lua", "keep.lua")),
      {
        ["keep.lua"] = KEEP,
        ["global.lua"] = filter [[
          local to = { p = "plain", o = "own", b = { "plain", "own" } }
          return to[key:sub(1, 1)] or false]],
      }
    )
    subject:send { event "p1", event "o1", event "b1", event "none" }
    assert.equal("1:p1,b1", subject:out "plain")
    assert.equal("1:o1,b1", subject:out "own")
  end)

  it("hides a stream's edits from the other streams", function()
    local subject = relay.new(CHAINS, {
      ["global.lua"] = KEEP,
      ["own.lua"] = filter 'event.object_key = key .. "+" return event',
    })
    subject:send { event "a", event "b" }
    assert.equal("1:a,b", subject:out "plain")
    assert.equal("1:a+,b+", subject:out "own")
  end)

  it("gives each stream's chain all the edit memory that the global one left", function()
    local subject = relay.new([[
sources: [ { name: store, connect: "ipc:///tmp/in" } ]
streams:
  - { name: one, bind: "ipc:///tmp/1", filters: [ { script: big.lua } ] }
  - { name: two, bind: "ipc:///tmp/2", filters: [ { script: big.lua } ] }
]], {
      ["big.lua"] = [[
return function()
  local large = ("x"):rep(2 ^ 20)
  return function(event)
    for _ = 1, 12 do
      event.extra = large
      event:remove "extra"
    end
    return event
  end
end
]],
    })
    for _ = 1, 2 do subject:send { event "a", event "b", event "c", event "d" } end
    assert.equal("1:a,b,c,d 2:a,b,c,d", subject:out "one")
    assert.equal("1:a,b,c,d 2:a,b,c,d", subject:out "two")
  end)

  it("loses what a stream's own filter fails on there and nowhere else", function()
    local subject = relay.new(CHAINS, {
      ["global.lua"] = KEEP,
      ["own.lua"] = filter 'if key == "x" then error "no" end return true',
    })
    subject:send { event "a", event "x", event "b" }
    assert.equal("1:a,x,b", subject:out "plain")
    assert.equal("1:a 3:b", subject:out "own")
    subject:assert_identity("plain", "own")
  end)

  it("shows a loss of the global chain at its place on streams with a chain too", function()
    local subject = relay.new(CHAINS, {
      ["global.lua"] = filter 'if key == "x" then error "no" end return true',
      ["own.lua"] = KEEP,
    })
    subject:send { event "a", event "x", event "b" }
    assert.equal("1:a 3:b", subject:out "plain")
    assert.equal("1:a 3:b", subject:out "own")
    assert.equal(1, subject:metric 'kvgate_source_losses_total{source="store",cause="filter"}')
  end)

  it("drops or passes what a filter fails on when its on_error says so", function()
    for policy, wanted in pairs { drop = "1:a,b", pass = "1:a,x,b" } do
      local subject = relay.new(
        (CHAINS:gsub("global.lua", "global.lua, on_error: " .. policy)),
        {
          ["global.lua"] = filter [[
            event.tenant_id = "changed"
            if key == "x" then error "no" end
            return true]],
          ["own.lua"] = KEEP,
        }
      )
      subject:send { event "a", event "x", event "b" }
      assert.equal(wanted, subject:out "plain")
      assert.equal(wanted, subject:out "own")
      assert.equal(
        1,
        subject:metric 'kvgate_filter_errors_total{filter="global.lua",stream="",position="1"}'
      )
    end
  end)

  it("takes back the edits of a filter that fails on an event that passes", function()
    local subject = relay.new(
      (CHAINS:gsub("global.lua", "global.lua, on_error: pass")),
      {
        ["global.lua"] = filter 'event.object_key = "changed" error "no"',
        ["own.lua"] = KEEP,
      }
    )
    subject:send { event "a" }
    assert.equal("1:a", subject:out "plain")
  end)

  it("sends the parts of a split in order, through the filters that follow", function()
    local subject = relay.new(CHAINS, {
      ["global.lua"] = filter [[
        local one, two = event:copy(), event:copy()
        one.object_key, two.object_key = key .. "1", key .. "2"
        return { one, event, two }]],
      ["own.lua"] = filter 'return not key:find("1", 1, true)',
    })
    subject:send { event "a", event "b" }
    assert.equal("1:a1,a,a2,b1,b,b2", subject:out "plain")
    assert.equal("1:a,a2,b,b2", subject:out "own")
  end)

  it("sends a copy of an event that was dropped or lost before, and loses that once", function()
    local subject = relay.new(CHAINS, {
      ["global.lua"] = [[
        return function()
          local kept = {}
          return function(event)
            local key = event.object_key
            kept[key] = event
            if key == "dropped" then return false end
            if key == "lost" then error "no" end
            local first, second = kept.dropped:copy(), kept.lost:copy()
            return { event, first, second }
          end
        end]],
      ["own.lua"] = KEEP,
    })
    subject:send { event "dropped", event "lost", event "b" }
    for _, name in ipairs { "plain", "own" } do
      assert.equal("2:b,dropped,lost", subject:out(name))
    end
    subject:assert_identity("plain", "own")
  end)

  it("keeps an event that one filter hands to another out of a stream's chain", function()
    local chains = CHAINS:gsub('/plain"', '/plain", filters: [ { script: plain.lua } ]')
    local subject = relay.new(chains, {
      ["shared.lua"] = "return {}",
      ["global.lua"] = [[
        local shared = require "shared"
        return function() return function(event) shared.event = event return true end end]],
      ["plain.lua"] = [[
        local shared = require "shared"
        return function()
          return function() shared.event.object_key = "meddled with" return true end
        end]],
      ["own.lua"] = KEEP,
    })
    subject:send { event "a" }
    assert.equal("", subject:out "plain")
    assert.equal("1:a", subject:out "own")
    assert.equal(1, subject:metric 'kvgate_stream_losses_total{stream="plain",cause="filter"}')
  end)

  it("loses, visibly, what a stream's chain has no room for", function()
    local subject = relay.new(CHAINS, {
      ["global.lua"] = filter [[
        local parts = { event }
        for i = 2, 30 do
          parts[i] = event:copy()
        end
        return parts]],
      ["own.lua"] = KEEP,
    })
    local events = {}
    for i = 1, 64 do
      events[i] = event("e" .. i)
    end
    subject:send(events)
    local lost = subject:metric 'kvgate_stream_losses_total{stream="own",cause="space"}'
    local sent = subject:metric 'kvgate_stream_published_events_total{stream="own"}'
    assert.equal(64 * 30, lost + sent)
    subject:assert_identity("plain", "own")
    assert.equal(
      64 * 30,
      subject:metric 'kvgate_stream_published_events_total{stream="plain"}'
    )
  end)

  -- A message of nothing but malformed events held everything up: each was lost by itself.
  it("loses a row of malformed events in one go, one number each", function()
    local subject = relay.new(CHAINS, { ["global.lua"] = KEEP, ["own.lua"] = KEEP })
    local events = { event "a" }
    for i = 2, 200 do
      events[i] = i
    end
    events[201] = event "b"
    subject:send(events)
    for _, stream in ipairs { "plain", "own" } do
      assert.equal("1:a 201:b", subject:out(stream))
      local label = ('kvgate_stream_losses_total{stream="%s",cause="event"}'):format(stream)
      assert.equal(199, subject:metric(label))
    end
    assert.equal(199, subject:metric 'kvgate_source_losses_total{source="store",cause="event"}')
    subject:assert_identity("plain", "own")
  end)

  -- A filter that failed kept the slots of the copies that it had made.
  it("takes back the copies of an event on which a filter fails", function()
    local subject = relay.new(CHAINS, {
      ["global.lua"] = filter [[
        for _ = 1, key == "greedy" and 5000 or 2 do
          event:copy()
        end
        return { event, event:copy() }]],
      ["own.lua"] = KEEP,
    })
    subject:send { event "a", event "greedy", event "b" }
    assert.equal("1:a,a 3:b,b", subject:out "plain")
    assert.equal("1:a,a 3:b,b", subject:out "own")
  end)

  it("handles batches of many windows", function()
    local subject = relay.new(CHAINS, {
      ["global.lua"] = filter 'return tonumber(key) % 2 == 0',
      ["own.lua"] = KEEP,
    })
    local events = {}
    for i = 1, 1000 do
      events[i] = event(tostring(i))
    end
    subject:send(events)
    for _, stream in ipairs { "plain", "own" } do
      local label = ('kvgate_stream_published_events_total{stream="%s"}'):format(stream)
      assert.equal(500, subject:metric(label))
    end
  end)

  it("counts an event without a verdict as an error of that filter", function()
    local subject = relay.new(CHAINS, {
      ["global.lua"] = filter "return nil",
      ["own.lua"] = KEEP,
    })
    subject:send { event "a" }
    assert.equal("", subject:out "plain")
    assert.equal(
      1,
      subject:metric 'kvgate_filter_errors_total{filter="global.lua",stream="",position="1"}'
    )
    subject:assert_identity("plain", "own")
  end)

  it("forwards an untouched batch byte for byte", function()
    local subject = relay.new(ONE)
    local events = {}
    for i = 1, 64 do
      events[i] = event("e" .. i)
    end
    local payload = subject:send(events)
    local sent = subject.core:sent "out"
    assert.equal(payload, sent[1].payload)
    assert.is_true(sent[1].forwarded)
    payload = subject:send { event "one" }
    assert.equal(payload, subject.core:sent("out")[1].payload)
  end)

  it("forwards an untouched batch whose headers are not minimal byte for byte", function()
    local subject = relay.new(ONE)
    local canonical = wire.payload(1, { event "a" }, 0)
    local payload = "\147\1\221\0\0\0\1" .. canonical:sub(4)
    subject.core:receive("store", 1, payload)
    assert.equal(payload, subject.core:sent("out")[1].payload)
  end)
end)

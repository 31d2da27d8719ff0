--- relay/trial.c: new behaviour runs over what was recently seen, and nothing comes of that.
local relay = require "tests.support.relay"
local event = relay.event

local CONFIG = [[
sources: [ { name: store, connect: "ipc:///tmp/in" } ]
filters: [ { script: f.lua } ]
streams: [ { name: out, bind: "ipc:///tmp/out" } ]
limits: { event: 30ms }
]]
local OWN = [[
sources: [ { name: store, connect: "ipc:///tmp/in" } ]
streams:
  - { name: plain, bind: "ipc:///tmp/plain" }
  - { name: out, bind: "ipc:///tmp/out", filters: [ { script: f.lua } ] }
]]

local KEEP = "return function() return function() return true end end"

--- A filter that does `body` for keys with "x", and keeps the others.
local function text_of(body)
  return ([[
return function()
  return function(event)
    if event.object_key and event.object_key:find "x" then
      %s
    end
    return true
  end
end]]):format(body)
end

local FAILS = text_of 'error "no"'

--- A relay that has seen these messages, a second apart; their events count from 40.
local function seen(config, script, ...)
  local subject = relay.new(config:gsub("limits[^\n]*", ""), { ["f.lua"] = script })
  local id = 40
  for index, keys in ipairs { ... } do
    subject:at(1000 * index)
    local events = {}
    for key in keys:gmatch "%S+" do
      events[#events + 1] = event(key, { event_id = id })
      id = id + 1
    end
    subject:send(events)
  end
  subject:out "out"
  return subject
end

local function refusal(subject, config)
  local done, why = subject.core:reload(config)
  assert.is_nil(done)
  return (why:gsub(subject.dir:gsub("%p", "%%%0"), "@"))
end

local function tried(subject, config)
  local done, count = subject.core:reload(config)
  assert(done, count)
  return count
end

describe("trial", function()
  it("refuses a filter that fails on a recent event, with its place and the event", function()
    local subject = seen(CONFIG, KEEP, "a", "b x c")
    subject:write("f.lua", FAILS)
    assert.equal('@/f.lua:4: no; filter f.lua raised an error on event 42 of source "store" '
      .. "(recently seen)\n", refusal(subject, CONFIG))
    subject:send { event("x", { event_id = 44 }), event("d", { event_id = 45 }) }
    assert.equal("3:x,d", subject:out "out")
  end)

  it("refuses a stream's own filter, and names the stream", function()
    local subject = seen(OWN, KEEP, "a", "x")
    subject:write("f.lua", FAILS)
    assert.matches('f.lua of stream "out" raised an error on event 41', refusal(subject, OWN))
  end)

  it("refuses a filter whose on_batch fails", function()
    local subject = seen(CONFIG, KEEP, "a")
    subject:write("f.lua",
      "return function()\n return { on_batch = function() error 'no' end }\nend")
    assert.equal('@/f.lua:2: no; filter f.lua raised an error in on_batch for source "store" '
      .. "(recently seen)\n", refusal(subject, CONFIG))
  end)

  it("refuses a filter whose on_tick fails, or one behind it on what it emits", function()
    local subject = seen(OWN, KEEP, "a")
    subject:write("f.lua", [[
return function()
  return { on_tick = function() error "no" end, every = 86400 }
end
]])
    assert.equal('@/f.lua:2: no; filter f.lua of stream "out" raised an error in on_tick\n',
      refusal(subject, OWN))
    subject = seen(CONFIG, KEEP, "a")
    subject:write("g.lua", [[
local emit = require "kvgate.emit"
return function()
  return { on_tick = function() emit { event_type = "stored", object_key = "x" } end, every = 1 }
end
]])
    subject:write("f.lua", FAILS)
    assert.equal("@/f.lua:4: no; filter f.lua raised an error on event 40\n",
      refusal(subject, (CONFIG:gsub("{ script: f.lua }", "{ script: g.lua }, %0"))))
  end)

  it("tells the first failure of each filter, all of them", function()
    local two = CONFIG:gsub("{ script: f.lua }", "%0, { script: g.lua, on_error: pass }")
    local subject = seen(CONFIG, KEEP, "x x x")
    subject:write("f.lua", text_of "event.tenant_id = 'far'" )
    subject:write("g.lua", text_of "error(event.tenant_id)")
    subject:write("f.lua", FAILS:gsub("error", "if event.event_id ~= 40ULL then error", 1)
      :gsub('"no"', '"no" end'))
    local why = refusal(subject, two)
    assert.matches("f.lua:4: no; .*on event 41 ", why)
    assert.matches("g.lua:4: .*on event 40 ", why)
    assert.equal(2, select(2, why:gsub("\n", "")))
  end)

  for _, fate in ipairs { "drop", "pass", "dead_letter" } do
    it("refuses a filter that fails under on_error: " .. fate, function()
      local config = CONFIG:gsub("f.lua", "f.lua, on_error: " .. fate)
        .. 'dead_letters: { bind: "ipc:///tmp/letters" }\n'
      local subject = seen(config, KEEP, "x")
      subject:write("f.lua", FAILS)
      assert.matches("f.lua:4: no", refusal(subject, config))
    end)
  end

  for verdict, what in pairs {
    ['return "nowhere"'] = "named an unknown stream",
    ["return 1"] = "returned no verdict",
    ["local t = {} while true do t[#t + 1] = event:copy() end"] = "made too many events",
  } do
    it("refuses a filter that " .. what, function()
      local subject = seen(CONFIG, KEEP, "x")
      subject:write("f.lua", text_of(verdict))
      assert.matches("f.lua " .. what .. " on event 40", refusal(subject, CONFIG))
    end)
  end

  it("stops a filter that hangs, and runs nothing more", function()
    local subject = seen(CONFIG, KEEP, "a x x x x x x x x x x x x")
    subject:write("f.lua", text_of "while true do end")
    local began = os.clock()
    assert.matches("f.lua:4: ran for more than 30 ms; filter f.lua ran out of time on event 41",
      refusal(subject, CONFIG))
    assert.is_true(os.clock() - began < 1, "each event had its time")
  end)

  it("ends after a second, and says how far it came", function()
    local config = CONFIG:gsub("30ms", "60s")
    local subject = seen(config, KEEP, "a", "b", "x", "c")
    subject:write("f.lua", text_of "while true do end")
    assert.equal(2, tried(subject, config))
    assert.equal("", subject:out "out")
  end)

  it("is not held up by an event on which the current filter fails, too", function()
    local subject = seen(CONFIG, FAILS, "a", "x", "b")
    subject:write("f.lua", FAILS .. "-- changed")
    assert.equal(2, tried(subject, CONFIG))
  end)

  it("looks at one message a quarter of a second, and at the last eight", function()
    local subject = seen(CONFIG, KEEP)
    for ms = 1000, 1999 do
      subject:at(ms)
      subject:send { event "a" }
    end
    assert.equal(4, tried(subject, CONFIG))
    for ms = 2000, 9000, 100 do
      subject:at(ms)
      subject:send { event(ms < 6000 and "x" or "a") }
    end
    subject:write("f.lua", FAILS)
    assert.equal(8, tried(subject, CONFIG))
  end)

  it("keeps in mind what was tried, and so handled, for the next one", function()
    local subject = seen(CONFIG, KEEP, "x")
    assert.equal(1, tried(subject, CONFIG))
    subject:write("f.lua", FAILS)
    assert.matches("f.lua:4: no", refusal(subject, CONFIG))
  end)

  it("passes over messages of more than a mebibyte and those without events", function()
    local subject = seen(CONFIG, KEEP)
    subject:at(1000)
    subject:send { event(("k"):rep(2 ^ 20)) }
    subject:send {}
    assert.equal(0, tried(subject, CONFIG))
  end)

  it("tries what is still there of the sources", function()
    local both = [[
sources:
  - { name: store, connect: "ipc:///tmp/in" }
  - { name: other, connect: "ipc:///tmp/other" }
streams: [ { name: out, bind: "ipc:///tmp/out" } ]
]]
    local subject = relay.new(both)
    for index, name in ipairs { "store", "other", "other" } do
      subject:at(index * 1000)
      subject:send({ event "a" }, { source = name, seq = index })
    end
    assert.equal(3, tried(subject, both))
    assert.equal(1, tried(subject, CONFIG:gsub("filters[^\n]*", "")))
  end)

  it("has no effect: neither numbers nor counters nor messages come of it", function()
    local subject = seen(CONFIG, KEEP, "a b", "c d")
    assert.equal(2, tried(subject, CONFIG))
    assert.equal("", subject:out "out")
    local kept = 'kvgate_filter_kept_total{filter="f.lua",stream="",position="1"}'
    assert.equal(0, subject:metric(kept))
    assert.equal(4, subject:metric 'kvgate_source_events_total{source="store"}')
    subject:send { event "e" }
    assert.equal("3:e", subject:out "out")
    subject:assert_identity "out"
  end)

  it("sees no loss between messages that do not follow each other", function()
    local subject = seen(CONFIG, KEEP)
    for index = 1, 3 do
      subject:at(1000 * index)
      subject:send({ event("a", { event_id = 10 - index }) }, { seq = 100 * index })
    end
    assert.equal(3, tried(subject, CONFIG))
  end)
end)

--- Hooks besides on_event: lua/kvgate/hooks.lua, and the marks that lead to them (codec/batch.c,
--- relay/occasion.c, relay/chain.c).
local relay = require "tests.support.relay"
local wire = require "tests.support.wire"
local event = relay.event

local FILTERED = [[
sources: [ { name: store, connect: "ipc:///tmp/in" } ]
filters: [ { script: f.lua } ]
streams: [ { name: out, bind: "ipc:///tmp/out" } ]
]]

--- A filter with these hooks, which may `tell` what they see: as an event of that object_key.
local function telling(hooks)
  return ([[
    local emit = require "kvgate.emit"
    local function tell(...)
      local parts = { ... }
      for index = 1, select("#", ...) do parts[index] = tostring(parts[index]) end
      emit { event_type = "stored", object_key = table.concat(parts, " ") }
    end
    local function told(source, reach, cause, count)
      tell("<" .. source, table.concat(reach, "+"), cause, count .. ">")
    end
    return function(options) return { %s } end
  ]]):format(hooks)
end

--- A relay from YAML that is indented as the code around it.
local function new(yaml, files)
  local margin = yaml:match "^ *"
  return relay.new(("\n" .. yaml):gsub("\n" .. margin, "\n"), files)
end

local function filtered(hooks, yaml)
  return new(yaml or FILTERED, { ["f.lua"] = telling(hooks) })
end

local ERRORS = 'kvgate_filter_errors_total{filter="f.lua",stream="",position="1"}'

describe("on_loss", function()
  it("is called for a gap, behind it, and for its guard", function()
    local subject = filtered "on_loss = told"
    subject:send { event "a" }
    subject:send({ event "b" }, { seq = 5 })
    subject:send { event "c" }
    assert.equal("1:a 5:<store out gap 3> 6:b 8:<store out guard 1> 9:c", subject:out "out")
    subject:assert_identity "out"
  end)

  it("is called for a guard that no message closes", function()
    local subject = filtered "on_loss = told"
    subject:send { event "a" }
    subject:send({ event "b" }, { seq = 3 })
    subject:out "out"
    subject:at(600)
    assert.equal("6:<store out guard 1>", subject:out "out")
  end)

  it("is called for a guard at the end", function()
    local subject = filtered "on_loss = told"
    subject:send { event "a" }
    subject:send({ event "b" }, { seq = 3 })
    subject:out "out"
    subject.core:stop()
    assert.equal("6:<store out guard 1>", subject:out "out")
  end)

  it("is called for a publisher that started over, and for messages that cannot be read", function()
    local subject = filtered "on_loss = told"
    subject:send({ event "a" }, { seq = 7 })
    subject:send({ event "b" }, { seq = 1 })
    assert.equal("1:a 3:<store out restart 1> 4:b", subject:out "out")
    subject.core:receive("store", 2, "\xc1")
    assert.equal("6:<store out payload 1>", subject:out "out")
    subject.core:receive_frames("store", { "", "123", "" })
    assert.equal("8:<store out sequence 1>", subject:out "out")
    subject.core:receive_frames("store", { "" })
    assert.equal("10:<store out frames 1>", subject:out "out")
    subject:assert_identity "out"
  end)

  it("is called at the place of a malformed event", function()
    local subject = filtered "on_loss = told"
    subject:send { event "a", wire.map {}, event "b" }
    assert.equal("1:a 3:<store out event 1>,b", subject:out "out")
  end)

  it("is called for an event that the filter itself failed on, and one before it", function()
    local subject = new([[
      sources: [ { name: store, connect: "ipc:///tmp/in" } ]
      filters: [ { script: g.lua }, { script: f.lua } ]
      streams: [ { name: out, bind: "ipc:///tmp/out" }, { name: more, bind: "ipc:///tmp/more" } ]
    ]], {
      ["f.lua"] = telling [[on_loss = told, on_event = function(event)
        if event.object_key == "f" then error "no" end
        return true
      end]],
      ["g.lua"] = "return function() return function(event)\n"
        .. "if event.object_key == 'g' then error 'no' end return 'out' end end",
    })
    subject:send { event "a", event "f", event "g", event "b" }
    local loss = "<store out+more filter 1>"
    assert.equal(("1:a 3:%s 5:%s,b"):format(loss, loss), subject:out "out")
    assert.equal(("2:%s 4:%s"):format(loss, loss), subject:out "more")
    assert.equal(2, subject:metric
      'kvgate_filter_emitted_total{filter="f.lua",stream="",position="2"}')
    subject:assert_identity("out", "more")
  end)

  it("is not called for what a filter's on_error drops or passes", function()
    for _, fate in ipairs { "drop", "pass" } do
      local subject = filtered("on_loss = told, on_event = function() error 'no' end",
        FILTERED:gsub("f.lua", "f.lua, on_error: " .. fate))
      subject:send { event "a" }
      assert.equal(fate == "pass" and "1:a" or "", subject:out "out")
    end
  end)

  it("that fails loses nothing more, is not called again, and takes back its events", function()
    local subject = filtered [[on_loss = function() tell "half"; error "no" end,
      on_event = function(event) return event.object_key ~= "x" or error "no" end]]
    subject:send { event "a", event "x", event "b" }
    assert.equal("1:a 3:b", subject:out "out")
    assert.equal(2, subject:metric(ERRORS))
    assert.equal(0, subject:metric(
      'kvgate_filter_emitted_total{filter="f.lua",stream="",position="1"}'))
    subject:send({ event "c" }, { seq = 3 })
    assert.equal("5:c", subject:out "out")
    assert.equal(3, subject:metric(ERRORS))
    subject:assert_identity "out"
  end)

  it("of a stream's filter knows of that stream only", function()
    local subject = new([[
      sources: [ { name: store, connect: "ipc:///tmp/in" } ]
      streams:
        - { name: one, bind: "ipc:///tmp/one", filters: [ { script: f.lua } ] }
        - { name: two, bind: "ipc:///tmp/two" }
    ]], { ["f.lua"] = telling [[on_loss = told,
      on_event = function(event) return event.object_key ~= "x" or error "no" end]] })
    subject:send { event "a", event "x" }
    subject:send({ event "b" }, { seq = 3 })
    assert.equal("1:a 3:<store one filter 1> 5:<store one gap 1> 6:b", subject:out "one")
    assert.equal("1:a,x 3:b", subject:out "two")
    subject:assert_identity("one", "two")
  end)

  it("knows what each source reaches", function()
    local subject = new([[
      sources:
        - { name: left, connect: "ipc:///tmp/left" }
        - { name: right, connect: "ipc:///tmp/right" }
      filters: [ { script: f.lua } ]
      streams:
        - { name: both, bind: "ipc:///tmp/both" }
        - { name: half, bind: "ipc:///tmp/half", sources: [ right ] }
    ]], { ["f.lua"] = telling "on_loss = told" })
    for number = 1, 3, 2 do
      subject:send({ event "l" }, { source = "left", seq = number })
      subject:send({ event "r" }, { source = "right", seq = number })
    end
    assert.equal("1:l 2:r 4:<left both gap 1> 5:l 7:<right both+half gap 1> 8:r",
      subject:out "both")
    assert.equal("1:r 3:<right both+half gap 1> 4:r", subject:out "half")
  end)

  it("sees names of more streams than a word has bits", function()
    local streams = {}
    for index = 1, 70 do
      streams[index] = ('{ name: s%d, bind: "ipc:///tmp/s%d" }'):format(index, index)
    end
    local subject = new(([[
      sources: [ { name: store, connect: "ipc:///tmp/in" } ]
      filters: [ { script: f.lua } ]
      streams: [ %s ]
    ]]):format(table.concat(streams, ", ")), { ["f.lua"] = telling [[
      on_loss = function(_, reach) tell(#reach, reach[1], reach[64], reach[65], reach[70]) end]] })
    subject:send({ event "a" }, { seq = 1 })
    subject:send({ event "b" }, { seq = 3 })
    assert.equal("1:a 3:70 s1 s64 s65 s70 4:b", subject:out "s70")
  end)
end)

describe("on_batch", function()
  it("is called before the events of each message, once, empty ones too", function()
    local subject = filtered [[on_batch = function(batch)
      tell(batch.source, batch.sequence, batch.timestamp, batch.dp_rank, batch.count) end]]
    subject:send({ event "a", event "b" }, { timestamp = 12, rank = 3 })
    subject:send({}, { timestamp = 13, rank = wire.null })
    assert.equal("1:store 1ULL 12 3 2,a,b 2:store 2ULL 13 nil 0", subject:out "out")
    local many = {}
    for index = 1, 130 do many[index] = event "m" end
    subject:send(many)
    assert.equal(1, select(2, subject:out("out"):gsub("store 3ULL", "")))
  end)

  it("of a stream's filter is called for messages, too", function()
    local subject = new([[
      sources: [ { name: store, connect: "ipc:///tmp/in" } ]
      streams:
        - { name: out, bind: "ipc:///tmp/one", accept: { medium: [cpu] },
            filters: [ { script: f.lua } ] }
    ]], { ["f.lua"] = telling "on_batch = function(batch) tell(batch.count) end" })
    subject:send { event("a", { medium = "cpu" }), event("b", { medium = "disk" }) }
    assert.equal("1:2,a", subject:out "out")
  end)

  it("does not keep a message from going on as it came", function()
    for _, place in ipairs { "filters: [ { script: f.lua } ]", "" } do
      local subject = new(([[
        sources: [ { name: store, connect: "ipc:///tmp/in" } ]
        %s
        streams: [ { name: out, bind: "ipc:///tmp/out" %s } ]
      ]]):format(place, place == "" and ", filters: [ { script: f.lua } ]" or ""),
        { ["f.lua"] = telling "on_batch = function() end, on_loss = function() end" })
      local many = {}
      for index = 1, 64 do many[index] = event "m" end
      local payload = subject:send(many)
      local sent = subject.core:sent("out")
      assert.is_true(sent[1].forwarded)
      assert.equal(payload, sent[1].payload)
    end
  end)

  it("that fails, or returns something, is an error by which nothing is lost", function()
    for hook, message in pairs {
      ["error 'no'"] = "raised",
      ["return true"] = "a hook other than on_event returns nothing",
    } do
      local subject = filtered(("on_batch = function() %s end"):format(hook))
      subject:send { event "a" }
      assert.equal("1:a", subject:out "out")
      assert.equal(1, subject:metric(ERRORS), message)
    end
  end)
end)

describe("on_tick", function()
  it("is called once each time that it is due, and not for what was missed", function()
    local subject = filtered "on_tick = function(now) tell(now) end, every = 0.5"
    assert.equal(100, subject:at(400))
    assert.equal("", subject:out "out")
    assert.equal(400, subject:at(600))
    assert.equal("1:1700000000600", subject:out "out")
    subject:at(600)
    subject:at(999)
    assert.equal("", subject:out "out")
    subject:at(1000)
    assert.equal("2:1700000001000", subject:out "out")
    assert.equal(500, subject:at(9000))
    assert.equal("3:1700000009000", subject:out "out")
    subject:at(9499)
    assert.equal("", subject:out "out")
    subject:at(9500)
    assert.equal("4:1700000009500", subject:out "out")
  end)

  it("is called as often as a hundred times a second, and as seldom as once a day", function()
    local subject = filtered "on_tick = function() tell 't' end, every = 0.01"
    assert.equal(10, subject:at(10))
    subject = filtered "on_tick = function() tell 't' end, every = 86400"
    assert.equal(1000, subject:at(86399000))
    assert.equal("", subject:out "out")
    subject:at(86400000)
    assert.equal("1:t", subject:out "out")
  end)

  it("sends events through the filters behind, not through those before and itself", function()
    local subject = new([[
      sources: [ { name: store, connect: "ipc:///tmp/in" } ]
      filters: [ { script: g.lua }, { script: f.lua }, { script: g.lua } ]
      streams:
        - { name: out, bind: "ipc:///tmp/out", accept: { object_key: [tg] } }
        - { name: more, bind: "ipc:///tmp/more", filters: [ { script: g.lua } ] }
    ]], {
      ["f.lua"] = telling [[on_tick = function() tell "t" end, every = 1,
        on_event = function(event) event.object_key = event.object_key .. "f" return true end]],
      ["g.lua"] = "return function() return function(event)\n"
        .. "event.object_key = event.object_key .. 'g' return event end end",
    })
    subject:at(1000)
    assert.equal("1:tg", subject:out "out")
    assert.equal("1:tgg", subject:out "more")
  end)

  it("of a stream's filter sends to that stream", function()
    local subject = new([[
      sources: [ { name: store, connect: "ipc:///tmp/in" } ]
      streams:
        - { name: one, bind: "ipc:///tmp/one", filters: [ { script: f.lua }, { script: g.lua } ] }
        - { name: two, bind: "ipc:///tmp/two" }
    ]], {
      ["f.lua"] = telling "on_tick = function() tell 't' tell 'u' end, every = 1",
      ["g.lua"] = "return function() return function(e) return e.object_key ~= 'u' end end",
    })
    subject:at(1000)
    assert.equal("1:t", subject:out "one")
    assert.equal("", subject:out "two")
  end)

  it("of several filters is called for each that is due", function()
    local subject = new([[
      sources: [ { name: store, connect: "ipc:///tmp/in" } ]
      filters:
        - { script: f.lua, options: { every: 1, name: a } }
        - { script: f.lua, options: { every: 2, name: b } }
      streams: [ { name: out, bind: "ipc:///tmp/out" } ]
    ]], { ["f.lua"] =
      telling "on_tick = function() tell(options.name) end, every = options.every" })
    for second = 1, 4 do subject:at(second * 1000) end
    assert.equal("1:a 2:a,b 3:a 4:a,b", subject:out "out")
  end)

  it("that fails is counted, and named once it keeps failing", function()
    local subject = filtered "on_tick = function() tell 'half' error 'no' end, every = 0.1"
    for tick = 1, 12 do subject:at(tick * 100) end
    assert.equal("", subject:out "out")
    assert.equal(12, subject:metric(ERRORS))
    subject:assert_identity "out"
  end)

  it("whose event a filter behind fails on loses one number on every stream", function()
    local subject = new([[
      sources: [ { name: store, connect: "ipc:///tmp/in" } ]
      filters: [ { script: f.lua }, { script: g.lua } ]
      streams: [ { name: out, bind: "ipc:///tmp/out" },
                 { name: more, bind: "ipc:///tmp/more", filters: [ { script: g.lua } ] } ]
    ]], {
      ["f.lua"] = telling "on_tick = function() tell 't' end, every = 1",
      ["g.lua"] = "return function() return function(event) error 'no' end end",
    })
    subject:at(1000)
    subject.core:stop()
    assert.equal("2:", subject:out "out")
    assert.equal("2:", subject:out "more")
    subject:assert_identity("out", "more")
  end)

  it("starts anew with a reload", function()
    local subject = filtered "on_tick = function() tell 't' end, every = 1"
    subject:at(900)
    subject.core:reload(FILTERED)
    subject:at(1800)
    assert.equal("", subject:out "out")
    subject:at(1900)
    assert.equal("1:t", subject:out "out")
  end)
end)

describe("a table of hooks", function()
  it("without on_event keeps every event", function()
    local subject = filtered "on_batch = function() end"
    subject:send { event "a", event "b" }
    assert.equal("1:a,b", subject:out "out")
    assert.equal(2, subject:metric
      'kvgate_filter_kept_total{filter="f.lua",stream="",position="1"}')
  end)

  it("is copied: what a script does to it later changes nothing", function()
    local subject = relay.new(FILTERED, { ["f.lua"] = [[
      return function()
        local hooks = {}
        function hooks.on_event(event)
          hooks.on_event = nil
          return event.object_key ~= "x"
        end
        return hooks
      end]] })
    subject:send { event "a", event "x", event "b" }
    assert.equal("1:a,b", subject:out "out")
  end)

  it("has a budget for each hook", function()
    local subject = relay.new(FILTERED, { ["f.lua"] = telling
      "on_batch = function() end, on_tick = function() while true do end end, every = 1" })
    assert(subject.core:reload(FILTERED .. "limits: { event: 20ms }\n"))
    subject:at(1000)
    subject:send { event "a" }
    assert.equal("1:a", subject:out "out")
    assert.equal(1, subject:metric(ERRORS))
  end)
end)

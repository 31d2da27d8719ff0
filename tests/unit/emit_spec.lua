--- Events that filters make: lua/kvgate/emit.lua, script/border_emit.c, codec/event_blank.c.
local relay = require "tests.support.relay"
local wire = require "tests.support.wire"
local event = relay.event

local FILTERED = [[
sources: [ { name: store, connect: "ipc:///tmp/in" } ]
filters: [ { script: f.lua } ]
streams: [ { name: out, bind: "ipc:///tmp/out" }, { name: more, bind: "ipc:///tmp/more" } ]
]]

local function new(body, yaml, files)
  files = files or {}
  files["f.lua"] = ('local emit = require "kvgate.emit"\nreturn function()\n%s\nend'):format(body)
  return relay.new(yaml or FILTERED, files)
end

--- A relay whose filter does this at each event.
local function at_event(body, yaml, files)
  return new("return function(event)\n" .. body .. "\nend", yaml, files)
end

--- All events that a stream sent, decoded.
local function sent(subject, stream)
  local events = {}
  for _, message in ipairs(subject.core:sent(stream)) do
    for _, map in ipairs(wire.decode(message.payload)[2]) do events[#events + 1] = map end
  end
  return events
end

local function names(map)
  local list = {}
  for index, pair in ipairs(map) do list[index] = pair[1] end
  return list
end

local ERRORS = 'kvgate_filter_errors_total{filter="f.lua",stream="",position="1"}'
local EMITTED = 'kvgate_filter_emitted_total{filter="f.lua",stream="",position="1"}'

describe("an emitted event", function()
  it("comes behind the event at hand, in the order of the calls", function()
    local subject = at_event [[
      emit { event_type = "stored", object_key = event.object_key .. "1" }
      emit { event_type = "stored", object_key = event.object_key .. "2" }
      return event.object_key ~= "b"
    ]]
    subject:send { event "a", event "b", event "c" }
    assert.equal("1:a,a1,a2,b1,b2,c,c1,c2", subject:out "out")
    assert.equal(6, subject:metric(EMITTED))
    assert.equal(1, subject:metric
      'kvgate_filter_dropped_total{filter="f.lua",stream="",position="1"}')
  end)

  it("comes behind the copies that a verdict names, too", function()
    local subject = at_event [[
      emit { event_type = "stored", object_key = "e" }
      local copy = event:copy()
      copy.object_key = "copy"
      return { copy, event }
    ]]
    subject:send { event "a", event "b" }
    assert.equal("1:copy,a,e,copy,b,e", subject:out "out")
    subject = at_event [[
      emit { event_type = "stored", object_key = "e" }
      local copy = event:copy()
      copy.object_key = "copy"
      return { copy }
    ]]
    subject:send { event "a", event "b" }
    assert.equal("1:copy,e,copy,e", subject:out "out")
  end)

  it("is seen by the filters behind and by accept, not by its own", function()
    local subject = at_event('emit { event_type = "stored", object_key = "e", medium = "cpu" }'
      .. " event.medium = 'disk' return true", [[
sources: [ { name: store, connect: "ipc:///tmp/in" } ]
filters: [ { script: f.lua }, { script: g.lua } ]
streams:
  - { name: out, bind: "ipc:///tmp/out", accept: { medium: [cpu] } }
  - { name: more, bind: "ipc:///tmp/more", filters: [ { script: g.lua } ] }
]], { ["g.lua"] = "return function() return function(event)\n"
      .. "event.object_key = event.object_key .. 'g' return true end end" })
    subject:send { event "a" }
    assert.equal("1:eg", subject:out "out")
    assert.equal("1:agg,egg", subject:out "more")
  end)

  it("has what a publisher would write, in its order", function()
    local base = { "event_id", "timestamp", "event_type", "type", "model_name", "block_size",
      "additional_salt", "lora_name", "tenant_id", "backend_id", "medium", "dp_rank" }
    local object = { "group_id", "object_key", "seq_hashes", "block_hashes", "base_block_idx" }
    local chained = { "parent_hash", "token_ids", "parent_block_hash" }
    for _, case in ipairs {
      { "stored", "BlockStored", { base, object, chained } },
      { "removed", "BlockRemoved", { base, object } },
      { "cleared", "AllBlocksCleared", { base } },
      { "moved", wire.null, { base, object, chained } },
    } do
      local subject = at_event(("emit { event_type = %q } return false"):format(case[1]))
      subject:send({ event("a", { event_id = 77 }) }, { timestamp = 12345678, rank = 6 })
      local map, expected = sent(subject, "out")[1], {}
      for _, part in ipairs(case[3]) do
        for _, name in ipairs(part) do expected[#expected + 1] = name end
      end
      assert.same(expected, names(map))
      assert.equal(77, wire.get(map, "event_id"))
      assert.equal(12345678, wire.get(map, "timestamp"))
      assert.equal(6, wire.get(map, "dp_rank"))
      assert.equal(case[1], wire.get(map, "event_type"))
      assert.same(case[2], wire.get(map, "type"))
      assert.same(wire.null, wire.get(map, "medium"))
      if case[3][2] then
        assert.same(wire.array {}, wire.get(map, "seq_hashes"))
        assert.same(wire.array {}, wire.get(map, "block_hashes"))
      end
    end
  end)

  it("is a publisher's own, byte for byte, where all is told", function()
    local golden = require "tests.support.golden"
    local payload = golden.C1
    local subject = at_event [[
      local fields = event:to_table()
      fields.event_id = nil
      emit(fields)
      return false
    ]]
    subject.core:receive("store", 1, payload)
    local message = subject.core:sent("out")[1]
    assert.is_false(message.forwarded)
    assert.same(wire.decode(payload), wire.decode(message.payload))
  end)

  it("says what it is told under the legacy names, too", function()
    local subject = at_event [[
      emit { event_type = "stored", seq_hashes = { 1, 2 }, parent_hash = 3ULL }
      emit { event_type = "removed", seq_hashes = 4, parent_hash = 5, block_hashes = 6 }
      return false
    ]]
    subject:send { event "a" }
    local stored, removed = unpack(sent(subject, "out"))
    assert.same(wire.array { 1, 2 }, wire.get(stored, "block_hashes"))
    assert.equal(3, wire.get(stored, "parent_block_hash"))
    assert.same(wire.array { 6 }, wire.get(removed, "block_hashes"))
    assert.equal(5, wire.get(removed, "parent_hash"))
    assert.is_nil(wire.get(removed, "parent_block_hash"))
  end)

  it("carries fields that nobody knows, sorted, and timestamps of its own", function()
    local subject = at_event [[
      emit { event_type = "cleared", zebra = { 1 }, ape = "x", timestamp = 5 }
      return false
    ]]
    subject:send { event "a" }
    local map = sent(subject, "out")[1]
    local list = names(map)
    assert.same({ "ape", "zebra" }, { list[13], list[14] })
    assert.equal(5, wire.get(map, "timestamp"))
  end)

  it("may go where the event at hand may, or to fewer streams", function()
    local subject = at_event([[
      emit({ event_type = "stored", object_key = "1" })
      emit({ event_type = "stored", object_key = "2" }, "more")
      emit({ event_type = "stored", object_key = "3" }, { "out", "more" })
      return "out"
    ]], [[
sources: [ { name: store, connect: "ipc:///tmp/in" } ]
filters: [ { script: f.lua } ]
streams:
  - { name: out, bind: "ipc:///tmp/out" }
  - { name: more, bind: "ipc:///tmp/more" }
  - { name: most, bind: "ipc:///tmp/most" }
]])
    subject:send { event "a" }
    assert.equal("1:a,1,3", subject:out "out")
    assert.equal("1:1,2,3", subject:out "more")
    assert.equal("1:1", subject:out "most")
  end)

  it("by a stream's filter stays on that stream", function()
    local subject = at_event("emit { event_type = 'stored', object_key = 'e' } return true", [[
sources: [ { name: store, connect: "ipc:///tmp/in" } ]
streams:
  - { name: out, bind: "ipc:///tmp/out", filters: [ { script: f.lua } ] }
  - { name: more, bind: "ipc:///tmp/more" }
]])
    subject:send { event "a" }
    assert.equal("1:a,e", subject:out "out")
    assert.equal("1:a", subject:out "more")
  end)

  it("has the id of the one at hand, or of the one before", function()
    local subject = new [[
      local function tell() emit { event_type = "stored", object_key = "e" } end
      return { on_event = function() tell() return true end,
        on_batch = tell, on_loss = tell, on_tick = tell, every = 1 }
    ]]
    local function ids()
      local list = {}
      for index, map in ipairs(sent(subject, "out")) do
        list[index] = wire.get(map, "event_id") or "none"
      end
      return table.concat(list, " ")
    end
    subject:send { event("a", { event_id = 7 }), wire.map {}, event("b", { event_id = 9 }) }
    assert.equal("0 7 7 7 9 9", ids())
    subject:send { event("c", { event_id = 10 }), event("d", { event_id = wire.absent }) }
    assert.equal("9 10 10 none 10", ids())
    subject:send({ event("e", { event_id = 15 }) }, { seq = 5 })
    assert.equal("10 10 15 15", ids())
    subject:at(1000)
    assert.equal("15 15", ids())
    local many = {}
    for id = 16, 95 do many[#many + 1] = event("m", { event_id = id }) end
    many[65] = wire.map {}
    subject:send(many)
    local list = ids()
    assert.truthy(list:find(" 79 79 79 81 81 ", 1, true), list)
  end)

  it("has a number of its own on a stream that restamps", function()
    local subject = at_event("emit { event_type = 'stored' } return true", [[
sources: [ { name: store, connect: "ipc:///tmp/in" } ]
filters: [ { script: f.lua } ]
streams: [ { name: out, bind: "ipc:///tmp/out", event_id: restamp } ]
]])
    subject:send { event "a", event "b" }
    for id, map in ipairs(sent(subject, "out")) do
      assert.equal(id, wire.get(map, "event_id"))
    end
  end)

  it("of no message has the time of now, and the rank of the last message", function()
    local subject =
      new "return { on_tick = function() emit { event_type = 'stored' } end, every = 1 }"
    subject:at(1000)
    local first = wire.decode(subject.core:sent("out")[1].payload)
    assert.equal(1700000001000, first[1])
    assert.equal(0, first[3])
    subject:send({ event "a" }, { rank = 4 })
    subject.core:sent "out"
    subject:at(2000)
    local second = wire.decode(subject.core:sent("out")[1].payload)
    assert.equal(1700000002000, second[1])
    assert.equal(1700000002000, wire.get(second[2][1], "timestamp"))
    assert.equal(4, second[3])
    assert.equal(4, wire.get(second[2][1], "dp_rank"))
  end)

  it("of a tick has no source", function()
    local subject = new([[return { on_event = function(event)
        event.object_key = tostring(event.source)
        return true
      end, on_tick = function() emit { event_type = "stored" } end, every = 1 }]], [[
sources: [ { name: store, connect: "ipc:///tmp/in" } ]
filters: [ { script: f.lua }, { script: f.lua } ]
streams: [ { name: out, bind: "ipc:///tmp/out" } ]
]])
    subject:send { event "a" }
    subject:at(1000)
    assert.equal("1:store 2:nil,?", subject:out "out")
  end)

  it("replaces all of a message without the message going on as it came", function()
    local subject = at_event "emit { event_type = 'stored', object_key = 'e' } return false"
    local many = {}
    for index = 1, 40 do many[index] = event "a" end
    subject:send(many)
    assert.equal("1:" .. ("e,"):rep(39) .. "e", subject:out "out")
  end)

  it("that replaces the only event of a message is what a stream with a chain gets", function()
    for _, behind in ipairs { "return true", "return { event:copy() }" } do
      local subject = at_event("emit { event_type = 'stored', object_key = 'e' } return false", [[
sources: [ { name: store, connect: "ipc:///tmp/in" } ]
filters: [ { script: f.lua }, { script: g.lua } ]
streams: [ { name: out, bind: "ipc:///tmp/out", filters: [ { script: g.lua } ] } ]
]], { ["g.lua"] = "return function() return function(event) " .. behind .. " end end" })
      subject:send { event "a" }
      assert.equal("1:e", subject:out "out")
    end
  end)

  it("is to the filters behind as if it had been received", function()
    local subject = at_event([[
      emit { event_type = "stored", object_key = "e", seq_hashes = 5, tenant_id = "acme" }
      return false
    ]], [[
sources: [ { name: store, connect: "ipc:///tmp/in" } ]
filters: [ { script: f.lua }, { script: g.lua, on_error: pass } ]
streams: [ { name: out, bind: "ipc:///tmp/out" } ]
]], { ["g.lua"] = [[return function() return function(event)
      assert(event.object_key == "e" and event.seq_hashes[1] == 5ULL and event.lora_name == nil)
      event.object_key = "lost in an error"
      error "no"
    end end]] })
    subject:send { event "a" }
    assert.equal("1:e", subject:out "out")
    assert.equal(0, subject:metric
      'kvgate_filter_rewritten_total{filter="g.lua",stream="",position="2"}')
  end)
end)

describe("emit", function()
  local refusals = {
    { "emit()", "emit takes a table of fields, not nil" },
    { "emit(event)", "emit takes a table of fields, not a 64-bit integer or event" },
    { "emit {}", "emit: event_type is a string, not nil" },
    { "emit { event_type = 1 }", "emit: event_type is a string, not the number 1" },
    { "emit { event_type = 'stored', 5 }", "emit: a field's name is a string, not the number 1" },
    { "emit { event_type = 'stored', event_id = 1 }",
      "event.event_id is read-only: streams stamp it" },
    { "emit { event_type = 'stored', source = 'a' }", "event.source is read-only" },
    { "emit { event_type = 'stored', medium = 1 }",
      "event.medium takes a string or nil, not the number 1" },
    { "emit({ event_type = 'stored' }, 'mor')",
      'emit: no stream is called "mor"; did you mean "more"? known are out, more' },
    { "emit({ event_type = 'stored' }, 1)",
      "emit: streams is a name or a list of names, not the number 1" },
    { "emit({ event_type = 'stored' }, {})",
      "emit: streams is a name or a list of names, not a table" },
    { "emit({ event_type = 'stored' }, { 'out', nil, 'more' })",
      "emit: streams is a list with a hole, or with names beside it" },
    { "emit({ event_type = 'stored' }, { 'out', x = 'more' })",
      "emit: streams is a list with a hole, or with names beside it" },
    { "emit({ event_type = 'stored' }, { 1 })",
      "emit: a stream's name is a string, not the number 1" },
  }
  for _, case in ipairs(refusals) do
    it("refuses " .. case[1], function()
      local subject = at_event(([[
        if event.object_key ~= "a" then return true end
        local ok, why = pcall(function() %s end)
        event.object_key = why
        return not ok
      ]]):format(case[1]))
      subject:send { event "a", event "b" }
      assert.equal("1:" .. case[2] .. ",b", (subject:out("out"):gsub("%S+/f.lua:%d+: ", "")))
      assert.equal(0, subject:metric(EMITTED))
    end)
  end

  it("while the filter loads is an error with its line", function()
    local ok, why = pcall(new, "emit { event_type = 'stored' }")
    assert.is_false(ok)
    assert.truthy(why:find("f.lua:3: emit works while a hook runs, not while the filter loads",
      1, true), why)
  end)

  it("makes 1024 events a call, and not one more, whatever catches the error", function()
    local subject = at_event [[
      local count = tonumber(event.object_key)
      pcall(function()
        for index = 1, count do emit { event_type = "stored", object_key = "e" } end
      end)
      return true
    ]]
    subject:send { event "1024" }
    assert.equal(1025, #sent(subject, "out"))
    assert.equal(0, subject:metric(ERRORS))
    subject:send { event "1025", event "1" }
    assert.equal("19:1,e", subject:out "out")
    assert.equal(1, subject:metric(ERRORS))
    assert.equal(1025, subject:metric(EMITTED))
    subject:assert_identity "out"
  end)

  it("fails where a batch is full, and the events that have room go on", function()
    local subject = at_event [[
      for index = 1, 900 do emit { event_type = "stored", object_key = "e" } end
      return true
    ]]
    subject:send { event "a", event "b", event "c" }
    assert.equal(1, subject:metric(ERRORS))
    assert.equal(1800, subject:metric(EMITTED))
    subject:assert_identity "out"
  end)

  it("undoes nothing of what was emitted for events before", function()
    local subject = at_event [[
      emit { event_type = "stored", object_key = "e" .. event.object_key }
      if event.object_key == "x" then error "no" end
      return true
    ]]
    subject:send { event "a", event "x", event "b" }
    assert.equal("1:a,ea 3:b,eb", subject:out "out")
    assert.equal(2, subject:metric(EMITTED))
    subject:assert_identity "out"
  end)

  it("makes no event that a verdict could name again", function()
    -- A view that was kept of a copy, whose call failed: an emitted event has its slot now, and
    -- linking it twice would make a ring of the batch. One that was refused halfway is none at all.
    for _, medium in ipairs { "'cpu'", "1" } do
      local subject = new(([[
        local kept
        return function(event)
          if event.object_key == "x" then
            kept = event:copy()
            error "no"
          end
          pcall(emit, { event_type = "stored", medium = %s })
          return { event, kept }
        end
      ]]):format(medium))
      subject:send { event "x", event "b" }
      assert.equal("", subject:out "out")
      assert.equal(2, subject:metric(ERRORS))
    end
  end)

  it("keeps its memory within that of the message", function()
    local subject = at_event [[
      local text = ("x"):rep(2 ^ 20)
      for index = 1, 100 do emit { event_type = "stored", object_key = text } end
      return true
    ]]
    subject:send { event "a" }
    assert.equal(1, subject:metric(ERRORS))
    assert.equal(0, subject:metric(EMITTED))
    subject:assert_identity "out"
  end)
end)

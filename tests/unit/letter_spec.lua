--- relay/letter.c: what a filter failed on arrives whole, on a stream of its own.
local relay = require "tests.support.relay"
local wire = require "tests.support.wire"
local event = relay.event

local LETTERS = [[
sources: [ { name: store, connect: "ipc:///tmp/in" } ]
dead_letters: { bind: "ipc:///tmp/letters" }
filters: [ { script: f.lua, on_error: dead_letter } ]
streams: [ { name: out, bind: "ipc:///tmp/out" } ]
]]

--- A filter that raises what the event's lora_name says.
local RAISER = [[
return function()
  return function(event)
    if event.lora_name then error(event.lora_name, 0) end
    return true
  end
end
]]

local SPLITTER = [[
return function()
  return function(event)
    if event.object_key ~= "s" then return true end
    local other = event:copy()
    event.medium, other.object_key = "disk", "x"
    return { event, other }
  end
end
]]

--- The letters since the last call; the first of each message says `number`.
local function letters_of(subject)
  local letters = {}
  for _, message in ipairs(subject.core:sent "dead_letters") do
    local batch = wire.decode(message.payload)
    for index, map in ipairs(batch[2]) do
      local letter = { number = index == 1 and message.sequence or nil }
      for _, pair in ipairs(map) do letter[pair[1]] = pair[2] end
      letter.event, letter.bytes = nil, wire.events(message.payload)[index]
      letters[#letters + 1] = letter
    end
  end
  return letters
end

local function ends_with(bytes, text) return bytes:sub(-#text) == text end

--- Does the letter end with these bytes of an event?
local function has(letter, map) return ends_with(letter.bytes, "\165event" .. wire.encode(map)) end

describe("letter", function()
  it("says where the event was, what failed, and has its bytes", function()
    local subject = relay.new(LETTERS, { ["f.lua"] = relay.PICKY })
    local failed = event("x", { extra = 7 })
    subject:send({ event "a", failed, event "b" }, { seq = 2 ^ 33 })
    assert.equal("1:a 3:b", subject:out "out")
    local letter, more = unpack(letters_of(subject))
    assert.is_nil(more)
    assert.is_true(has(letter, failed))
    letter.bytes = nil
    assert.truthy(letter.error:find("f.lua:5: no", 1, true), letter.error)
    letter.error = nil
    assert.same({
      number = 1, source = "store", sequence = 2 ^ 33, position = 1, stream = wire.null,
      filter = "f.lua", result = "raised an error", event_size = #wire.encode(failed),
    }, letter)
    subject:assert_identity("out", "dead_letters")
  end)

  it("is under the time of its sending, and of no rank", function()
    local subject = relay.new(LETTERS, { ["f.lua"] = relay.PICKY })
    subject:at(5)
    subject:send({ event "x" }, { rank = 3, timestamp = 42 })
    local batch = wire.decode(subject.core:sent("dead_letters")[1].payload)
    assert.equal(1700000000005, batch[1])
    assert.equal(wire.null, batch[3])
  end)

  it("numbers letters without holes, whatever the streams lose", function()
    local subject = relay.new(LETTERS, { ["f.lua"] = relay.PICKY })
    subject:send({ event "x" }, { seq = 1 })
    subject:send({ event "x" }, { seq = 5 })
    subject:send({ event "x", event "x" }, { seq = 6 })
    local letters = letters_of(subject)
    assert.same({ 1, 2, 3 }, { letters[1].number, letters[2].number, letters[3].number })
    assert.is_nil(letters[4].number)
    assert.equal(4, #letters)
    assert.equal(0, subject:metric 'kvgate_stream_reserved_numbers_total{stream="dead_letters"}')
  end)

  it("names the stream whose filter failed; the others have the event", function()
    local subject = relay.new([[
sources: [ { name: store, connect: "ipc:///tmp/in" } ]
dead_letters: { bind: "ipc:///tmp/letters" }
streams:
  - { name: one, bind: "ipc:///tmp/1", filters: [ { script: f.lua, on_error: dead_letter } ] }
  - { name: two, bind: "ipc:///tmp/2" }
]], { ["f.lua"] = relay.PICKY })
    local failed = event "x"
    subject:send { event "a", failed }
    subject:send { event "b" }
    assert.equal("1:a 3:b", subject:out "one")
    assert.equal("1:a,x 2:b", subject:out "two")
    local letter = letters_of(subject)[1]
    assert.equal("one", letter.stream)
    assert.equal(1, letter.position)
    assert.is_true(has(letter, failed))
  end)

  it("has the place and the bytes of the received event, whatever filters made of it", function()
    local subject = relay.new((LETTERS:gsub("filters: %[", "filters: [ { script: split.lua },")),
      { ["f.lua"] = relay.PICKY, ["split.lua"] = SPLITTER })
    local split = event "s"
    subject:send { event "a", split }
    assert.equal("1:a,s", subject:out "out")
    local letter = letters_of(subject)[1]
    assert.equal(1, letter.position)
    assert.is_true(has(letter, split))
  end)

  it("counts places over the whole message, rubbish too", function()
    local subject = relay.new(LETTERS, { ["f.lua"] = relay.PICKY })
    local events = {}
    for index = 1, 200 do events[index] = event(index % 65 == 0 and "x" or "a") end
    events[10] = 42
    subject:send(events)
    local places = {}
    for index, letter in ipairs(letters_of(subject)) do places[index] = letter.position end
    assert.same({ 64, 129, 194 }, places)
  end)

  it("has no place for an event that a filter made, and no source outside of messages", function()
    local subject = relay.new((LETTERS:gsub("filters: %[", "filters: [ { script: make.lua },")), {
      ["f.lua"] = relay.PICKY,
      ["make.lua"] = [[
local emit = require "kvgate.emit"
local function make() emit { event_type = "stored", object_key = "x" } end
return function()
  return { on_event = function() make() return true end, on_tick = make, every = 1 }
end
]],
    })
    subject:send({ event "a" }, { seq = 7 })
    subject:at(1000)
    subject.core:idle()
    local first, second, more = unpack(letters_of(subject))
    assert.is_nil(more)
    assert.same({ "store", 7, wire.null }, { first.source, first.sequence, first.position })
    assert.same({ wire.null, wire.null, wire.null },
      { second.source, second.sequence, second.position })
    assert.is_true(first.event_size > 0)
    assert.truthy(first.bytes:find("\170object_key\161x", 1, true)) -- what was emitted
  end)

  it("tells of each way to fail by the words of the log", function()
    local subject = relay.new(LETTERS, { ["f.lua"] = [[
return function()
  return function(event)
    local key = event.object_key
    if key == "none" then return 7 end
    if key == "stream" then return "nowhere" end
    if key == "many" then while true do event:copy() end end
    return true
  end
end
]] })
    subject:send { event "none", event "stream", event "many" }
    local results = {}
    for index, letter in ipairs(letters_of(subject)) do results[index] = letter.result end
    assert.same({ "returned no verdict", "named an unknown stream", "made too many events" },
      results)
  end)

  it("mends texts that are no UTF-8, and cuts those that are long", function()
    local subject = relay.new(LETTERS, { ["f.lua"] = RAISER })
    subject:send {
      event("a", { lora_name = "be\255fore\n" }),
      event("a", { lora_name = ("é"):rep(2000) }),
    }
    local first, second = unpack(letters_of(subject))
    assert.truthy(first.error:find("be\239\191\189fore\n", 1, true), first.error)
    assert.is_true(#second.error <= 1024 and #second.error > 1020)
    assert.truthy(second.error:match "é…$")
  end)

  it("leaves out an event of more than a mebibyte, and says how large it was", function()
    local subject = relay.new(LETTERS, { ["f.lua"] = relay.PICKY })
    local large = event("x", { extra = ("y"):rep(2 ^ 20) })
    subject:send { large }
    local letter = letters_of(subject)[1]
    assert.equal(#wire.encode(large), letter.event_size)
    assert.is_true(ends_with(letter.bytes, "\165event\192"))
    assert.is_true(#letter.bytes < 1024)
  end)

  it("keeps its numbers over a reload, whatever feeds it", function()
    local subject = relay.new(LETTERS, { ["f.lua"] = relay.PICKY })
    subject:send { event "x" }
    subject:write("f.lua", relay.PICKY .. "-- changed")
    assert(subject.core:reload(LETTERS))
    subject:send { event "x" }
    local letters = letters_of(subject)
    assert.same({ 1, 2 }, { letters[1].number, letters[2].number })
    subject:assert_identity "dead_letters"
  end)

  it("goes with its section, and comes back behind a loss", function()
    local plain = LETTERS:gsub("dead_letters:[^\n]*\n", ""):gsub(", on_error: dead_letter", "")
    local subject = relay.new(LETTERS, { ["f.lua"] = relay.PICKY })
    subject:send { event "x" }
    assert(subject.core:reload(plain))
    assert.has_error(function() subject.core:sent "dead_letters" end)
    subject:send { event "x" }
    assert(subject.core:reload(LETTERS))
    subject:send { event "x" }
    assert.equal(3, letters_of(subject)[1].number)
    subject:assert_identity "dead_letters"
  end)

  it("costs the streams no number when lost events begin to have letters", function()
    local plain = LETTERS:gsub("on_error: dead_letter", "on_error: lose")
    local subject = relay.new(plain, { ["f.lua"] = relay.PICKY })
    subject:send { event "a" }
    assert(subject.core:reload(LETTERS))
    subject:send { event "b" }
    assert.equal("1:a 2:b", subject:out "out")
  end)

  it("is lost as any message when the socket refuses it, and the gap is announced", function()
    local subject = relay.new(LETTERS, { ["f.lua"] = relay.PICKY })
    subject.core:refuse("dead_letters", 1)
    subject:send { event "x" }
    subject:at(1000)
    local sent = subject.core:sent "dead_letters"
    assert.equal(2, sent[1].sequence)
    assert.equal(0, #wire.decode(sent[1].payload)[2])
    subject:assert_identity("out", "dead_letters")
  end)

  it("leaves the filter's own on_loss its word", function()
    local subject = relay.new(LETTERS, { ["f.lua"] = [[
local emit = require "kvgate.emit"
return function()
  return {
    on_event = function(event)
      if event.object_key == "x" then error "no" end
      return true
    end,
    on_loss = function() emit { event_type = "cleared" } end,
  }
end
]] })
    subject:send { event "a", event "x", event "b" }
    assert.equal("1:a 3:?,b", subject:out "out")
    assert.equal(1, #letters_of(subject))
  end)
end)

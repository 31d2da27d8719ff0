local codec = require("gateway").codec
local python = require "tests.support.python"
local wire = require "tests.support.wire"

local random = math.random

--- What a reader that has seen other events makes of one is what the ordinary path makes of it.
local function assert_same_reading(reader, payload)
  local ordinary = codec.reader()
  local header, list = reader:open(payload)
  assert(header, list)
  for _, event in ipairs(list) do
    assert.same(ordinary:index(event.bytes), event)
  end
  return list
end

local function one_of(list) return list[random(#list)] end

local KEYS = { "Qwen/Qwen3-32B@tp_rank:%d@pcp0@dcp0@pp_rank:0@%s", "%d_%s_k", "%d%s" }

local function random_hex(size)
  local digits = {}
  for index = 1, size do digits[index] = ("%x"):format(random(16) - 1) end
  return table.concat(digits)
end

--- An event of a publisher that has a configuration, as busy ones send them.
local function traffic(publisher, id)
  local kind = one_of { "stored", "stored", "removed", "removed", "cleared" }
  local fields = {
    event_type = kind, event_id = id, timestamp = publisher.timestamp,
    tenant_id = "tenant-" .. random(120), legacy = publisher.legacy,
    model_name = publisher.model, dp_rank = publisher.rank,
  }
  if kind == "cleared" then return wire.cleared(fields) end
  fields.medium = one_of { "cpu", "disk" }
  fields.object_key = publisher.key:format(random(8), random_hex(64))
  fields.group_id = one_of { wire.null, "group-" .. random(9) }
  if random(3) == 1 then fields.seq_hashes = wire.array { random(2 ^ 40) } end
  if kind == "stored" and random(4) == 1 then
    fields.token_ids = wire.array { 1, 2, random(200000) }
  end
  return wire.event(fields)
end

--- Now and then something that looks like an event and is none, or is an odd one.
local function oddity(id)
  return one_of {
    wire.event { event_id = -id }, wire.event { event_id = tostring(id) },
    wire.event { event_id = wire.raw("\xd3" .. wire.seq(id)) }, wire.event { type = wire.null },
    wire.event { event_type = wire.null, type = wire.null, event_id = id },
    wire.event { event_type = "compacted", event_id = id }, wire.array { id }, id, wire.null,
    wire.event { event_type = wire.bin "stored", event_id = id },
    wire.event { x = 1, event_id = id }, wire.event { tenant_id = wire.absent, event_id = id },
    wire.map { { "event_type", "stored" }, { "event_type", "stored" } },
    wire.map { { "event_type", one_of { "stored", "removed" } }, { "event_id", id } },
    wire.map { { "event_type", one_of { "x", "yy" } }, { "medium", id } },
    wire.map { { "event_type", "stored" }, { one_of { "a", "b" }, id } },
  }
end

describe("an event that looks like an earlier one", function()
  it("reads as it would have anyway, through thousands of random messages", function()
    math.randomseed(7)
    local reader, id = codec.reader(), 0
    for round = 1, 60 do
      local publisher = {
        timestamp = wire.timestamp + round, legacy = random(2) == 1, key = one_of(KEYS),
        model = one_of { wire.null, "m", "Qwen/Qwen3-32B" }, rank = one_of { 0, 1, 300 },
      }
      for _ = 1, 6 do
        local list = {}
        for number = 1, one_of { 1, 8, 64, 64, 90 } do
          id = id + random(3)
          list[number] = random(40) == 1 and oddity(id) or traffic(publisher, id)
        end
        assert_same_reading(reader, wire.payload(publisher.timestamp, list, publisher.rank))
      end
    end
  end)

  it("has the fields that python3-msgpack reads from the same bytes", function()
    math.randomseed(8)
    local reader, id, lines, got = codec.reader(), 0, {}, {}
    local publisher = { timestamp = 5, key = KEYS[1], model = "m", rank = 0 }
    for round = 1, 20 do
      local list = {}
      for number = 1, 64 do
        id = id + 1
        list[number] = traffic(publisher, id)
      end
      local payload = wire.payload(nil, list)
      local _, events = reader:open(payload)
      local rows = {}
      for number, event in ipairs(events) do
        local names = {}
        for name, value in pairs(event.fields) do names[#names + 1] = name .. wire.hex(value) end
        table.sort(names)
        rows[number] = table.concat(names, ",")
      end
      lines[round], got[round] = wire.hex(payload), table.concat(rows, ";")
    end
    local expected = python.lines([==[
import sys, msgpack
for line in sys.stdin:
    timestamp, events, rank = msgpack.unpackb(bytes.fromhex(line))
    print(";".join(",".join(sorted(name + msgpack.packb(value).hex()
                                   for name, value in event.items())) for event in events))
]==], lines)
    for round = 1, #lines do assert.equal(expected[round], got[round]) end
  end)

  it("may hold any value in any place", function()
    local values = {
      wire.null, false, true, 0, 127, 128, 2 ^ 16, 2 ^ 32, -1, -200, -70000, -2 ^ 40, "", "x",
      ("y"):rep(31), ("y"):rep(32), ("y"):rep(255), ("y"):rep(256), ("y"):rep(70000),
      wire.float(1), wire.float32(1), wire.bin "", wire.bin(("b"):rep(300)), wire.ext(1, "a"),
      wire.ext(1, ("a"):rep(16)), wire.ext(1, ("a"):rep(17)), wire.array {}, wire.map {},
      wire.array { 1, wire.map { { "k", wire.array { "deep" } } } },
    }
    local reader = codec.reader()
    for _, name in ipairs(codec.fields()) do
      for _, value in ipairs(values) do
        assert_same_reading(reader, wire.payload(nil, { wire.event { [name] = value } }))
      end
    end
  end)

  it("is recognised whether its keys are few, many, long or oddly encoded", function()
    local reader = codec.reader()
    for _, pairs_count in ipairs { 1, 15, 16, 31, 32, 33, 300 } do
      for round = 1, 4 do
        local list = { { "event_type", "stored" } }
        for number = 2, pairs_count do list[number] = { "key" .. number, number * round } end
        local got = assert_same_reading(reader, wire.payload(nil, { wire.map(list) }))
        assert.equal("stored", got[1].type)
      end
    end
    for round = 1, 20 do
      local odd = wire.raw("\xdf\0\0\0\2\xda\0\10event_type\xa6stored\xdb\0\0\0\8event_id\xcd\0"
        .. string.char(round))
      assert_same_reading(reader, wire.payload(nil, { odd }))
    end
  end)

  it("gets its own type where the type varies", function()
    local reader = codec.reader()
    local function typed(field, value)
      return wire.map { { "event_id", 1 }, { field, value }, { "medium", "cpu" } }
    end
    for _, field in ipairs { "event_type", "type" } do
      for _, case in ipairs {
        { "stored", "stored" }, { "removed", "removed" }, { "BlockRemoved", "removed" },
        { "cleared", "cleared" }, { "storeX", "other" }, { "BlockStored", "stored" },
      } do
        local _, list = reader:open(wire.payload(nil, { typed(field, case[1]) }))
        assert.equal(case[2], list[1].type)
      end
      local _, list = reader:open(wire.payload(nil, { typed(field, 1) }))
      assert.equal("no event_type", list[1].fault)
    end
  end)

  it("has nothing left of the event that had its slot before", function()
    local reader = codec.reader()
    local bytes = wire.encode(wire.event {})
    assert(reader:open(wire.payload(nil, { wire.event {} })))
    local _, touched = reader:rewrite(bytes, { { "medium", wire.encode "gone" }, { "x", "\1" } })
    assert.is_true(touched)
    local list = assert_same_reading(reader, wire.payload(nil, { wire.event {} }))
    assert.equal(wire.encode "cpu", list[1].fields.medium)
  end)

  it("reads as it would have anyway when any one byte of it is another", function()
    local reader = codec.reader()
    local event = wire.event { object_key = "some-key", tenant_id = "tenant-1" }
    local payload = wire.payload(nil, { event })
    for number = 1, 5 do
      assert(reader:open(wire.payload(nil, {
        wire.event { object_key = ("k"):rep(number), tenant_id = "t" .. number, event_id = number },
      })))
    end
    for at = 1, #payload do
      for _, byte in ipairs { "\xc1", "k", "\xa5", "\x90" } do
        local broken = payload:sub(1, at - 1) .. byte .. payload:sub(at + 1)
        local known, known_events = reader:open(broken)
        local fresh, fresh_events = codec.reader():open(broken)
        assert.same(fresh, known)
        assert.same(fresh_events, known_events) -- or the faults
      end
    end
  end)
end)

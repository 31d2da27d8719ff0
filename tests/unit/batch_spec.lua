local codec = require("gateway").codec
local golden = require "tests.support.golden"
local wire = require "tests.support.wire"

local encode = wire.encode

local function open(payload) return codec.reader():open(payload) end

local function fault(payload) return (select(2, open(payload))) end

local function events(count, fields)
  local list = {}
  for number = 1, count do
    local copy = { event_id = number, object_key = "key-" .. number }
    for name, value in pairs(fields or {}) do copy[name] = value end
    list[number] = wire.event(copy)
  end
  return list
end

describe("a payload", function()
  it("decodes to the fields that a golden message holds", function()
    for name, payload in pairs(golden) do
      local expected = wire.decode(payload)
      local header, list, windows = open(payload)
      assert.equal(encode(expected[1]), header.timestamp, name)
      assert.equal(encode(expected[3]), header.rank, name)
      assert.equal(1, header.count)
      assert.equal(1, windows)
      assert.equal(tostring(wire.get(expected[2][1], "event_id")), header.first_id)
      assert.equal(encode(expected[2][1]), list[1].bytes, name)
      assert.equal(wire.get(expected[2][1], "event_type"), list[1].type, name)
      for _, pair in ipairs(expected[2][1]) do
        assert.equal(encode(pair[2]), list[1].fields[pair[1]], name .. " " .. pair[1])
      end
    end
  end)

  it("holds at most 1,048,576 events, so that nothing waits long behind it", function()
    local function payload(count)
      local header = ("\221%c%c%c%c"):format(0, count / 65536, count / 256 % 256, count % 256)
      return "\147\1" .. header .. ("\1"):rep(count) .. "\0"
    end
    assert.equal(1048576, open(payload(1048576)).count)
    assert.equal("more than 1,048,576 events", fault(payload(1048577)))
  end)

  it("may be empty, and may have a nil rank", function()
    local header, list, windows = open(wire.payload(1, {}, wire.null))
    assert.same({ count = 0, timestamp = "\1", rank = "\xc0", first_id = "0", last_id = "0" },
      header)
    assert.same({}, list)
    assert.equal(0, windows)
  end)

  it("names the first and the last id, whatever lies between", function()
    local list = events(3)
    list[1] = wire.event { event_id = wire.absent }
    list[3] = wire.event { event_id = 0xffffffffffffffffULL }
    list[4] = wire.array {}
    list[5] = wire.map { { "event_id", 99 } }
    local header = open(wire.payload(nil, list))
    assert.equal("2", header.first_id)
    assert.equal("18446744073709551615", header.last_id)
    list[3], list[4], list[5] = nil, nil, nil
    for number = 3, 70 do list[number] = wire.event { event_id = number } end
    header = open(wire.payload(nil, list))
    assert.equal("2", header.first_id)
    assert.equal("70", header.last_id)
  end)

  it("is lost whole if its frame is wrong, and says why", function()
    local event = wire.event {}
    for _, case in ipairs {
      { "not msgpack, or cut short", "" },
      { "not msgpack, or cut short", "\xc1" },
      { "not msgpack, or cut short", "\x93" },
      { "not msgpack, or cut short", "\xdc\0" },
      { "not msgpack, or cut short", "\x93\1" },
      { "not msgpack, or cut short", "\x93\1\x90" },
      { "not msgpack, or cut short", "\x93\1\x91\xc1\0" },
      { "not msgpack, or cut short", "\x93\1\xc1\0" },
      { "not msgpack, or cut short", "\x93\xc1\x90\0" },
      { "not msgpack, or cut short", "\x93\1\x90\xc1" },
      { "not msgpack, or cut short", "\x93\1\xdd\xff\xff\xff\xff\0" },
      { "not msgpack, or cut short", "\x93\1\x91\x82\xaaevent_type\xa6stored\xa1k" },
      { "not an array of three", "\x92\1\x90" },
      { "not an array of three", "\x94\1\x90\0\0" },
      { "not an array of three", encode(wire.map { { 1, 2 } }) },
      { "not an array of three", encode(wire.bin "123") },
      { "not an array of three", "\xdd\xff\xff\xff\xff" },
      { "the timestamp is not an integer", wire.payload(wire.float(1.5), { event }) },
      { "the timestamp is not an integer", wire.payload(wire.null, { event }) },
      { "the timestamp is not an integer", wire.payload("1", { event }) },
      { "the events are not an array", "\x93\1\xc0\0" },
      { "the events are not an array", "\x93\1\x80\0" },
      { "dp_rank is neither an integer nor nil", wire.payload(nil, { event }, "0") },
      { "dp_rank is neither an integer nor nil", wire.payload(nil, { event }, wire.float(0)) },
      { "bytes follow the payload", wire.payload(nil, { event }) .. "\0" },
      { "bytes follow the payload", wire.payload(nil, {}) .. wire.payload(nil, {}) },
    } do
      local header, text = open(case[2])
      assert.is_nil(header)
      assert.equal(case[1], text, wire.hex(case[2]:sub(1, 20)))
    end
  end)

  it("is lost if it is cut at any byte, by a reader that knows such events too", function()
    local reader = codec.reader()
    for name, payload in pairs(golden) do
      local many = wire.payload(nil, events(3))
      assert(reader:open(payload))
      assert(reader:open(many))
      for size = 0, #payload - 1 do
        assert.is_nil((reader:open(payload:sub(1, size))), name)
        assert.is_nil((open(payload:sub(1, size))), name)
      end
      for size = 0, #many - 1 do assert.is_nil((reader:open(many:sub(1, size)))) end
    end
  end)

  it("takes headers and integers of any width", function()
    local event = encode(wire.event {})
    local header, list = open("\xdd\0\0\0\3\xd3\0\0\0\0\0\0\0\5\xdd\0\0\0\1" .. event .. "\xd0\xff")
    assert.equal("\xd3\0\0\0\0\0\0\0\5", header.timestamp)
    assert.equal("\xd0\xff", header.rank)
    assert.equal(event, list[1].bytes)
    assert(open(wire.payload(-1, {}, -1)))
    assert(open(wire.payload(0xffffffffffffffffULL, {}, 0xffffffffffffffffULL)))
  end)

  it("loses a malformed event and keeps the rest, in order", function()
    local list = events(7)
    list[2] = wire.array {}
    list[3] = wire.map { { 1, 2 } }
    list[5] = wire.event { event_id = -1 }
    list[6] = wire.event { event_type = wire.null, type = wire.null }
    local _, got = open(wire.payload(nil, list))
    local faults = {}
    for number, event in ipairs(got) do
      faults[number] = event.fault or event.fields.event_id:byte()
      assert.equal(encode(list[number]), event.bytes)
    end
    assert.same({
      1, "not a map", "a key is not a string", 4, "event_id is no unsigned integer",
      "no event_type", 7,
    }, faults)
  end)

  it("may be edited by 64 MiB, and the next one again", function()
    local reader = codec.reader()
    local bytes = encode(wire.event {})
    local function edit(count)
      for number = 1, count do
        reader:rewrite(bytes, { { "note", encode(("n"):rep(2 ^ 20) .. number) } })
      end
    end
    edit(60)
    assert.has_error(function() edit(5) end, "refused")
    assert(reader:open(wire.payload(nil, { wire.event {} })))
    edit(60)
  end)

  it("comes in windows of at most 64 events", function()
    local reader = codec.reader()
    for count, windows in pairs { [1] = 1, [63] = 1, [64] = 1, [65] = 2, [128] = 2, [200] = 4 } do
      local list = events(count)
      local header, got, seen = reader:open(wire.payload(nil, list))
      assert.equal(windows, seen)
      assert.equal(count, header.count)
      assert.equal(tostring(count), header.last_id)
      assert.equal(count, #got)
      for number, event in ipairs(got) do assert.equal(encode(list[number]), event.bytes) end
    end
  end)

  it("of more than a window is refused whole when its end is wrong", function()
    local payload = wire.payload(nil, events(100))
    assert.equal("bytes follow the payload", fault(payload .. "\1"))
    assert.equal("not msgpack, or cut short", fault(payload:sub(1, -2)))
    assert.equal("dp_rank is neither an integer nor nil", fault(payload:sub(1, -2) .. "\xa0"))
  end)

  it("may nest as deep as the cursor follows, in whatever way the event is read", function()
    local reader = codec.reader()
    local function with(depth)
      return wire.payload(nil, { wire.event { token_ids = wire.raw(("\x91"):rep(depth) .. "\1") } })
    end
    for _, depth in ipairs { 0, 1, 2, 511 } do
      assert(reader:open(with(depth)))
      assert.is_table((reader:open(with(depth))), "once more, when it is known")
    end
    for _, depth in ipairs { 512, 513, 100000 } do
      assert.equal("not msgpack, or cut short", select(2, reader:open(with(depth))))
      assert.equal("not msgpack, or cut short", fault(with(depth)))
    end
  end)

  it("may be huge: a million keys, a million events, 64 MiB in one string", function()
    local keys = wire.raw("\xdf\x00\x0f\x42\x41\xaaevent_type\xa6stored"
      .. ("\xa1k\xc0"):rep(1000000))
    local _, list = open(wire.payload(nil, { keys, wire.event {} }))
    assert.equal("stored", list[1].type)
    assert.equal("stored", list[2].type)
    assert.equal("not msgpack, or cut short",
      fault("\x93\1\xdd\x00\x0f\x42\x40" .. ("\xc0"):rep(999999) .. "\0"))
    assert(open(wire.payload(nil, { wire.event { object_key = ("k"):rep(2 ^ 26) } })))
    assert.equal("not msgpack, or cut short", fault("\x93\1" .. ("\x91"):rep(2 ^ 26)))
  end)
end)

local codec = require("gateway").codec
local golden = require "tests.support.golden"
local python = require "tests.support.python"
local wire = require "tests.support.wire"

local encode = wire.encode
local reader = codec.reader()

--- The one event of a golden message.
local function golden_event(name)
  return reader:open(golden[name]) and select(2, reader:open(golden[name]))[1].bytes
end

local function index(fields)
  return reader:index(encode(type(fields) == "table" and fields.kind and fields
    or wire.event(fields)))
end

--- Apply edits { { name, value } }; wire.absent removes.  Returns the map and the raw bytes.
local function rewrite(bytes, edits, id)
  local raw = {}
  for number, edit in ipairs(edits) do
    raw[number] = { edit[1], edit[2] ~= wire.absent and encode(edit[2]) }
  end
  local written, touched = reader:rewrite(bytes, raw, id)
  return wire.decode(written), written, touched
end

describe("an event", function()
  describe("when indexed", function()
    it("finds all fields of the golden messages", function()
      for name, payload in pairs(golden) do
        local map = wire.decode(payload)[2][1]
        local event = reader:index(encode(map))
        for _, pair in ipairs(map) do
          assert.equal(encode(pair[2]), event.fields[pair[1]], name .. " " .. pair[1])
        end
        for _, field in ipairs(codec.fields()) do
          if wire.get(map, field) == nil then assert.is_nil(event.fields[field]) end
        end
      end
    end)

    it("knows its type by either name in either field", function()
      for _, case in ipairs {
        { "stored", { { "event_type", "stored" } } },
        { "removed", { { "event_type", "removed" } } },
        { "cleared", { { "event_type", "cleared" } } },
        { "stored", { { "type", "BlockStored" } } },
        { "removed", { { "type", "BlockRemoved" } } },
        { "cleared", { { "type", "AllBlocksCleared" } } },
        { "removed", { { "type", "BlockStored" }, { "event_type", "removed" } } },
        { "stored", { { "event_type", wire.null }, { "type", "BlockStored" } } },
        { "other", { { "event_type", "compacted" } } },
        { "other", { { "event_type", "" } } },
        { "other", { { "event_type", "storeD" } } },
      } do
        assert.equal(case[1], index(wire.map(case[2])).type)
      end
    end)

    it("passes unknown keys, repeated ones too, and values of any type", function()
      local event = index(wire.map {
        { "x", 1 }, { "event_type", "stored" }, { "x", 2 }, { "tenant_id", wire.bin "t" },
        { "timestamp", "noon" }, { "dp_rank", -1 }, { "seq_hashes", wire.map {} }, { "", 0 },
      })
      assert.is_nil(event.fault)
      assert.equal(encode(wire.bin "t"), event.fields.tenant_id)
      assert.equal(encode(wire.map {}), event.fields.seq_hashes)
    end)

    it("needs a type, text keys, known fields once and an unsigned id", function()
      local stored = { "event_type", "stored" }
      for _, case in ipairs {
        { "no event_type", wire.map {} },
        { "no event_type", wire.map { { "event_type", 1 } } },
        { "no event_type", wire.map { { "event_type", wire.bin "stored" } } },
        { "no event_type", wire.map { { "event_type", wire.null }, { "type", wire.null } } },
        { "a key is not a string", wire.map { { wire.bin "event_type", "stored" } } },
        { "a key is not a string", wire.map { stored, { 1, 1 } } },
        { "a key is not a string", wire.map { stored, { wire.null, 1 } } },
        { "a known field is there twice", wire.map { stored, stored } },
        { "a known field is there twice",
          wire.map { stored, { "token_ids", 1 }, { "x", 1 }, { "token_ids", 1 } } },
        { "a known field is there twice",
          wire.map { stored, { wire.raw "\xd9\x0aevent_type", "stored" } } },
        { "event_id is no unsigned integer", wire.map { stored, { "event_id", -1 } } },
        { "event_id is no unsigned integer", wire.map { stored, { "event_id", wire.null } } },
        { "event_id is no unsigned integer", wire.map { stored, { "event_id", "1" } } },
        { "event_id is no unsigned integer", wire.map { stored, { "event_id", wire.float(1) } } },
        { "not a map", wire.array { 1 } }, { "not a map", 1 }, { "not a map", "stored" },
        { "not a map", wire.null },
      } do
        local event = reader:index(encode(case[2]))
        assert.equal(case[1], event.fault)
        assert.is_nil(event.fields)
      end
    end)

    it("takes an id in any form of an unsigned integer", function()
      for _, id in ipairs {
        "\x00", "\x7f", "\xcc\x01", "\xcd\0\1", "\xce\0\0\0\1", "\xcf" .. ("\xff"):rep(8),
        "\xd0\x01", "\xd3\0\0\0\0\0\0\0\1",
      } do
        local event = index(wire.map { { "event_type", "stored" }, { "event_id", wire.raw(id) } })
        assert.equal(id, event.fields.event_id)
      end
    end)

    it("tells nil, absent and an empty array apart", function()
      local event = index { group_id = wire.null, seq_hashes = wire.array {}, medium = wire.absent }
      assert.equal("\xc0", event.fields.group_id)
      assert.equal("\x90", event.fields.seq_hashes)
      assert.is_nil(event.fields.medium)
    end)

    it("finds names that no table lists, the last one if they repeat", function()
      local bytes = encode(wire.map {
        { "event_type", "stored" }, { "x", 1 }, { "y", 2 }, { "x", 3 }, { "", 4 },
      })
      assert.equal("\3", reader:named(bytes, "x"))
      assert.equal("\2", reader:named(bytes, "y"))
      assert.equal("\4", reader:named(bytes, ""))
      assert.equal(encode "stored", reader:named(bytes, "event_type"))
      assert.is_nil(reader:named(bytes, "z"))
      assert.is_nil(reader:named(bytes, "medium"))
    end)
  end)

  describe("when written", function()
    it("is the same bytes if nobody touched it", function()
      for name in pairs(golden) do
        local bytes = golden_event(name)
        local _, written, touched = rewrite(bytes, {})
        assert.equal(bytes, written, name)
        assert.is_false(touched)
      end
    end)

    it("keeps forms that no encoder would choose", function()
      local bytes = "\xdf\0\0\0\3" .. "\xdb\0\0\0\10event_type" .. "\xda\0\6stored"
        .. "\xd9\8event_id" .. "\xcf\0\0\0\0\0\0\0\1" .. "\xda\0\6medium" .. "\xd9\3cpu"
      local _, written = rewrite(bytes, {})
      assert.equal(bytes, written)
      _, written = rewrite(bytes, { { "medium", "disk" } })
      assert.equal(bytes:sub(1, -6) .. "\xa4disk", written)
      _, written = rewrite(bytes, { { "medium", wire.absent } })
      assert.equal("\x82" .. bytes:sub(6, -15), written)
      _, written = rewrite(bytes, { { "event_id", wire.absent } })
      assert.equal("\x82" .. bytes:sub(6, 29) .. bytes:sub(-14), written)
      _, written = rewrite(bytes, { { "event_type", wire.absent } })
      assert.equal("\x82" .. bytes:sub(30), written)
    end)

    it("gets another event_id in the shortest form", function()
      local event = { event_id = 0xffffffffffULL }
      for id, expected in pairs {
        ["0"] = "\0", ["127"] = "\x7f", ["128"] = "\xcc\x80", ["65536"] = "\xce\0\1\0\0",
        ["18446744073709551615"] = "\xcf" .. ("\xff"):rep(8),
      } do
        local _, written, touched = rewrite(encode(wire.event(event)), {}, id)
        event.event_id = wire.raw(expected)
        assert.equal(encode(wire.event(event)), written)
        assert.is_false(touched)
        event.event_id = 0xffffffffffULL
      end
    end)

    it("gets an event_id if it had none, or lost it", function()
      local bytes = encode(wire.map { { "event_type", "stored" } })
      assert.same(wire.map { { "event_type", "stored" }, { "event_id", 7 } },
        (rewrite(bytes, {}, "7")))
      bytes = encode(wire.map { { "event_id", 1 }, { "event_type", "stored" } })
      assert.same(wire.map { { "event_id", 7 }, { "event_type", "stored" } },
        (rewrite(bytes, { { "event_id", wire.absent } }, "7")))
      assert.same(wire.map { { "event_id", 7 }, { "event_type", "stored" } },
        (rewrite(bytes, { { "event_id", 99 } }, "7")))
    end)

    it("has replaced values in place, added ones behind, removed ones gone", function()
      local map, _, touched = rewrite(encode(wire.event {}), {
        { "seq_hashes", wire.array { 0xffffffffffffffffULL } },
        { "tenant_id", "other" }, { "connector_block_hash", "aa" }, { "note", true },
        { "token_ids", wire.absent }, { "type", wire.absent },
      })
      local expected = wire.event {
        tenant_id = "other", type = wire.absent, token_ids = wire.absent,
        seq_hashes = wire.array { 0xffffffffffffffffULL }, block_hashes = wire.array {},
      }
      expected[#expected + 1] = { "connector_block_hash", "aa" }
      expected[#expected + 1] = { "note", true }
      assert.same(expected, map)
      assert.is_true(touched)
    end)

    it("has the last of many edits of a field", function()
      local map = rewrite(encode(wire.event {}), {
        { "medium", "a" }, { "medium", "b" }, { "x", 1 }, { "x", wire.absent },
        { "medium", wire.absent }, { "y", 1 }, { "medium", "c" }, { "y", 2 },
      })
      local expected = wire.event { medium = "c" }
      expected[#expected + 1] = { "y", 2 }
      assert.same(expected, map)
    end)

    it("is untouched by an edit that changes nothing", function()
      local bytes = encode(wire.event { x = 1 })
      for _, edit in ipairs {
        { "tenant_id", "default" }, { "seq_hashes", wire.array {} }, { "group_id", wire.null },
        { "connector_block_hash", wire.absent }, { "x", 1 }, { "z", wire.absent },
      } do
        local _, written, touched = rewrite(bytes, { edit })
        assert.equal(bytes, written)
        assert.is_false(touched, edit[1])
      end
      local _, _, touched = rewrite(bytes, { { "group_id", "" } })
      assert.is_true(touched)
    end)

    it("has a map header that fits its pairs", function()
      local list = { { "event_type", "stored" } }
      for number = 1, 14 do list[#list + 1] = { "k" .. number, number } end
      local bytes = encode(wire.map(list))
      assert.equal("\x8f", bytes:sub(1, 1))
      local _, grown = rewrite(bytes, { { "k15", 15 } })
      assert.equal("\xde\0\16", grown:sub(1, 3))
      local _, shrunk = rewrite(grown, { { "k1", wire.absent } })
      assert.equal("\x8f", shrunk:sub(1, 1))
      assert.equal(15, #wire.decode(shrunk))
    end)

    it("has a repeated name once after it was assigned, never after it was removed", function()
      local bytes = encode(wire.map {
        { "x", 1 }, { "event_type", "stored" }, { "x", 2 }, { "y", 0 }, { "x", 3 },
      })
      assert.same(wire.map { { "x", 9 }, { "event_type", "stored" }, { "y", 0 } },
        (rewrite(bytes, { { "x", 9 } })))
      assert.same(wire.map { { "event_type", "stored" }, { "y", 0 } },
        (rewrite(bytes, { { "x", wire.absent } })))
    end)

    it("may become an empty map", function()
      local map = rewrite(encode(wire.map { { "event_type", "stored" } }),
        { { "event_type", wire.absent } })
      assert.same(wire.map {}, map)
    end)

    it("takes any number of edits of few fields, and is refused too many fields", function()
      local edits = {}
      for number = 1, 1000 do edits[number] = { "f" .. number % 50, number } end
      local map = rewrite(encode(wire.event {}), edits)
      assert.equal(1000, wire.get(map, "f0"))
      assert.equal(951, wire.get(map, "f1"))
      assert.equal(70, #map)
      for number = 1, 1000 do edits[number] = { "f" .. number, number } end
      assert.has_error(function() rewrite(encode(wire.event {}), edits) end, "refused")
    end)
  end)
end)

--- Edits and ids on raw pairs, from the rules alone.  A line: event, id or "-", then
-- name=value or name=- for every edit, all in hex; the answer is the event in hex.
local ORACLE = [==[
import sys, msgpack
def pairs_of(data):
    unpacker = msgpack.Unpacker(raw=True, strict_map_key=False, max_buffer_size=0)
    unpacker.feed(data)
    count = unpacker.read_map_header()
    head, pairs = unpacker.tell(), []
    for _ in range(count):
        start = unpacker.tell()
        name = unpacker.unpack()
        middle = unpacker.tell()
        unpacker.skip()
        pairs.append([name, data[start:middle], data[middle:unpacker.tell()]])
    assert unpacker.tell() == len(data)
    return data[:head], pairs
def edit(pairs, added, name, value):
    mine = [pair for pair in pairs if pair[0] == name and pair[2] is not None]
    now = added.get(name, mine[-1][2] if mine else None)
    if now == value:
        return
    added.pop(name, None)
    found = [pair for pair in pairs if pair[0] == name]
    for pair in found:
        pair[2] = None
    if found:
        found[0][2] = value
    elif value is not None:
        added[name] = value
for line in sys.stdin:
    data, stamp, *edits = line.split()
    head, pairs = pairs_of(bytes.fromhex(data))
    count, added = len(pairs), {}
    for item in edits:
        name, value = item.split("=")
        edit(pairs, added, bytes.fromhex(name), None if value == "-" else bytes.fromhex(value))
    if stamp != "-":
        edit(pairs, added, b"event_id", msgpack.packb(int(stamp)))
    rest = [pair[1] + pair[2] for pair in pairs if pair[2] is not None]
    rest += [msgpack.packb(name.decode()) + value for name, value in added.items()]
    if len(rest) != count:
        head = msgpack.Packer().pack_map_header(len(rest))
    print((head + b"".join(rest)).hex())
]==]

describe("random edits of random events", function()
  local random = math.random

  local function one_of(list) return list[random(#list)] end

  local function random_value()
    return one_of {
      wire.null, true, 0, random(200), -random(70000), 0xfffffffffffffff0ULL, "",
      ("s"):rep(random(40)), ("long"):rep(random(70)), wire.bin "b", wire.float(0.5),
      wire.array {}, wire.array { 1, "two", wire.array { 3 } }, wire.map { { "k", wire.null } },
      wire.ext(3, "abc"), wire.raw "\xcf\0\0\0\0\0\0\0\1", wire.raw "\xd9\1x",
    }
  end

  local function random_key(name)
    return random(8) > 1 and name or wire.raw(one_of {
      "\xd9" .. string.char(#name) .. name, "\xda\0" .. string.char(#name) .. name,
      "\xdb\0\0\0" .. string.char(#name) .. name,
    })
  end

  local function random_event()
    local list = { { random_key "event_type", one_of { "stored", "removed" } } }
    for _, name in ipairs(codec.fields()) do
      if random(2) == 1 and name ~= "event_type" then
        local value = name == "event_id" and random(100000) or random_value()
        table.insert(list, random(#list + 1), { random_key(name), value })
      end
    end
    for _ = 1, random(4) - 1 do
      table.insert(list, random(#list + 1), { random_key(one_of { "x", "y", "note" }),
        random_value() })
    end
    return encode(wire.map(list))
  end

  local function random_edits(names)
    local edits = {}
    for number = 1, random(6) - 1 do
      local value = random(4) > 1 and encode(random_value())
      edits[number] = { one_of(names), value }
    end
    return edits
  end

  it("give the bytes that the rules give in another language", function()
    math.randomseed(20240229)
    local names = codec.fields()
    for _, name in ipairs { "x", "y", "note", "fresh" } do
      for _ = 1, 6 do names[#names + 1] = name end
    end
    local lines, written = {}, {}
    for number = 1, 4000 do
      local event, edits = random_event(), random_edits(names)
      local stamp = random(2) == 1 and tostring(random(1000000)) or nil
      written[number] = wire.hex((reader:rewrite(event, edits, stamp)))
      local words = { wire.hex(event), stamp or "-" }
      for _, edit in ipairs(edits) do
        words[#words + 1] = wire.hex(edit[1]) .. "=" .. (edit[2] and wire.hex(edit[2]) or "-")
      end
      lines[number] = table.concat(words, " ")
    end
    local expected = python.lines(ORACLE, lines)
    for number = 1, #lines do
      assert.equal(expected[number], written[number], lines[number])
    end
  end)
end)

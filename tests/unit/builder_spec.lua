local codec = require("gateway").codec
local golden = require "tests.support.golden"
local python = require "tests.support.python"
local wire = require "tests.support.wire"

local reader = codec.reader()

local function build(list, timestamp, rank, id)
  local raw = {}
  for number, event in ipairs(list) do raw[number] = wire.encode(event) end
  return reader:build(raw, wire.encode(timestamp), wire.encode(rank), id)
end

local function many(count)
  local list = {}
  for number = 1, count do list[number] = wire.event { event_id = number } end
  return list
end

describe("the builder", function()
  it("gives a golden message back from its parts", function()
    for name, payload in pairs(golden) do
      local header, list = reader:open(payload)
      assert.equal(payload, reader:build({ list[1].bytes }, header.timestamp, header.rank), name)
    end
  end)

  it("writes headers as the publisher does, for any number of events", function()
    for _, count in ipairs { 0, 1, 15, 16, 64, 65 } do
      local list = many(count)
      assert.equal(wire.payload(wire.timestamp, list, 7), (build(list, wire.timestamp, 7)))
    end
    assert.equal(wire.payload(0, {}, wire.null), (build({}, 0, wire.null)))
    assert.equal(wire.payload(-2 ^ 40, {}, 2 ^ 31), (build({}, -2 ^ 40, 2 ^ 31)))
  end)

  it("is full with 64 events or with a MiB", function()
    assert.is_false((select(2, build(many(63), 1, 0))))
    assert.is_true((select(2, build(many(64), 1, 0))))
    assert.is_false((select(2, build({ wire.event { object_key = ("k"):rep(2 ^ 19) } }, 1, 0))))
    assert.is_true((select(2, build({ wire.event { object_key = ("k"):rep(2 ^ 20) } }, 1, 0))))
  end)

  it("takes an event of almost 64 MiB and none larger", function()
    local payload = build({ wire.event { object_key = ("k"):rep(2 ^ 26 - 1000) } }, 1, 0)
    assert.is_true(#payload > 2 ^ 26 - 1000)
    assert.has_error(function()
      build({ wire.event { object_key = ("k"):rep(2 ^ 26) } }, 1, 0)
    end, "refused")
  end)

  it("stamps events so that python3-msgpack reads the new id and nothing else new", function()
    local lines, names = {}, {}
    for name, payload in pairs(golden) do
      local header, list = reader:open(payload)
      local stamped = reader:build({ list[1].bytes }, header.timestamp, header.rank,
        "18446744073709551615")
      lines[#lines + 1] = wire.hex(payload) .. " " .. wire.hex(stamped)
      names[#names + 1] = name
    end
    local verdicts = python.lines([==[
import sys, msgpack
for line in sys.stdin:
    before, after = (msgpack.unpackb(bytes.fromhex(word)) for word in line.split())
    before[1][0]["event_id"] = 2**64 - 1
    print(before == after and list(before[1][0]) == list(after[1][0]))
]==], lines)
    for number, verdict in ipairs(verdicts) do assert.equal("True", verdict, names[number]) end
  end)
end)

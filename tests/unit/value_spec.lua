--- Values of fields that nobody knows, read into Lua and written back.

local scripts = require "tests.support.script"
local wire = require "tests.support.wire"

--- Bytes of field "x" after `event.x = <expression>`, where x was `before`.
local function written(expression, before)
  local body = ("local v = require 'kvgate.value' local _ = v event.x = %s return true")
    :format(expression)
  local report = scripts.try(body, { wire.event { x = before } })
  assert(#report.failures == 0, report.failures[1] and report.failures[1].error)
  return wire.get(report.events[1].map, "x")
end

local function nest(depth, kind)
  local value = 1
  for _ = 1, depth do
    value = kind == "map" and wire.map { { "k", value } } or wire.array { value }
  end
  return value
end

local NAN_KEY = wire.map { { wire.float(0 / 0), 1 } }

local values = {
  ["an array"] = wire.array { 1, -1, "a", true, false, wire.null },
  ["an empty array"] = wire.array {},
  ["an empty map"] = wire.map {},
  ["empty ones inside others"] = wire.array { wire.array {}, wire.map {},
    wire.map { { "a", wire.array {} } } },
  ["a map in its order"] = wire.map { { "z", 1 }, { "a", 2 }, { "m", wire.null }, { "b", 3 } },
  ["every integer width"] = wire.array { 0, 127, 128, 255, 256, 65535, 65536, 4294967295,
    4294967296, 9007199254740992, 9007199254740993ULL, 18446744073709551615ULL, -1, -32, -33, -128,
    -129, -32768, -32769, -2147483648, -2147483649, -9007199254740993LL },
  ["floats that hold integers"] = wire.array { wire.float(1), 2, wire.float32(3),
    wire.float(-0.0) },
  ["floats all of a width"] = wire.array { wire.float32(0.5), wire.float32(2) },
  ["infinities"] = wire.array { wire.float(math.huge), wire.float(-math.huge) },
  ["bin beside str"] = wire.map { { "a", wire.bin "x" }, { "b", "x" }, { "c", wire.bin "" } },
  ["ext"] = wire.array { wire.ext(5, "abc"), wire.ext(-1, ("t"):rep(8)), wire.ext(0, ""),
    wire.ext(127, ("x"):rep(300)), wire.ext(-128, "a"), wire.ext(1, ("y"):rep(16)) },
  ["keys that are no strings"] = wire.map { { 1, "one" }, { "1", "text" }, { true, "yes" },
    { -5, 1 }, { wire.null, 2 }, { wire.bin "k", 3 }, { 18446744073709551615ULL, 4 },
    { wire.array { 1 }, 5 } },
  ["a float key"] = wire.map { { wire.float(2), "two" }, { wire.float(0.5), "half" } },
  ["repeated keys"] = wire.map { { "a", 1 }, { "a", 2 } },
  ["keys that Lua cannot tell apart"] = wire.map { { 1, "int" }, { wire.float(1), "float" } },
  ["a NaN key"] = NAN_KEY,
  ["a bad map inside a good one"] = wire.map { { "ok", 1 }, { "bad", NAN_KEY }, { "on", 2 } },
  ["64 levels"] = nest(64),
  ["65 levels"] = nest(65),
  ["400 levels of maps"] = nest(400, "map"),
  ["long strings"] = wire.array { ("s"):rep(31), ("s"):rep(32), ("s"):rep(256), ("s"):rep(65536),
    wire.bin(("b"):rep(256)), wire.bin(("b"):rep(65536)) },
  ["large containers"] = (function()
    local items, pairs_list = {}, {}
    for index = 1, 70000 do items[index] = index end
    for index = 1, 20 do pairs_list[index] = { "k" .. index, index } end
    return wire.array { wire.array(items), wire.map(pairs_list) }
  end)(),
}

describe("a value written back", function()
  for name, value in pairs(values) do
    it("is the same: " .. name, function()
      -- As text, because NaN differs from itself and -0 does not from 0.
      local event = wire.event { x = value }
      local report = scripts.try("event.y = event.x return true", { event })
      assert.same({}, report.failures)
      local bytes = report.events[1].bytes
      local packed = wire.payload(nil, { wire.event { x = value } })
      local _, start = packed:find("\161x", 1, true)
      local x = packed:sub(start + 1, -2)
      assert.truthy(bytes:find("\161x" .. x, 1, true))
      assert.equal(x, bytes:sub(-#x))
      assert.equal("\161y", bytes:sub(-#x - 2, -#x - 1))
    end)

    it("into the same field is no edit: " .. name, function()
      local report = scripts.try("event.x = event.x return true", { wire.event { x = value } })
      assert.same({}, report.failures)
      assert.equal(0, report.about.rewritten)
    end)
  end

  it("keeps what was not touched when one thing is", function()
    local before = wire.map { { "b", wire.float(1) }, { "a", wire.array {} },
      { "c", wire.bin "x" } }
    assert.same(wire.map { { "b", wire.float(2) }, { "a", wire.array { 1 } }, { "d", 4 } },
      written([[(function()
        local x = event.x
        x.b, x.c, x.d = 2, nil, 4
        x.a[1] = 1
        return x
      end)()]], before))
  end)

  it("keeps the width that all members of an array share", function()
    assert.same(wire.array { wire.float(2), wire.float(3), wire.float(4) }, written([[(function()
      local x = event.x
      table.remove(x, 1)
      x[3] = 4
      return x
    end)()]], wire.array { wire.float(1), wire.float(2), wire.float(3) }))
  end)

  it("puts new keys behind the others, sorted", function()
    assert.same(wire.map { { "z", 1 }, { "a", 1 }, { "b", 1 }, { "c", 1 } }, written([[(function()
      local x = event.x
      x.c, x.a, x.b = 1, 1, 1
      return x
    end)()]], wire.map { { "z", 1 } }))
  end)
end)

describe("a value of the script's own", function()
  it("is an array when its keys are 1 to n, a map when they are strings", function()
    assert.same(wire.array { 1, 2 }, written "{ 1, 2 }")
    assert.same(wire.map { { "a", 1 }, { "b", wire.array { 2 } } }, written "{ b = { 2 }, a = 1 }")
  end)

  it("may be marked", function()
    assert.same(wire.array {}, written "v.array {}")
    assert.same(wire.array {}, written "v.array()")
    assert.same(wire.map {}, written "v.map {}")
    assert.same(wire.map { { 1, "a" } }, written "v.map { 'a' }")
    assert.same(wire.map { { 1, "a" }, { "k", 2 } }, written "v.map { 'a', k = 2 }")
    assert.same(wire.array { wire.map {}, wire.array {} }, written "{ v.map(), v.array() }")
    assert.same(wire.bin "x", written "v.bin 'x'")
    assert.same(wire.float(5), written "v.float(5)")
    assert.same(wire.ext(-3, "ab"), written "v.ext(-3, 'ab')")
    assert.same(wire.null, written "v.null")
    assert.same(wire.array { wire.null, wire.bin "x", wire.float(1) },
      written "{ v.null, v.bin 'x', v.float(1) }")
  end)

  it("changes its mark when it is marked again", function()
    assert.same(wire.map {}, written "v.map(v.array {})")
  end)

  it("keeps the order of no hash table", function()
    local keys, expected = {}, {}
    for index = 1, 40 do
      keys[index] = ("k%02d = %d"):format(41 - index, 41 - index)
      expected[index] = { ("k%02d"):format(index), index }
    end
    assert.same(wire.map(expected), written("{ " .. table.concat(keys, ", ") .. " }"))
  end)

  local refused = {
    { "v.array(5)", "array(table): not a number" },
    { "v.map 'x'", "map(table): not a string" },
    { "v.map(setmetatable({}, {}))", "map(table): the table has a metatable already" },
    { "v.bin(5)", "bin(string): not a number" },
    { "v.float 'x'", "float(number): not a string" },
    { "v.ext(128, 'x')", "ext(type, bytes): type is an integer from -128 to 127" },
    { "v.ext(1.5, 'x')", "ext(type, bytes): type is an integer from -128 to 127" },
    { "v.ext(1, 5)", "ext(type, bytes): bytes is a string" },
    { "v.array { a = 1 }", 'event.x: an array has the key the string "a"' },
    { "v.array { 1, nil, 2 }", "event.x: an array has no item 2; null stands for nil" },
    { "{ [1.5] = 1 }", "event.x: an array has the key the number 1.5" },
    { "{ coroutine_free = print_free }", "'print_free' is not defined" },
    { "v.map { [event] = 1 }", "event.x: an event or another foreign object cannot be a value" },
    { "v.map { [function() end] = 1 }", "event.x: a function cannot be a value" },
    { "3i", "event.x takes a value, not a 64-bit integer or event" },
  }
  for _, case in ipairs(refused) do
    it("is refused: " .. case[1], function()
      assert.equal(case[2], (scripts.error_of(
        "local v = require 'kvgate.value' local _ = v event.x = " .. case[1])))
    end)
  end

  it("that is small but unfolds to something huge is refused", function()
    local text = scripts.error_of [[
      local t = { ("x"):rep(65536) }
      for _ = 1, 20 do t = { t, t } end
      event.x = t]]
    assert.equal("event.x: the value takes more than 67108864 bytes", text)
  end)
end)

describe("a table that holds itself", function()
  --- As compiled code, some of them were written as if they were empty somewhere deep inside.
  for what, itself in pairs { map = "{ a = 1, k = 2 }", array = "{ 1, 2 }" } do
    it("is refused each time: " .. what, function()
      local script = scripts.new { ["f.lua"] = scripts.body(([[
        local itself = %s
        itself[itself.k and "k" or 2] = itself
        assert(not pcall(function() event.x = itself end), "it was written")
        return true]]):format(itself)) }
      local filter = script:load "f.lua"
      for _ = 1, 30 do
        local events = {}
        for index = 1, 20 do events[index] = wire.event { event_id = index } end
        assert.same({}, script:run({ filter }, events).failures)
      end
    end)
  end
end)

describe("what a script gets of a value", function()
  it("are plain tables that it can walk", function()
    assert.equal("3 a=1 null 2", scripts.seen([[
      local x = event.x
      return #x.list .. " a=" .. x.list[1].a .. " " .. tostring(x.none) .. " " .. x.list[3]
    ]], wire.event { x = wire.map {
      { "list", wire.array { wire.map { { "a", 1 } }, wire.null, 2 } }, { "none", wire.null } } }))
  end)

  it("cannot be turned against the runtime", function()
    for _, code in ipairs {
      "v.null.x = 1", "getmetatable(event.x).__index = 1", "setmetatable(event.x, {})",
      "local o = event.bad o.bytes = '\\193'", "local b = v.bin 'x' b.bytes = {} event.y = b",
      "local b = v.bin 'x' b.bytes = nil event.y = b",
      "local f = v.float(1) f.number = {} event.y = f",
      "local e = v.ext(1, 'x') e.type = 'x' event.y = e",
      "local b = v.bin 'x' b.bytes = event event.y = b",
    } do
      local report = scripts.try("local v = require 'kvgate.value' local _ = v " .. code
        .. " return true", { wire.event { x = wire.map {}, bad = NAN_KEY } })
      assert.equal(1, #report.failures, code)
      assert.is_nil(wire.get(report.events[1].map, "y"), code)
    end
  end)

  it("is opaque where no table can hold it", function()
    assert.equal("opaque value", scripts.seen("return event.x", wire.event { x = NAN_KEY }))
  end)
end)

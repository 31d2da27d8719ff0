--- What scripts see of an event, and what their edits make of it.

local scripts = require "tests.support.script"
local wire = require "tests.support.wire"

local seen = scripts.seen

--- The event after the body ran over it.
local function edited(body, event)
  local report = scripts.try(body .. "\nreturn true", { event or wire.event {} })
  assert(#report.failures == 0, report.failures[1] and report.failures[1].error)
  return report.events[1].map, report
end

--- The value of a field after the body ran.
local function field(name, body, event) return wire.get(edited(body, event), name) end

local function typed(expression, event)
  return seen(("local v = %s return type(v) .. ' ' .. tostring(v)"):format(expression), event)
end

describe("a text field", function()
  for _, size in ipairs { 0, 1, 31, 32, 255, 256, 65535, 65536 } do
    it(("of %d bytes reads whole"):format(size), function()
      local text = ("k"):rep(size)
      local report = scripts.try("event.copy_of = event.object_key return true",
        { wire.event { object_key = text } })
      assert.equal(text, wire.get(report.events[1].map, "copy_of"))
    end)
  end

  it("that is nil or absent reads nil", function()
    assert.equal("nil nil", typed("event.model_name"))
    assert.equal("nil nil", typed("event.cache_prefix"))
  end)

  it("keeps bytes that are not UTF-8", function()
    assert.equal("\255\0\254", field("medium", "event.medium = event.tenant_id",
      wire.event { tenant_id = "\255\0\254" }))
  end)

  it("of another kind on the wire reads as that", function()
    assert.equal("number 5", typed("event.tenant_id", wire.event { tenant_id = 5 }))
    assert.equal("string raw", typed("event.tenant_id", wire.event { tenant_id = wire.bin "raw" }))
  end)
end)

describe("a number field", function()
  local numbers = {
    { 0, "number 0" }, { 127, "number 127" }, { 128, "number 128" }, { 65535, "number 65535" },
    { 65536, "number 65536" }, { 4294967295, "number 4294967295" },
    { 4294967296, "number 4294967296" }, { -1, "number -1" }, { -33, "number -33" },
    { -129, "number -129" }, { -2147483649, "number -2147483649" },
    { 9007199254740993ULL, "cdata 9007199254740993ULL" },
    { 18446744073709551615ULL, "cdata 18446744073709551615ULL" },
    { -9007199254740993LL, "cdata -9007199254740993LL" },
    { wire.float(1.5), "number 1.5" }, { wire.float32(0.5), "number 0.5" },
    { wire.float(2), "number 2" },
  }
  for _, case in ipairs(numbers) do
    it("reads exactly: " .. case[2], function()
      assert.equal(case[2], typed("event.block_size", wire.event { block_size = case[1] }))
    end)
  end

  -- To LuaJIT most NaNs are pointers, booleans, nil: whatever a publisher likes.
  local nans = {
    ["0xffff…"] = "\203" .. ("\255"):rep(8), ["0xfff4…"] = "\203\255\244" .. ("\255"):rep(6),
    ["0xfff88…"] = "\203\255\248\128\0\0\0\0\16", ["0xfffb8…"] = "\203\255\251\128\0\0\0\0\16",
    ["0xfffa…"] = "\203\255\250\0\0\0\0\0\16", ["0x7ff8…"] = "\203\127\248\0\0\0\0\0\1",
    ["0x7ff0…1"] = "\203\127\240\0\0\0\0\0\1", ["a float32's"] = "\202\255\255\255\255",
  }
  for name, bytes in pairs(nans) do
    it("reads every NaN as the number: " .. name, function()
      local nan = wire.raw(bytes)
      local report = scripts.try([[
        local in_array, in_map = event.x[1], event.x[2].a
        for _, value in ipairs { event.block_size, event.timestamp, in_array, in_map } do
          if type(value) ~= "number" or value == value then error(type(value)) end
        end
        event.x = { in_array }
        return true]], { wire.event { block_size = nan, timestamp = nan,
          x = wire.array { nan, wire.map { { "a", nan } } } } })
      assert.same({}, report.failures)
      local written = wire.get(report.events[1].map, "x")[1].value
      assert.truthy(written ~= written)
    end)
  end

  it("is a number up to 2^53 and cdata above", function()
    assert.equal("true", seen([[
      return event.block_size == 2^53 and type(event.block_size) == "number"]],
      wire.event { block_size = 9007199254740992 }))
  end)
end)

describe("a 64-bit field", function()
  local values = {
    { 0, "cdata 0ULL" }, { 5, "cdata 5ULL" }, { 9007199254740993ULL, "cdata 9007199254740993ULL" },
    { 18446744073709551615ULL, "cdata 18446744073709551615ULL" },
    { 9223372036854775808ULL, "cdata 9223372036854775808ULL" },
    { -1, "cdata -1LL" }, { -9223372036854775807LL - 1, "cdata -9223372036854775808LL" },
    { wire.null, "nil nil" }, { wire.absent, "nil nil" },
  }
  for _, case in ipairs(values) do
    it("reads as 64-bit integer: " .. case[2], function()
      assert.equal(case[2], typed("event.parent_hash", wire.event { parent_hash = case[1] }))
    end)

    it("writes back what it reads: " .. case[2], function()
      local event = wire.event { parent_hash = case[1] }
      assert.same(case[1] ~= wire.absent and case[1] or wire.null,
        field("parent_hash", "event.parent_hash = event.parent_hash", event))
    end)
  end

  it("event_id reads and cannot be written", function()
    assert.equal("cdata 7ULL", typed("event.event_id", wire.event { event_id = 7 }))
    assert.equal("event.event_id is read-only: streams stamp it",
      (scripts.error_of "event.event_id = 5"))
    assert.equal("event.event_id is read-only: streams stamp it",
      (scripts.error_of "event:remove 'event_id'"))
  end)

  it("takes exact integers only", function()
    assert.equal(5, field("parent_hash", "event.parent_hash = 5"))
    assert.equal(18446744073709551615ULL, field("parent_hash", "event.parent_hash = -1ULL"))
    assert.equal(-1, field("parent_hash", "event.parent_hash = -1LL"))
    for _, value in ipairs { "1.5", "2^54", "'x'", "true", "{}", "event", "1/0", "0/0" } do
      local text = scripts.error_of("event.parent_hash = " .. value)
      local expected = "event.parent_hash takes an exact 64-bit integer or nil, not "
      assert.equal(expected, text:sub(1, #expected))
    end
  end)
end)

describe("an array of hashes", function()
  local hashes = wire.array { 1, 18446744073709551615ULL, 9007199254740993ULL, -5 }

  it("reads as 64-bit integers", function()
    assert.equal("4 1ULL 18446744073709551615ULL 9007199254740993ULL -5LL", seen([[
      local h = event.seq_hashes
      return #h .. " " .. tostring(h[1]) .. " " .. tostring(h[2]) .. " " .. tostring(h[3]) .. " "
        .. tostring(h[4])]], wire.event { seq_hashes = hashes }))
  end)

  it("writes back what it reads, also when empty", function()
    assert.same(hashes, field("block_hashes", "event.block_hashes = event.seq_hashes",
      wire.event { seq_hashes = hashes, block_hashes = wire.array {} }))
    assert.same(wire.array {}, field("block_hashes", "event.block_hashes = event.seq_hashes",
      wire.event { seq_hashes = wire.array {}, block_hashes = wire.array { 1 } }))
  end)

  it("takes one hash as an array of one", function()
    assert.same(wire.array { 18446744073709551615ULL },
      field("seq_hashes", "event.seq_hashes = 18446744073709551615ULL"))
    assert.same(wire.array { 42 }, field("seq_hashes", "event.seq_hashes = 42"))
    assert.same(wire.array { -1 }, field("seq_hashes", "event.seq_hashes = -1LL"))
    assert.same(wire.array { -1 }, field("seq_hashes", "event.seq_hashes = { -1 }"))
  end)

  it("takes a table of hashes, and {} as an empty array", function()
    assert.same(wire.array { 1, 9223372036854775808ULL },
      field("seq_hashes", "event.seq_hashes = { 1, 9223372036854775808ULL }"))
    assert.same(wire.array {}, field("seq_hashes", "event.seq_hashes = {}",
      wire.event { seq_hashes = wire.array { 1 } }))
  end)

  it("takes nothing that is not exact, nor a map", function()
    assert.equal("event.seq_hashes: 1.5 is no exact 64-bit integer",
      (scripts.error_of "event.seq_hashes = { 1, 1.5 }"))
    assert.equal("event.seq_hashes: 18014398509481984 is no exact 64-bit integer",
      (scripts.error_of "event.seq_hashes = { 2^54 }"))
    assert.equal("event.seq_hashes: takes an array, not a map",
      (scripts.error_of "event.seq_hashes = { a = 1 }"))
    assert.equal('event.seq_hashes takes a hash or an array of hashes, not the string "x"',
      (scripts.error_of "event.seq_hashes = 'x'"))
  end)
end)

describe("an assignment", function()
  it("of nil writes nil, which is not absent", function()
    local map = edited "event.tenant_id = nil"
    assert.same(wire.null, wire.get(map, "tenant_id"))
  end)

  it("adds a field that was absent, behind the others", function()
    local map = edited "event.cache_prefix = 'p' event.fresh = 1"
    local names = wire.names(map)
    assert.equal("p", wire.get(map, "cache_prefix"))
    assert.equal("fresh", names[#names])
  end)

  it("of what is there already changes nothing", function()
    local _, report = edited([[
      event.tenant_id = event.tenant_id
      event.block_size = event.block_size]], wire.event { block_size = 128 })
    assert.equal(0, report.about.rewritten)
  end)

  it("reads back at once", function()
    assert.equal("new 300 7ULL", seen([[
      event.tenant_id = "new"
      event.block_size = 300
      event.seq_hashes = 7
      return event.tenant_id .. " " .. event.block_size .. " " .. tostring(event.seq_hashes[1])]]))
  end)

  -- One edit is looked at in Lua, several are in C, see kvgate/event.lua.
  it("leaves fields that it does not name as they read, as one edit and as several", function()
    assert.equal("t m new|t n new|t nil new|t nil nil", seen([[
      local texts = {}
      local function note()
        local parts = { event.tenant_id, tostring(event.medium), tostring(event.lora_name) }
        texts[#texts + 1] = table.concat(parts, " ")
      end
      event.lora_name = "new" note()
      event.medium = "n" note()
      event:remove "medium" note()
      event.lora_name = nil note()
      return table.concat(texts, "|")]], wire.event { tenant_id = "t", medium = "m" }))
    assert.equal("t nil", seen([[
      event:remove "medium"
      return event.tenant_id .. " " .. tostring(event.medium)]],
      wire.event { tenant_id = "t", medium = "m" }))
  end)

  it("replaces an earlier one", function()
    assert.equal("c", field("tenant_id",
      "event.tenant_id = 'a' event.tenant_id = 'bb' event.tenant_id = 'c'"))
  end)

  it("of an integer writes an int, of a fraction a float64", function()
    assert.same(5, field("x", "event.x = 5"))
    assert.same(-5, field("x", "event.x = -5"))
    assert.same(4294967296, field("x", "event.x = 2^32"))
    assert.same(wire.float(1.5), field("x", "event.x = 1.5"))
    assert.same(wire.float(math.huge), field("x", "event.x = 1/0"))
    assert.same(18446744073709551615ULL, field("x", "event.x = 18446744073709551615ULL"))
    assert.same(-9007199254740993LL, field("x", "event.x = -9007199254740993LL"))
  end)

  it("keeps a float a float of its width, and bin bin", function()
    assert.same(wire.float(3), field("x", "event.x = 3", wire.event { x = wire.float(1.5) }))
    assert.same(wire.float32(3), field("x", "event.x = 3", wire.event { x = wire.float32(1.5) }))
    assert.same(wire.bin "new", field("x", "event.x = 'new'", wire.event { x = wire.bin "old" }))
    assert.same(wire.float(3), field("timestamp", "event.timestamp = 3",
      wire.event { timestamp = wire.float(1.5) }))
  end)

  it("takes any value in a field that nobody knows", function()
    assert.same("s", field("x", "event.x = 's'"))
    assert.same(true, field("x", "event.x = true"))
    assert.same(false, field("x", "event.x = false"))
    assert.same(wire.null, field("x", "event.x = nil"))
    assert.same(wire.array { 1, "a", wire.map { { "k", wire.array { true } } } },
      field("x", "event.x = { 1, 'a', { k = { true } } }"))
  end)

  local EMPTY = "event.x: {} may be an array or a map; say array{} or map{} of kvgate.value"
  local refused = {
    { "event.tenant_id = 5", "event.tenant_id takes a string or nil, not the number 5" },
    { "event.tenant_id = {}", "event.tenant_id takes a string or nil, not a table" },
    { "event.tenant_id = true", "event.tenant_id takes a string or nil, not true" },
    { "event.block_size = '5'", 'event.block_size takes a number or nil, not the string "5"' },
    { "event.block_size = {}", "event.block_size takes a number or nil, not a table" },
    { "event.token_ids = 5", "event.token_ids takes an array or nil, not the number 5" },
    { "event.x = function() end", "event.x takes a value, not a function" },
    { "event.x = event", "event.x takes a value, not a 64-bit integer or event" },
    { "event.x = {}", EMPTY },
    { "event.x = { function() end }", "event.x: a function cannot be a value" },
    { "event.x = { event }", "event.x: an event or another foreign object cannot be a value" },
    { "event.x = { {} }", EMPTY },
    { "event.x = { 1, nil, 3 }", "event.x: an array has no item 2; null stands for nil" },
    { "event.x = { [0] = 1 }", "event.x: an array has the key the number 0" },
    { "event.x = { 1, a = 2 }",
      "event.x: a table has both numbers and strings as keys; mark it with map{} of kvgate.value" },
    { "event.x = { [true] = 1 }",
      "event.x: a table has a key that is a boolean; mark it with map{} of kvgate.value" },
    { "local t = {} t[1] = t event.x = t",
      "event.x: nested deeper than 64 levels, or a table that holds itself" },
    { "event[5] = 1", "size of C type is unknown or too large" },
    { "event[true] = 1", "a field's name is a string, not true" },
    { "event.copy = 1", "event.copy is a method, not a field" },
    { "event.source = 'x'", "event.source is read-only" },
  }
  for _, case in ipairs(refused) do
    it("is refused: " .. case[1], function()
      local event = wire.event {}
      local report = scripts.try("event.medium = 'disk'\n" .. case[1] .. "\nreturn true", { event })
      assert.equal("@/f.lua:3: " .. case[2], scripts.headline(report.failures[1].error))
      assert.is_nil(wire.get(report.events[1].map, "x"))
    end)
  end

  it("that is refused leaves the field as it was, if the script goes on", function()
    local map = edited([[
      pcall(function() event.x = { 1, 2, function() end } end)
      pcall(function() event.tenant_id = 5 end)]], wire.event { x = "before", tenant_id = "t" })
    assert.equal("before", wire.get(map, "x"))
    assert.equal("t", wire.get(map, "tenant_id"))
  end)

  it("of {} keeps the kind of what it replaces", function()
    assert.same(wire.map {}, field("x", "event.x = {}", wire.event { x = wire.map { { "a", 1 } } }))
    assert.same(wire.array {}, field("x", "event.x = {}", wire.event { x = wire.array { 1 } }))
    assert.same(wire.array {}, field("token_ids", "event.token_ids = {}"))
  end)

  it("of more than memory allows loses the event", function()
    local report = scripts.try([[
      local text = ("x"):rep(1024 * 1024)
      for index = 1, 100 do event.medium = text .. index end
      return true]], { wire.event {} })
    assert.equal("ran out of memory", report.failures[1].result)
    assert.truthy(report.failures[1].error:find("^@/f%.lua:3: "))
  end)
end)

describe("event:has", function()
  it("tells nil from absent", function()
    assert.equal("true true false", seen([[
      return tostring(event:has "tenant_id") .. " " .. tostring(event:has "model_name") .. " "
        .. tostring(event:has "cache_prefix")]]))
  end)

  it("knows fields by any name, and edits", function()
    assert.equal("true false false true", seen([[
      event.y = 1
      event:remove "x"
      return tostring(event:has "z") .. " " .. tostring(event:has "x") .. " "
        .. tostring(event:has "nope") .. " " .. tostring(event:has "y")]],
      wire.event { x = 1, z = wire.null }))
  end)
end)

describe("event:remove", function()
  it("takes a field away", function()
    local map = edited("event:remove 'tenant_id' event:remove 'x' event:remove 'nope'",
      wire.event { x = 1 })
    assert.is_nil(wire.get(map, "tenant_id"))
    assert.is_nil(wire.get(map, "x"))
  end)

  it("makes it read nil, until it is assigned again", function()
    assert.equal("nil back", seen([[
      event:remove "tenant_id"
      local gone = tostring(event.tenant_id)
      event.tenant_id = "back"
      return gone .. " " .. event.tenant_id]]))
  end)
end)

describe("tostring(event)", function()
  it("is short and shows no tokens", function()
    local text = seen("return tostring(event)", wire.event {
      event_id = 9, tenant_id = "acme", object_key = ("k"):rep(500),
      token_ids = wire.array { 12345 },
    })
    assert.equal("event(stored: event_id=9 tenant_id=acme backend_id=mooncake medium=cpu "
      .. "object_key=" .. ("k"):rep(45) .. "...)", text)
  end)

  it("shows no control characters", function()
    assert.truthy(seen("return tostring(event)", wire.event { tenant_id = "a\27[31m" })
      :find("tenant_id=a?[31m", 1, true))
  end)
end)

describe("an event", function()
  it("knows its source", function()
    assert.equal("store", seen "return event.source")
  end)

  it("is equal to itself and to nothing else", function()
    assert.equal("true false false false", seen([[
      local same = event
      return tostring(event == same) .. " " .. tostring(event == event:copy()) .. " "
        .. tostring(event == "x") .. " " .. tostring(event == nil)]]))
  end)

  it("cannot be forged, called or taken apart", function()
    for _, code in ipairs {
      "event()", "local x = #event", "local x = event + 1", "local x = event - event",
      "local x = event[0]", "local x = event[1ULL]", "local x = -event",
      "local x = event .. 'x'", "local x = bit.band(event, 1)", "local x = 5 + tonumber(event)",
      "event.has({ __slot = 0, __serial = 1 }, 'x')", "event.copy(5ULL)", "event.to_table()",
      "event.remove('x', 'y')", "event.copy(nil)", "for _ in ipairs(event) do end",
      "setmetatable(event, {})", "event[0] = 1", "local x = event * 1", "local x = 1ULL + event",
    } do
      local report = scripts.try(code .. "\nreturn true", { wire.event {} })
      assert.equal(1, #report.failures, code)
      assert.equal("raised an error", report.failures[1].result, code)
    end
  end)

  it("has no metatable that a script could see", function()
    assert.equal("nil", seen "return getmetatable(event)")
  end)

  it("that repeats an unknown field reads the last one", function()
    local event = wire.map { { "event_type", "stored" }, { "x", 1 }, { "x", 2 } }
    assert.equal("2", seen("return event.x", event))
  end)

  it("reads the same with an edit as without", function()
    local event = wire.event { tenant_id = ("t"):rep(40), block_size = 5, parent_hash = 7 }
    local body = [[
      return table.concat({ event.tenant_id, event.medium, tostring(event.model_name),
        event.block_size, tostring(event.parent_hash), #event.seq_hashes }, " ")]]
    assert.equal(seen(body, event), seen("event.other = 1 " .. body, event))
  end)
end)

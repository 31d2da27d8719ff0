local gateway = require "gateway"
local relay = require "tests.support.relay"
local scripts = require "tests.support.script"
local wire = require "tests.support.wire"

local EXPECTED = "; expected the event or true (keep), false (drop), a stream's name or a list of "
  .. "names, or a list of this event and copies of it"

local function events(count)
  local list = {}
  for index = 1, count do
    list[index] = wire.event { event_id = index, tenant_id = "t" .. index }
  end
  return list
end

--- "live:1 dropped:2", by event_id.
local function fates(report)
  local list = {}
  for index, event in ipairs(report.events) do
    list[index] = event.state .. ":" .. tostring(wire.get(event.map, "event_id"))
  end
  return table.concat(list, " ")
end

local function tenants(report)
  local list = {}
  for index, event in ipairs(report.events) do
    list[index] = event.state .. ":" .. tostring(wire.get(event.map, "tenant_id"))
  end
  return table.concat(list, " ")
end

local function reach(report)
  local list = {}
  for index, event in ipairs(report.events) do list[index] = table.concat(event.reach, "") end
  return table.concat(list, " ")
end

describe("a verdict", function()
  it("keeps the event when it is true", function()
    local report = scripts.try("return true", events(2))
    assert.equal("live:1 live:2", fates(report))
    assert.equal("abc abc", reach(report))
    assert.same({ 2, 0, 0, 0 }, {
      report.about.kept, report.about.dropped, report.about.rewritten, report.about.split })
  end)

  it("keeps the event when it is the event, byte for byte", function()
    local list = events(3)
    local report = scripts.try("return event", list)
    assert.equal("live:1 live:2 live:3", fates(report))
    local payload = wire.payload(nil, list)
    for _, event in ipairs(report.events) do assert.truthy(payload:find(event.bytes, 1, true)) end
    assert.equal(0, report.about.rewritten)
  end)

  it("drops the event when it is false", function()
    local report = scripts.try("return event.tenant_id ~= 't2'", events(3))
    assert.equal("live:1 dropped:2 live:3", fates(report))
    assert.equal(2, report.about.kept)
    assert.equal(1, report.about.dropped)
  end)

  it("narrows the event to the stream that it names", function()
    local report = scripts.try("return ({ t1 = 'a', t2 = 'b', t3 = 'c' })[event.tenant_id]",
      events(3))
    assert.equal("a b c", reach(report))
    assert.equal(3, report.about.kept)
  end)

  it("narrows the event to the streams of a list", function()
    assert.equal("ac", reach(scripts.try("return { 'c', 'a', 'c' }", events(1))))
  end)

  it("narrows what earlier filters left and never widens it", function()
    local script = scripts.new {
      ["ab.lua"] = scripts.body "return { 'a', 'b' }",
      ["bc.lua"] = scripts.body "return { 'b', 'c' }",
      ["a.lua"] = scripts.body "return 'a'",
    }
    local ab, bc, a = script:load "ab.lua", script:load "bc.lua", script:load "a.lua"
    assert.equal("b", reach(script:run({ ab, bc }, events(1))))
    local nowhere = script:run({ ab, bc, a }, events(1))
    assert.equal("", reach(nowhere))
    assert.equal("live:1", fates(nowhere))
    script:remove()
  end)

  it("reaches streams beyond the 64th", function()
    local names = {}
    for index = 1, 130 do names[index] = "s" .. index end
    local script = scripts.new({
      ["one.lua"] = scripts.body "return 's64'",
      ["two.lua"] = scripts.body "return { 's65', 's130', 's1' }",
    }, { streams = names })
    assert.same({ "s64" }, script:run({ script:load "one.lua" }, events(1)).events[1].reach)
    assert.same({ "s1", "s65", "s130" },
      script:run({ script:load "two.lua" }, events(1)).events[1].reach)
    script:remove()
  end)

  it("may be a list that was not written in its order", function()
    local report = scripts.try([[
      local list = { [2] = "b", [1] = "a" }
      list[3] = "c"
      return list]], { wire.event {} })
    assert.same({ "a", "b", "c" }, report.events[1].reach)
  end)

  local HOLE = "returned a list with a hole, or with names beside it"
  local refused = {
    { "", "returned nil" },
    { "return nil", "returned nil" },
    { "return 1", "returned the number 1" },
    { "return function() end", "returned a function" },
    { "return 5ULL", "returned a 64-bit integer or event" },
    { "return {}", "returned an empty list" },
    { "return { stream = 'a' }", "returned a table that is no list" },
    { "return { 'a', 5 }", "returned a list with the number 5 among names" },
    { "return { 'a', event }", "returned a list with a 64-bit integer or event among names" },
    { "return { event, 'a' }", 'returned a list with the string "a" among events' },
    { "return { 1 }", "returned a list with the number 1 among events" },
    { "return { true }", "returned a list with true among events" },
    { "return { event, event }", "returned a list with one event twice" },
    { "return event:copy()", "returned another event" },
    { "return event, 'a'", "returned more than one value" },
    { "return { { event } }", "returned a list with a table among events" },
    { "return { [1] = event, [3] = event:copy() }", HOLE },
    { "return { event, nil, event:copy(), nil }", HOLE },
    { "return { [1] = 'a', [3] = 'b' }", HOLE },
    { "return { 'a', 'b', [1e6] = 'c' }", HOLE },
    { "return { 'a', 'b', stream = 'c' }", HOLE },
  }
  for _, case in ipairs(refused) do
    it(("is refused: %s"):format(case[1] == "" and "nothing" or case[1]), function()
      local text, failure = scripts.error_of(case[1])
      assert.equal(case[2] .. EXPECTED, text)
      assert.equal("returned no verdict", failure.result)
      assert.truthy(failure.error:find("^@/f%.lua:1: "))
    end)
  end

  it("that names an unknown stream is refused, with the nearest name and the known ones", function()
    local script = scripts.new({
      ["f.lua"] = scripts.body "return event.tenant_id",
    }, { streams = { "acme", "globex" } })
    local report = script:run({ script:load "f.lua" }, {
      wire.event { tenant_id = "acmee" }, wire.event { tenant_id = "zzz" } })
    assert.equal('@/f.lua:1: no stream is called "acmee"; did you mean "acme"? '
      .. "known are acme, globex", report.failures[1].error)
    assert.equal("named an unknown stream", report.failures[1].result)
    assert.equal('@/f.lua:1: no stream is called "zzz"; known are acme, globex',
      report.failures[2].error)
    script:remove()
  end)

  it("that names an unknown stream in a list narrows nothing", function()
    local report = scripts.try("return { 'a', 'nope' }", events(1))
    assert.equal("named an unknown stream", report.failures[1].result)
    assert.equal("abc", reach(report))
  end)
end)

describe("a split", function()
  it("puts copies behind their original in the order of the list", function()
    local report = scripts.try([[
      local first, second = event:copy(), event:copy()
      first.tenant_id, second.tenant_id = "first", "second"
      return { event, second, first }]], events(2))
    assert.equal("live:t1 live:second live:first live:t2 live:second live:first", tenants(report))
    assert.same({ 0, 0, 2, 2 }, {
      report.about.kept, report.about.dropped, report.about.rewritten, report.about.split })
  end)

  it("keeps the order of the list when the original is not its first", function()
    local report = scripts.try([[
      local copy = event:copy()
      copy.tenant_id = "copy"
      return { copy, event }]], events(3))
    assert.equal("live:copy live:t1 live:copy live:t2 live:copy live:t3", tenants(report))
  end)

  it("drops the original when the list lacks it", function()
    local report = scripts.try([[
      local one, two = event:copy(), event:copy()
      one.tenant_id, two.tenant_id = "one", "two"
      return { one, two }]], events(2))
    assert.equal("dropped:t1 live:one live:two dropped:t2 live:one live:two", tenants(report))
  end)

  it("of one event that is the event keeps it", function()
    local report = scripts.try("return { event }", events(1))
    assert.equal("live:t1", tenants(report))
    assert.equal(1, report.about.kept)
    assert.equal(0, report.about.split)
  end)

  it("gives edits to one event only", function()
    local report = scripts.try([[
      event.medium = "disk"
      local copy = event:copy()
      copy.backend_id = "copy"
      event.backend_id = "original"
      copy.extra = 1
      return { event, copy }]], events(1))
    local original, copy = report.events[1].map, report.events[2].map
    assert.equal("disk", wire.get(original, "medium"))
    assert.equal("disk", wire.get(copy, "medium"))
    assert.equal("original", wire.get(original, "backend_id"))
    assert.equal("copy", wire.get(copy, "backend_id"))
    assert.is_nil(wire.get(original, "extra"))
    assert.equal(1, wire.get(copy, "extra"))
  end)

  it("lets copies go on through later filters, not through its own again", function()
    local script = scripts.new {
      ["split.lua"] = scripts.body [[
        event.n = (event.n or 0) + 1
        return { event, event:copy() }]],
      ["count.lua"] = scripts.body "event.m = (event.m or 0) + 1 return true",
    }
    local split, count = script:load "split.lua", script:load "count.lua"
    local report = script:run({ split, count, split }, events(1))
    local seen = {}
    for index, event in ipairs(report.events) do
      seen[index] = wire.get(event.map, "n") .. "/" .. wire.get(event.map, "m")
    end
    assert.equal("2/1 2/1 2/1 2/1", table.concat(seen, " "))
    script:remove()
  end)

  it("copies the reach that the event has", function()
    local script = scripts.new {
      ["a.lua"] = scripts.body "return 'b'",
      ["split.lua"] = scripts.body "return { event, event:copy() }",
    }
    assert.equal("b b", reach(script:run({ script:load "a.lua", script:load "split.lua" },
      events(1))))
    script:remove()
  end)

  it("forgets copies that no list names", function()
    local report = scripts.try("event:copy().tenant_id = 'gone' return true", events(2))
    assert.equal("live:t1 live:t2", tenants(report))
    assert.equal(0, report.about.rewritten)
  end)

  it("refuses a copy made in an earlier call", function()
    local script = scripts.new { ["f.lua"] = [[
      return function()
        local kept
        return function(event)
          if kept then return { event, kept } end
          kept = event:copy()
          return true
        end
      end]] }
    local report = script:run({ script:load "f.lua" }, events(2))
    assert.equal("live:t1 lost:t2", tenants(report))
    assert.truthy(report.failures[1].error:find(
      "returned a list with an event that is neither this one nor a copy made now", 1, true))
    script:remove()
  end)

  it("refuses another event of the batch", function()
    local script = scripts.new { ["f.lua"] = [[
      return function()
        local kept
        return function(event)
          local last = kept
          kept = event
          return last and { event, last } or true
        end
      end]] }
    local report = script:run({ script:load "f.lua" }, events(2))
    assert.equal("live:t1 lost:t2", tenants(report))
    script:remove()
  end)

  it("into more events than a batch holds loses that event only", function()
    local report = scripts.try([[
      if event.tenant_id ~= "t2" then return true end
      local list = {}
      for index = 1, 3000 do list[index] = event:copy() end
      return list]], events(3))
    assert.equal("live:t1 lost:t2 live:t3", tenants(report))
    assert.equal("made too many events", report.failures[1].result)
    assert.equal("@/f.lua:4: event:copy(): a batch holds 2048 events, copies included",
      scripts.headline(report.failures[1].error))
  end)

  it("into too many is no less an error when the script catches it", function()
    local report = scripts.try([[
      for _ = 1, 3000 do pcall(event.copy, event) end
      return true]], events(1))
    assert.equal("made too many events", report.failures[1].result)
    assert.equal("@/f.lua:1: the filter went on after there had been no room for another event",
      report.failures[1].error)
  end)
end)

describe("a counter", function()
  it("counts an event as rewritten when an edit changed it", function()
    local report = scripts.try([[
      if event.tenant_id == "t1" then event.tenant_id = "t1" end
      if event.tenant_id == "t2" then event.tenant_id = "new" end
      return true]], events(3))
    assert.equal(3, report.about.kept)
    assert.equal(1, report.about.rewritten)
  end)

  it("counts only what its own filter changed", function()
    local script = scripts.new {
      ["edit.lua"] = scripts.body "event.medium = 'disk' return event",
      ["pass.lua"] = scripts.body "return event",
    }
    local edit, pass = script:load "edit.lua", script:load "pass.lua"
    script:run({ edit, pass }, events(4))
    assert.equal(4, script.state:about(edit).rewritten)
    assert.equal(0, script.state:about(pass).rewritten)
    script:remove()
  end)

  it("forgets the edits of a filter that raised", function()
    local script = scripts.new {
      ["raise.lua"] = scripts.body "event.medium = 'disk' error 'no'",
      ["pass.lua"] = scripts.body "return event",
    }
    local raise, pass = script:load "raise.lua", script:load "pass.lua"
    local report = script:run({ raise, pass }, events(1), "pass")
    assert.equal(0, script.state:about(pass).rewritten)
    assert.equal("cpu", wire.get(report.events[1].map, "medium"))
    script:remove()
  end)
end)

describe("an error", function()
  it("names file and line, and the way there, in one line", function()
    local report = scripts.try([[
local function pick(which)
  return which.tenant_id.x.y
end
return pick(event) and true]], events(1))
    assert.equal("raised an error", report.failures[1].result)
    assert.equal("@/f.lua:3: attempt to index field 'x' (a nil value) (in function 'pick'"
      .. " < function 'filter' f.lua:5)", report.failures[1].error)
  end)

  it("goes on behind the event that raised", function()
    local report = scripts.try([[
      local number = tonumber(event.tenant_id:sub(2))
      if number % 3 == 0 then error("no " .. number) end
      return number % 2 == 0]], events(9))
    assert.equal("dropped:t1 live:t2 lost:t3 live:t4 dropped:t5 lost:t6 dropped:t7 live:t8 lost:t9",
      tenants(report))
    assert.equal(3, #report.failures)
    assert.equal("@/f.lua:3: no 9", scripts.headline(report.failures[3].error))
    assert.equal(3, report.about.kept)
    assert.equal(3, report.about.dropped)
  end)

  it("goes on behind the event in the window that is next", function()
    local report = scripts.try("if event.event_id % 10 == 0 then error 'ten' end return true",
      events(200))
    assert.equal(20, #report.failures)
    assert.equal(200, #report.events)
    assert.equal(180, report.about.kept)
  end)

  it("leaves earlier events as they were settled", function()
    local report = scripts.try([[
      if event.tenant_id == "t2" then error "two" end
      event.medium = "disk"
      return "b"]], events(3))
    assert.equal("b abc b", reach(report))
    assert.equal("disk", wire.get(report.events[1].map, "medium"))
    assert.equal("disk", wire.get(report.events[3].map, "medium"))
  end)

  it("shows the edits before this filter to who passes the event on", function()
    local script = scripts.new {
      ["first.lua"] = scripts.body "event.medium = 'disk' return event",
      ["second.lua"] = scripts.body "event.medium = 'gpu' event:remove 'tenant_id' error 'no'",
    }
    local report = script:run({ script:load "first.lua", script:load "second.lua" }, events(1),
      "pass")
    assert.equal("disk", wire.get(report.events[1].map, "medium"))
    assert.equal("t1", wire.get(report.events[1].map, "tenant_id"))
    script:remove()
  end)

  local objects = {
    { "error()", "raised nil instead of a message" },
    { "error {}", "raised a table instead of a message" },
    { "error(event)", "raised a cdata instead of a message" },
    { "error(5ULL)", "raised a cdata instead of a message" },
    { "error(42)", "42" },
    { "error(setmetatable({}, { __tostring = function() error 'again' end }))",
      "raised a table instead of a message" },
    { "error('plain', 0)", "plain" },
    { "assert(false, 'asserted')", "asserted" },
    { "assert(nil)", "assertion failed!" },
    { "local t = nil; t.x = 1", "attempt to index local 't' (a nil value)" },
    { "return ('x'):nope()", "attempt to call method 'nope' (a nil value)" },
    { "local x = ('x'):rep({})", "string.rep takes a string and a number" },
  }
  for _, case in ipairs(objects) do
    it("is told with its place: " .. case[1], function()
      local text, failure = scripts.error_of("\n" .. case[1])
      assert.equal(case[2], text)
      assert.truthy(failure.error:find("^@/f%.lua:3: "))
    end)
  end

  it("behind a tail call is told with the place where the filter begins", function()
    local _, failure = scripts.error_of "\nreturn event:has(5)"
    assert.equal("@/f.lua:1: a field's name is a string, not the number 5", failure.error)
  end)

  it("keeps the place that a message has already", function()
    assert.equal("deep", (scripts.error_of [[
      local ok, text = pcall(function()
        error "deep"
      end)
      error(text, 0)]]))
    local _, failure = scripts.error_of "local _, text = pcall(error, 'deep', 2)\n\nerror(text, 0)"
    assert.truthy(failure.error:find "deep")
  end)

  it("that is endless recursion is one event's error", function()
    local report = scripts.try([[
      local function down(n) return 1 + down(n + 1) end
      if event.tenant_id == "t1" then return down(1) end
      return true]], events(2))
    assert.equal("lost:t1 live:t2", tenants(report))
    assert.truthy(report.failures[1].error:find "stack overflow")
    assert.is_true(#report.failures[1].error < 4096)
  end)

  it("has a bounded text", function()
    local report = scripts.try([[
      local text = ("x"):rep(100000)
      local function deep(n) if n == 0 then error(text) end deep(n - 1) return 1 end
      deep(500)]], events(1))
    local text = report.failures[1].error
    assert.is_true(#text < 2200, #text)
    assert.truthy(text:find "…")
  end)

  it("names long paths in full", function()
    local name = ("d"):rep(100) .. ".lua"
    local script = scripts.new { [name] = scripts.body "local x = nil + 1" }
    local report = script:run({ script:load(name) }, events(1))
    assert.equal("@/" .. name .. ":2: attempt to perform arithmetic on a nil value",
      scripts.headline(report.failures[1].error))
    script:remove()
  end)

  it("of one filter leaves the others alone", function()
    local script = scripts.new {
      ["bad.lua"] = scripts.body "error 'bad'",
      ["good.lua"] = scripts.body "return 'a'",
    }
    local bad, good = script:load "bad.lua", script:load "good.lua"
    assert.equal("a a", reach(script:run({ bad, good }, events(2), "pass")))
    script:remove()
  end)
end)

describe("an event kept", function()
  local function keeper(use)
    return scripts.new { ["f.lua"] = ([[
      return function()
        local kept
        return function(event)
          if not kept then kept = event return true end
          %s
          return true
        end
      end]]):format(use) }
  end

  it("may be used as long as its batch lasts", function()
    local script = keeper "event.medium = kept.tenant_id"
    local report = script:run({ script:load "f.lua" }, events(2))
    assert.same({}, report.failures)
    assert.equal("t1", wire.get(report.events[2].map, "medium"))
    script:remove()
  end)

  for _, use in ipairs { "local x = kept.tenant_id", "kept.tenant_id = 'x'", "kept:copy()",
    "kept:has 'tenant_id'", "kept:remove 'tenant_id'", "kept:to_table()", "tostring(kept)",
    "pairs(kept)", "local x = kept.event_id", "local x = kept.seq_hashes", "local x = kept.source",
    "local x = kept.unknown" } do
    it("is refused after its batch: " .. use, function()
      local script = keeper(use)
      local filter = script:load "f.lua"
      assert.same({}, script:run({ filter }, events(1)).failures)
      local report = script:run({ filter }, events(1))
      assert.equal("@/f.lua:5: event used after its batch: copy what you need to keep into a table "
        .. "of your own", scripts.headline(report.failures[1].error))
      script:remove()
    end)
  end

  it("is refused in the next window of the same message", function()
    local script = keeper "if event.event_id > 64 then local x = kept.tenant_id end"
    local report = script:run({ script:load "f.lua" }, events(70))
    assert.equal(6, #report.failures)
    script:remove()
  end)

  it("by one stream's filter is refused in another stream's", function()
    local subject = relay.new([[
sources: [ { name: store, connect: "ipc:///tmp/in" } ]
streams:
  - { name: one, bind: "ipc:///tmp/one", filters: [ { script: one.lua } ] }
  - { name: two, bind: "ipc:///tmp/two", filters: [ { script: two.lua } ] }
]], {
      ["shared.lua"] = "return {}",
      ["one.lua"] = "local shared = require 'shared' return function() return function(event)"
        .. " shared.kept = event return true end end",
      ["two.lua"] = "local shared = require 'shared' return function() return function(event)"
        .. " event.object_key = shared.kept.object_key return true end end",
    })
    subject:send { relay.event "a", relay.event "b" }
    assert.equal("1:a,b", subject:out "one")
    assert.equal("", subject:out "two")
    assert.equal(2, subject:metric(
      'kvgate_filter_errors_total{filter="two.lua",stream="two",position="1"}'))
  end)

  it("cannot be returned for another", function()
    local script = keeper "if kept then return kept end"
    local filter = script:load "f.lua"
    local report = script:run({ filter }, events(2))
    assert.truthy(report.failures[1].error:find("returned another event", 1, true))
    report = script:run({ filter }, events(1))
    assert.truthy(report.failures[1].error:find("returned another event", 1, true))
    script:remove()
  end)
end)

describe("a filter's file", function()
  local function refusal(text, options)
    local script = scripts.new { ["f.lua"] = text }
    local message = script:refusal("f.lua", options)
    script:remove()
    return scripts.headline(message)
  end

  it("may return a table with on_event", function()
    local script = scripts.new {
      ["f.lua"] = "return function() return { on_event = function() return 'b' end } end" }
    assert.equal("b", reach(script:run({ script:load "f.lua" }, events(1))))
    script:remove()
  end)

  local mistakes = {
    { "return 5", "@/f.lua:1: returned the number 5, not a function that takes the options" },
    { "", "@/f.lua:1: returned nil, not a function that takes the options" },
    { "\nreturn function() end",
      "@/f.lua:2: returned nil, not a function that takes an event, or a table of hooks" },
    { "return function() return 'a' end",
      '@/f.lua:1: returned the string "a", not a function that takes an event, or a table of '
        .. "hooks" },
    { "return function() return {} end",
      "@/f.lua:1: the table has no hook; known are every, on_batch, on_event, on_loss, on_tick" },
    { "return function() return { on_event = 1 } end",
      "@/f.lua:1: on_event is the number 1, not a function" },
    { "x = 1", "@/f.lua:1: 'x' is not a local variable: write `local x = …`" },
    { "local a =\n\nreturn", "@/f.lua:3: unexpected symbol near 'return'" },
    { "return function(options)\n  assert(options.x, 'x is missing')\nend",
      "@/f.lua:2: x is missing" },
    { "return function(options)\n  error('no', 0)\nend", "@/f.lua:2: no" },
    { "return function(options)\n  error({})\nend",
      "@/f.lua:2: raised a table instead of a message" },
  }
  local together = "on_tick and every go together, as in "
    .. "{ on_tick = function(now) … end, every = 1 }"
  for hooks, mistake in pairs {
    ["on_batch = 1"] = "on_batch is the number 1, not a function",
    ["on_loss = true"] = "on_loss is true, not a function",
    ["on_tick = 1, every = 1"] = "on_tick is the number 1, not a function",
    ["every = 1"] = together,
    ["on_tick = tostring"] = together,
    ["on_tick = tostring, every = 0.009"] =
      "every is the number 0.009; expected seconds, from 0.01 to 86400",
    ["on_tick = tostring, every = '1s'"] =
      'every is the string "1s"; expected seconds, from 0.01 to 86400',
    ["on_evnt = tostring"] = "'on_evnt' is no hook; did you mean \"on_event\"? "
      .. "known are every, on_batch, on_event, on_loss, on_tick",
  } do
    mistakes[#mistakes + 1] =
      { ("return function()\n  return { %s }\nend"):format(hooks), "@/f.lua:1: " .. mistake }
  end
  for _, case in ipairs(mistakes) do
    it("is refused: " .. case[1]:gsub("\n", " "), function()
      assert.equal(case[2], refusal(case[1]))
    end)
  end

  it("with an error in it shows the way there", function()
    local script = scripts.new { ["f.lua"] = [[
local function check(options)
  if not options.x then error "x is missing" end
end
return function(options)
  check(options)
end]] }
    assert.equal("@/f.lua:2: x is missing (in function 'check' < function 'factory' f.lua:5)",
      script:refusal "f.lua")
    script:remove()
  end)

  it("that is bytecode is refused", function()
    assert.equal("@/f.lua:1: is bytecode; scripts are source text",
      refusal(string.dump(function() return 1 end)))
  end)

  it("with the text of bytecode behind a first line is refused", function()
    assert.truthy(refusal("\n" .. string.dump(function() return 1 end)):find "^@/f%.lua:%d+: ")
  end)

  it("is loaded afresh for each filter that names it", function()
    local script = scripts.new { ["f.lua"] = [[
      local count = 0
      return function()
        return function(event) count = count + 1 event.n = count return true end
      end]] }
    local one, two = script:load "f.lua", script:load "f.lua"
    local report = script:run({ one, two }, events(2))
    assert.equal(2, wire.get(report.events[2].map, "n"))
    script:remove()
  end)

  it("may fail to load without harm to what is loaded", function()
    local script = scripts.new { ["good.lua"] = scripts.body "return 'a'", ["bad.lua"] = "return" }
    local good = script:load "good.lua"
    script:refusal "bad.lua"
    assert.equal("a", reach(script:run({ good }, events(1))))
    script:remove()
  end)
end)

describe("compiled code", function()
  local WORDS = { "a", "", ("long"):rep(20), "\0\255", "b" }

  local function random_event(index, random)
    local function one_of(list) return list[random(#list)] end
    return wire.event {
      event_id = index,
      event_type = one_of { "stored", "removed", "cleared" },
      tenant_id = one_of { WORDS[random(#WORDS)], wire.null, wire.absent, 5 },
      block_size = one_of { 16, 300, 70000, wire.null, wire.float(0.5) },
      parent_hash = one_of { 18446744073709551615ULL, 7, wire.null },
      seq_hashes = wire.array(one_of { {}, { 1 }, { 1, 9007199254740993ULL, 3 } }),
      extra = one_of { wire.map { { "k", wire.array {} } }, "text", wire.absent },
    }
  end

  it("comes to the same as Lua that is interpreted", function()
    local script = scripts.new { ["f.lua"] = [[
      return function()
        return function(event)
          local kind = event.event_type
          local tenant = event.tenant_id
          event.seen = tostring(tenant) .. "," .. tostring(event.block_size) .. ","
            .. tostring(event.parent_hash) .. "," .. #(event.seq_hashes or {}) .. ","
            .. tostring(event:has "extra") .. tostring(event:has "tenant_id")
          if kind == "removed" then return event.block_size == 16 and "b" or false end
          if tenant == "a" then event.tenant_id = "renamed" end
          if tenant == "b" then event:remove "tenant_id" end
          if event.block_size == 300 then event.seq_hashes = { 5, 6 } end
          if event.block_size == 70000 then event.seq_hashes = -1ULL end
          if kind == "cleared" and event:has "extra" then
            local copy = event:copy()
            copy.seen = "copy"
            return { copy, event }
          end
          if tenant == "" then error "empty" end
          return kind == "cleared" and { "a", "c" } or event
        end
      end]] }
    local filter = script:load "f.lua"

    --- What the filter says of an event, from the event that the spec made; nil for an error.
    local function expected(event)
      local function get(name) return wire.get(event, name) end
      local tenant, size, parent = get "tenant_id", get "block_size", get "parent_hash"
      if size == wire.null then size = nil elseif type(size) == "table" then size = size.value end
      local text = table.concat({
        tostring(tenant ~= wire.null and tenant or nil), tostring(size),
        parent == wire.null and "nil" or tostring(parent + 0ULL), #(get "seq_hashes" or {}),
        tostring(get "extra" ~= nil) .. tostring(tenant ~= nil) }, ",")
      local kind = get "event_type"
      if kind == "removed" then return size == 16 and text .. " b" or "dropped" end
      if kind == "cleared" and get "extra" ~= nil then return "copy abc|" .. text .. " abc" end
      if tenant == "" then return "lost" end
      return text .. (kind == "cleared" and " ac" or " abc")
    end

    local seed = 42
    local function random(limit)
      seed = (seed * 1103515245 + 12345) % 2 ^ 31
      return math.floor(seed / 65536) % limit + 1
    end
    for _ = 1, 60 do
      local list, wanted, got = {}, {}, {}
      for index = 1, 64 do
        list[index] = random_event(index, random)
        wanted[index] = expected(list[index])
      end
      local report = script:run({ filter }, list)
      for index, event in ipairs(report.events) do
        got[index] = event.state == "live"
          and wire.get(event.map, "seen") .. " " .. table.concat(event.reach, "") or event.state
      end
      assert.equal(table.concat(wanted, "|"), table.concat(got, "|"))
      for _, event in ipairs(report.events) do
        if event.state == "live" and wire.get(event.map, "event_type") ~= "removed" then
          local size, hashes = wire.get(event.map, "block_size"), wire.get(event.map, "seq_hashes")
          if wire.get(event.map, "seen") ~= "copy" then
            assert.is_true(size ~= 300 or #hashes == 2 and hashes[2] == 6)
            assert.is_true(size ~= 70000 or #hashes == 1 and hashes[1] == 18446744073709551615ULL)
          end
          assert.is_true(wire.get(event.map, "tenant_id") ~= "b")
        end
      end
    end
    script:remove()
  end)
end)

describe("a script", function()
  it("tells how much memory its heap takes", function()
    local script = scripts.new {}
    assert.is_true(script.state:memory() > 50000)
    script:remove()
  end)

  it("runs over a message without events", function()
    local report = scripts.try("return true", {})
    assert.same({}, report.events)
  end)

  it("does not look at losses in the batch", function()
    local report = scripts.try("return 'a'", {
      wire.event { event_id = 1 }, wire.map { { "event_id", 2 } }, wire.event { event_id = 3 } })
    assert.equal("live:1 lost:2 live:3", fates(report))
    assert.equal("a abc a", reach(report))
    assert.equal(2, report.about.kept)
  end)

  it("cannot start without what it is given", function()
    assert.has_error(function() gateway.script() end)
  end)
end)

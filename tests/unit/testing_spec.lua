--- kvgate.testing: what an author's spec is told is what the gateway did.

local folder = require "tests.support.folder"
local testing = require "kvgate.testing"

local FILTER = [[
return function(options)
  return function(event)
    local key = event.object_key
    if key == "drop" then return false end
    if key == "fail" then error "on purpose" end
    if key == "split" then
      local other = event:copy()
      other.object_key = "other"
      return { event, other }
    end
    if key == "b" then return "b" end
    if options.tenant then event.tenant_id = options.tenant end
    return event
  end
end
]]

local HOOKS = [[
local emit = require "kvgate.emit"
return function()
  return {
    on_loss = function(_, _, cause, count) emit { event_type = cause .. " " .. count } end,
    on_tick = function() emit { event_type = "tick" } end,
    every = 2,
  }
end
]]

local COUNTING = [[
local state = require "kvgate.state"
return function(options)
  local kept, forgotten = state.table("kept", { version = options.version }), 0
  return function(event)
    kept.count, forgotten = (kept.count or 0) + 1, forgotten + 1
    event.lora_name = kept.count .. " " .. forgotten
    return event
  end
end
]]

describe("kvgate.testing", function()
  local path

  setup(function()
    path = testing.path
    local directory = folder.new()
    folder.write(directory .. "/sample.lua", FILTER)
    folder.write(directory .. "/hooks.lua", HOOKS)
    folder.write(directory .. "/counting.lua", COUNTING)
    testing.path = { directory, "filters" }
  end)

  teardown(function() testing.path = path end)

  local function chain(options, world, on_error)
    return testing.chain({ { script = "sample.lua", options = options, on_error = on_error } },
      world)
  end

  local function verdict(subject, key) return subject:send({ object_key = key }).verdict end

  it("tells each verdict", function()
    local subject = chain()
    local verdicts = {}
    for i, key in ipairs { "k", "drop", "fail", "split" } do verdicts[i] = verdict(subject, key) end
    assert.same({ "kept", "dropped", "lost", "split" }, verdicts)
  end)

  it("returns the fields that came out, changed or not", function()
    local event = chain({ tenant = "acme" }):send({ object_key = "k", block_size = 2 ^ 40,
      model_name = testing.null, medium = testing.absent, seq_hashes = { 1ULL } }).streams.out[1]
    assert.equal("acme", event.tenant_id)
    assert.equal(2 ^ 40, event.block_size)
    assert.equal(testing.null, event.model_name)
    assert.is_nil(event.medium)
    assert.same({ 1 }, event.seq_hashes)
  end)

  it("runs one filter behind the other", function()
    local subject = testing.chain {
      { script = "sample.lua", options = { tenant = "acme" } },
      { script = "select_tenant.lua", options = { keep = "acme" } },
    }
    assert.equal("kept", subject:send({ tenant_id = "globex" }).verdict)
  end)

  it("tells the route", function()
    local streams = chain(nil, { streams = { "a", "b" } }):send({ object_key = "b" }).streams
    assert.is_nil(streams.a)
    assert.equal("b", streams.b[1].object_key)
  end)

  it("has the dead letter of an event that is lost with one, and of no other", function()
    local subject = chain(nil, nil, "dead_letter")
    local result = subject:send { object_key = "fail", tenant_id = "acme" }
    assert.equal("dead_letter", result.verdict)
    local letter, more = unpack(result.letters)
    assert.is_nil(more)
    assert.equal("sample.lua", letter.filter)
    assert.equal("raised an error", letter.result)
    assert.truthy(letter.error:find("sample.lua:5: on purpose", 1, true), letter.error)
    assert.equal("acme", letter.event.tenant_id)
    assert.equal(1, subject:lost())
    subject:loses({ object_key = "fail" }, "on purpose")
    assert.same({}, subject:send({}).letters)
    assert.same({}, chain():send({ object_key = "fail" }).letters)
  end)

  it("counts what readers know as lost", function()
    local subject = chain()
    verdict(subject, "k")
    assert.equal(0, subject:lost())
    verdict(subject, "fail")
    verdict(subject, "k")
    assert.equal(1, subject:lost())
    subject:gap(2)
    assert.equal(3, subject:lost())
    verdict(subject, "k") -- the guard behind the gap
    assert.equal(4, subject:lost())
  end)

  it("lets a publisher start over, of several", function()
    local subject = chain(nil, { sources = { "one", "two" } })
    subject:send({}, "two")
    subject:send({}, "two")
    subject:restart "two"
    assert.equal(1, subject:lost())
    assert.equal("kept", subject:send({}, "two").verdict)
    assert.equal("kept", subject:send({}, "one").verdict)
  end)

  it("lets time pass: the guard of a gap is due before long", function()
    local subject = chain()
    verdict(subject, "k")
    subject:gap()
    assert.equal(1, subject:lost())
    assert.same({}, subject:advance(3600000))
    assert.equal(2, subject:lost())
  end)

  it("goes on where it was after a reload, with other filters too", function()
    local subject = chain()
    verdict(subject, "k")
    subject:reload()
    assert.equal("kept", verdict(subject, "k"))
    subject:reload { { script = "select_medium.lua", options = { keep = "disk" } } }
    assert.equal("dropped", verdict(subject, "k"))
    assert.has_error(function() subject:reload { { script = "absent.lua" } } end)
  end)

  it("calls the other hooks: on_loss at a gap and a restart, on_tick as time passes", function()
    local subject = testing.filter "hooks.lua"
    assert.equal("gap 2", subject:gap(2).streams.out[1].event_type)
    assert.equal("guard 1", subject:send({}).streams.out[1].event_type)
    assert.equal("restart 1", subject:restart().streams.out[1].event_type)
    local types = {}
    for i, event in ipairs(subject:advance(5000).out) do types[i] = event.event_type end
    assert.same({ "tick", "tick" }, types)
  end)

  it("keeps state over a reload, but not variables, and says what starts anew", function()
    local subject = testing.filter("counting.lua", { version = 1 })
    subject:keeps({}, { lora_name = "1 1" })
    assert.equal("", subject:reload())
    subject:keeps({}, { lora_name = "2 1" })
    local told = subject:reload { { script = "counting.lua", options = { version = 2 } } }
    assert.truthy(told:find("kept", 1, true), told)
    subject:keeps({}, { lora_name = "1 1" })
  end)

  it("says what an event was lost for", function()
    local result = chain():send { object_key = "fail" }
    assert.truthy(result.error:find("sample.lua:5: on purpose", 1, true))
    assert.is_nil(chain():send({}).error)
  end)

  describe("asserts", function()
    --- What the failed assertion says, without its place, which is this file.
    local function said(assertion, ...)
      local ok, why = pcall(assertion, ...)
      assert.is_false(ok)
      return (tostring(why.message or why):gsub("^%S*testing_spec.lua:%d+: ", ""))
    end

    it("what is kept, changed in the fields that are named and in no others", function()
      chain():keeps { object_key = "k" }
      local subject = chain { tenant = "acme" }
      subject:keeps({ tenant_id = "a" }, { tenant_id = "acme" })
      local event = { tenant_id = "a", object_key = "k" }
      local became = "\n  { object_key: \"k\", tenant_id: \"a\" }\n  was kept\n  to out:\n"
        .. '    - tenant_id: "a"\n    + tenant_id: "acme"'
      assert.equal("sample.lua: expected it kept unchanged" .. became,
        said(subject.keeps, subject, event))
      assert.equal('sample.lua: expected it kept with tenant_id: "b"' .. became,
        said(subject.keeps, subject, event, { tenant_id = "b" }))
      assert.equal("sample.lua: expected it kept with medium: (absent)" .. became,
        said(subject.keeps, subject, event, { medium = testing.absent }))
    end)

    it("what is dropped", function()
      chain():drops { object_key = "drop" }
      assert.equal('sample.lua: expected it dropped\n  { object_key: "k" }\n  was kept\n'
        .. "  to out unchanged", said(chain().drops, chain(), { object_key = "k" }))
    end)

    it("where it goes", function()
      local subject = chain(nil, { streams = { "a", "b" } })
      subject:routes({ object_key = "b" }, "b")
      subject:routes({ object_key = "k" }, { "b", "a" })
      assert.truthy(said(subject.routes, subject, { object_key = "b" }, { "a", "b" })
        :find("expected it sent to a, b unchanged\n", 1, true))
    end)

    it("what it is split into", function()
      chain():splits({ object_key = "split" }, { {}, { object_key = "other" } })
      assert.truthy(said(chain().splits, chain(), { object_key = "split" }, { {} })
        :find("expected it split into these 1\n", 1, true))
    end)

    it("what it is lost for", function()
      chain():loses { object_key = "fail" }
      chain():loses({ object_key = "fail" }, "on purpose")
      assert.truthy(said(chain().loses, chain(), { object_key = "fail" }, "by mistake")
        :find('expected it lost for "by mistake"\n', 1, true))
    end)

    it("that nothing is changed, not a byte", function()
      testing.changes_nothing("sample.lua")
      assert.truthy(said(testing.changes_nothing, "sample.lua", { tenant = "acme" })
        :find('+ tenant_id: "acme"', 1, true))
    end)

    it("why a filter is refused", function()
      testing.refuses("absent.lua", nil, "there is no script absent.lua")
      assert.equal('sample.lua: expected it refused for "x"\n  it loads',
        said(testing.refuses, "sample.lua", nil, "x"))
    end)
  end)

  it("reads metrics, by labels or summed", function()
    local subject = chain(nil, { streams = { "a", "b" } })
    for _, key in ipairs { "k", "b", "drop" } do verdict(subject, key) end
    local function events(labels)
      return subject:metric("kvgate_stream_published_events_total", labels)
    end
    assert.equal(1, events { stream = "a" })
    assert.equal(3, events())
    assert.is_nil(events { stream = "c" })
    assert.equal(1, subject:metric("kvgate_filter_dropped_total", { filter = "sample.lua" }))
  end)

  it("finds the ready filters that are installed with it", function()
    local share = folder.new()
    assert.equal(0, os.execute(("mkdir -p %s/lua/kvgate %s/filters"):format(share, share)))
    folder.write(share .. "/filters/ready.lua", FILTER)
    local file = assert(io.open(assert(package.searchpath("kvgate.testing", package.path))))
    local installed = folder.write(share .. "/lua/kvgate/testing.lua", file:read "*a")
    file:close()
    dofile(installed).filter("ready.lua", {}):drops { object_key = "drop" }
  end)

  for name, case in pairs {
    ["a colon that is none"] = { function() chain().keeps {} end,
      "write chain:keeps(…), with a colon" },
    ["a method that there is not"] = { function() chain():keep {} end,
      'a chain has no "keep"; did you mean "keeps"? known are advance, drops, gap, keeps, '
      .. "loses, lost, metric, reload, restart, routes, send, send_all, splits" },
    ["a misspelt key of the world"] = { function() chain(nil, { stream = { "a" } }):lost() end,
      'unknown key of the world "stream"; did you mean "streams"? known are streams, sources' },
    ["streams that are no list"] = { function() chain(nil, { streams = "a" }):lost() end,
      'streams: expected a list of names, not the string "a"' },
    ["a misspelt key of a filter"] = {
      function() testing.chain({ { scrip = "sample.lua" } }):lost() end,
      'unknown key of a filter "scrip", did you mean "script"?' },
    ["a script that there is not"] = { function() testing.run("absent.lua", {}, {}) end,
      "filter absent.lua: there is no script absent.lua in ., %s, filters" },
    ["a script that there is not, at a reload"] = {
      function() chain():reload { { script = "absent.lua" } } end,
      "filter absent.lua: there is no script absent.lua in ., %s, filters" },
    ["a source that there is not"] = { function() chain():send({}, "stor") end,
      'no source is called "stor"; did you mean "store"? known are store' },
    ["a stream that there is not"] = { function() chain():lost "ou" end,
      'no stream is called "ou"; did you mean "out"? known are out' },
  } do
    it("tells at the spec's line of " .. name, function()
      local info = debug.getinfo(case[1], "S")
      local ok, why = pcall(case[1])
      assert.is_false(ok)
      assert.equal(("%s:%d: %s"):format(info.short_src, info.linedefined,
        (case[2]:gsub("%%s", testing.path[1]))), why)
    end)
  end

  it("knows no metric of another name, and names the nearest", function()
    assert.error_matches(function() chain():metric "kvgate_filter_drop_total" end,
      'no metric "kvgate_filter_drop_total"; did you mean "kvgate_filter_dropped_total"? known',
      1, true)
  end)

  it("says why a filter does not load", function()
    assert.is_nil(testing.mistake("sample.lua", {}))
    assert.truthy(testing.mistake("absent.lua", {}):find("absent.lua", 1, true))
  end)

  it("passes what failed if the chain says so", function()
    assert.equal("kept", verdict(chain(nil, nil, "pass"), "fail"))
  end)
end)

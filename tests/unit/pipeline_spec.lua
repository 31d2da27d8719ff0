--- relay/pipeline.c: one generation of behaviour, built aside, and what counts as a changed feed.
local relay = require "tests.support.relay"
local event = relay.event
local FILTERED, PICKY = relay.FILTERED, relay.PICKY

describe("pipeline", function()
  it("keeps numbers over a reload and marks one loss where the feed changed", function()
    local subject = relay.new(FILTERED, { ["f.lua"] = PICKY })
    subject:send { event "a" }
    assert.is_true(subject.core:reload(FILTERED))
    subject:send { event "b" }
    assert.equal("1:a 2:b", subject:out "out")
    subject:write("f.lua", (PICKY:gsub('"d"', '"e"')))
    assert.is_true(subject.core:reload(FILTERED))
    subject:send { event "d" }
    assert.equal("4:d", subject:out "out")
    assert.equal(1, subject:metric 'kvgate_stream_losses_total{stream="out",cause="reload"}')
    subject:assert_identity "out"
  end)

  it("changes nothing when a reload fails, and says why with file and line", function()
    local subject = relay.new(FILTERED, { ["f.lua"] = PICKY })
    subject:send { event "a" }
    subject:write("f.lua", "return function()\n  error 'broken'\nend\n")
    local done, why = subject.core:reload(FILTERED)
    assert.is_nil(done)
    assert.truthy(why:find("f.lua:2: broken", 1, true), why)
    subject:send { event "d", event "b" }
    assert.equal("1:a 2:b", subject:out "out")
    done, why = subject.core:reload "sources: 7"
    assert.is_nil(done)
    assert.truthy(why:find("test.yaml:1:", 1, true), why)
  end)

  --- Does a reload from one YAML to the other cost stream "out" a number?
  local function is_change(before, after, files)
    local subject = relay.new(before, files or { ["f.lua"] = PICKY, ["g.lua"] = PICKY .. "-- g" })
    subject:send { event "a" }
    assert(subject.core:reload(after))
    subject:send { event "b" }
    local out = subject:out "out"
    assert.truthy(out == "1:a 2:b" or out == "1:a 3:b", out)
    return out == "1:a 3:b"
  end

  for _, case in ipairs {
    { "another script", "f.lua", "g.lua", true },
    { "another option", "f.lua", "f.lua, options: { n: 1 }", true },
    { "another on_error", "f.lua", "f.lua, on_error: drop", true },
    { "another test", "/tmp/out", "/tmp/out\", accept: { tenant_id: [default] }, topic: \"", true },
    { "another publisher", "/tmp/in", "/tmp/elsewhere", true },
    { "another topic of the source", '/tmp/in"', '/tmp/in", topic: "x"', true },
    { "another event_id", '/tmp/out"', '/tmp/out", event_id: restamp', true },
    { "another announce_after", '/tmp/out"', '/tmp/out", announce_after: 5s', false },
    { "another queue", '/tmp/out"', '/tmp/out", hwm: 7', false },
    { "a comment", "sources", "# hello\nsources", false },
  } do
    it((case[4] and "calls %s a changed feed" or "does not call %s a changed feed"):format(case[1]),
      function()
        local from, to = FILTERED:find(case[2], 1, true)
        local after = FILTERED:sub(1, from - 1) .. case[3] .. FILTERED:sub(to + 1)
        assert.equal(case[4], is_change(FILTERED, after))
      end)
  end

  it("names file, line and column of the filter that cannot be loaded", function()
    local ok, why = pcall(relay.new, FILTERED, { ["f.lua"] = "return 7" })
    assert.is_false(ok)
    assert.truthy(tostring(why):find("test.yaml:2:", 1, true), why)
    assert.truthy(tostring(why):find("f.lua", 1, true), why)
  end)

  it("names every script that cannot be loaded, not the first alone", function()
    local yaml = FILTERED:gsub("f.lua }", "f.lua }, { script: g.lua }, { script: none.lua }")
    local _, why = pcall(relay.new, yaml, { ["f.lua"] = "return 7", ["g.lua"] = "return (" })
    for _, part in ipairs { "filter f.lua", "filter g.lua", "g.lua:1:", "filter none.lua" } do
      assert.truthy(tostring(why):find(part, 1, true), why)
    end
  end)

  describe("of a file with mistakes", function()
    local BROKEN = { ["f.lua"] = "return function(options)\n  error 'broken'\nend\n" }

    --- The mistakes, a line each, without paths.
    local function mistakes(yaml)
      local _, text = pcall(relay.new, yaml, BROKEN)
      local lines = {}
      for line in text:gmatch "[^\n]+" do
        lines[#lines + 1] = line:gsub("%S*/test.yaml:", ""):gsub("%S*/f.lua", "f.lua")
      end
      return lines
    end

    it("tells those of its scripts, too, behind those of the file", function()
      assert.same({
        '4:1: unknown key of the configuration "more", expected one of admin, log, script_path, '
          .. "limits, jit, sources, filters, streams, dead_letters",
        "2:12: filter f.lua: f.lua:2: broken",
      }, mistakes(FILTERED .. "more: true\n"))
    end)

    it("leaves out a filter that has a mistake itself", function()
      local told = mistakes((FILTERED:gsub("f.lua }", "f.lua, options: { a: '${NOT_SET}' } }")))
      assert.equal(1, #told)
      assert.truthy(told[1]:find('"NOT_SET" is not set', 1, true))
      told = mistakes((FILTERED:gsub("f.lua }", "f.lua, on_error: weep }")))
      assert.equal(1, #told)
      assert.truthy(told[1]:find("on_error", 1, true))
    end)

    it("leaves out all where names are missing that scripts may ask for", function()
      local told = mistakes((FILTERED:gsub("name: out, ", "")))
      assert.equal(1, #told)
      assert.truthy(told[1]:find("name", 1, true))
      told = mistakes(FILTERED .. "script_path: [ 5 ]\n")
      assert.equal(1, #told)
    end)
  end)
end)

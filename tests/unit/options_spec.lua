local scripts = require "tests.support.script"
local wire = require "tests.support.wire"

--- What a filter sees of its options: the expression as text.
local function option(expression, yaml)
  local script = scripts.new { ["f.lua"] = ([[
    return function(options)
      local seen = tostring(%s)
      return function(event) event.seen = seen return true end
    end]]):format(expression) }
  local report = script:run({ script:load("f.lua", yaml) }, { wire.event {} })
  script:remove()
  return wire.get(report.events[1].map, "seen")
end

describe("an option", function()
  local cases = {
    { "options.a", "{ a: text }", "text" },
    { "type(options.a)", "{ a: '5' }", "string" },
    { "options.a", "{ a: 5 }", "5" },
    { "type(options.a)", "{ a: 5 }", "number" },
    { "options.a", "{ a: -5 }", "-5" },
    { "options.a", "{ a: 1.5 }", "1.5" },
    { "options.a", "{ a: true }", "true" },
    { "options.a", "{ a: false }", "false" },
    { "options.a", "{ a: null }", "nil" },
    { "options.a", "{ a: ~ }", "nil" },
    { "options.b", "{ a: 1 }", "nil" },
    { "('%.0f'):format(options.a)", "{ a: 9007199254740992 }", "9007199254740992" },
    { "type(options.a)", "{ a: 9007199254740992 }", "number" },
    { "options.a", "{ a: 9007199254740993 }", "9007199254740993ULL" },
    { "options.a", "{ a: 9223372036854775808 }", "9223372036854775808ULL" },
    { "options.a", "{ a: 18446744073709551615 }", "18446744073709551615ULL" },
    { "options.a", "{ a: -9007199254740993 }", "-9007199254740993LL" },
    { "options.a", "{ a: -9223372036854775808 }", "-9223372036854775808LL" },
    { "options.a", "{ a: 0xffffffffffffffff }", "18446744073709551615ULL" },
    { "#options.a .. options.a[3]", "{ a: [x, y, z] }", "3z" },
    { "#options.a", "{ a: [] }", "0" },
    { "next(options.a)", "{ a: {} }", "nil" },
    { "options.a.b.c[1].d", "{ a: { b: { c: [ { d: deep } ] } } }", "deep" },
    { "options.a[5] .. options.a['6'] .. options.a[true]",
      "{ a: { 5: five, '6': six, true: yes } }",
      "fivesixyes" },
    { "options.a[2]", "{ a: [1, null, 3] }", "nil" },
    { "options.a[3]", "{ a: [1, null, 3] }", "3" },
    { "next(options)", "{}", "nil" },
    { "next(options)", "null", "nil" },
    { "getmetatable(options)", "{ a: 1 }", "nil" },
  }
  for _, case in ipairs(cases) do
    it(("%s of %s is %s"):format(case[1], case[2], case[3]), function()
      assert.equal(case[3], option(case[1], case[2]))
    end)
  end

  it("belongs to one filter", function()
    local script = scripts.new { ["f.lua"] = [[
      return function(options)
        options.count = (options.count or 0) + 1
        local count = options.count
        return function(event) event.seen = count return true end
      end]] }
    script:load("f.lua", "{ a: 1 }")
    local report = script:run({ script:load("f.lua", "{ a: 1 }") }, { wire.event {} })
    assert.equal(1, wire.get(report.events[1].map, "seen"))
    script:remove()
  end)
end)

describe("kvgate.options", function()
  --- Why a filter does not load that knows one option of each kind.
  local function mistake(options)
    local script = scripts.new { ["f.lua"] = [[
      local check = require "kvgate.options"
      return function(options)
        check.options(options, { text = "string", flag = "boolean", count = "count",
          names = "strings", map = "map", out = "streams" })
        return function() return true end
      end]] }
    local text = script:refusal("f.lua", options)
    script:remove()
    return text
  end

  local cases = {
    { "{ text: '' }", 'option "text": expected a string, not an empty string' },
    { "{ text: [a] }", 'option "text": expected a string, not a list' },
    { "{ text: { a: 1 } }", 'option "text": expected a string, not a map' },
    { "{ flag: maybe }", 'option "flag": expected true or false, not the string "maybe"' },
    { "{ count: 18446744073709551615 }",
      'option "count": expected an integer from 0 to 2^53, not the number 18446744073709551615' },
    { "{ names: [] }",
      'option "names": expected a string or a list of strings, not an empty list' },
    { "{ names: [a, ''] }",
      'option "names": expected a string or a list of strings, not a list with an empty string '
        .. "in it" },
    { "{ names: [a, null, b] }",
      'option "names": expected a string or a list of strings, not a list with null in it' },
    { "{ out: [a, null, b] }",
      'option "out": expected a stream, a list of streams or false, not a list with null in it' },
    { "{ names: { a: b } }", 'option "names": expected a string or a list of strings, not a map' },
    { "{ map: [a] }", 'option "map": expected a map, not a list' },
    { "{ map: {} }", 'option "map": expected a map, not an empty list or map' },
    { "{ out: true }", 'option "out": expected a stream, a list of streams or false, not true' },
    { "{ out: [a, other] }", 'option "out": no stream is called "other"; known are a, b, c' },
    { "{ flags: true }",
      'unknown option "flags"; did you mean "flag"? known are count, flag, map, names, out, text' },
  }
  for _, case in ipairs(cases) do
    it("refuses " .. case[1] .. " in one plain sentence", function()
      assert.equal(case[2], mistake(case[1]))
    end)
  end

  for given, seen in pairs { a = "a", ["[a, c]"] = "table", ["false"] = "false" } do
    it("takes streams that there are: " .. given, function()
      local script = scripts.new { ["f.lua"] = [[
        local check = require "kvgate.options"
        return function(options)
          local out = check.options(options, { out = "streams" }).out
          local seen = type(out) == "table" and "table" or tostring(out)
          return function(event) event.seen = seen return true end
        end]] }
      local report = script:run({ script:load("f.lua", ("{ out: %s }"):format(given)) },
        { wire.event {} })
      assert.equal(seen, wire.get(report.events[1].map, "seen"))
      script:remove()
    end)
  end

  it("shows the line of the script when it refuses while events run", function()
    local _, failure = scripts.error_of(
      "require('kvgate.options').refuse('medium', 'a medium', '')\nreturn true")
    assert.equal('@/f.lua:2: option "medium": expected a medium, not an empty string',
      failure.error)
  end)
end)

describe("a signature", function()
  local pass = scripts.body "return true"

  --- Of f.lua among these files, with these options.
  local function signature(files, options)
    local script = scripts.new(files)
    local filter = script:load("f.lua", options)
    local value = script.state:about(filter).signature
    script:remove()
    return value
  end

  it("is the same for the same text and options, wherever the files are", function()
    assert.equal(signature({ ["f.lua"] = pass }), signature({ ["f.lua"] = pass }))
    assert.equal(signature({ ["f.lua"] = pass }, "{ a: 1, b: [x, { c: d }] }"),
      signature({ ["f.lua"] = pass }, "{ a: 1, b: [x, { c: d }] }"))
    assert.equal(16, #signature { ["f.lua"] = pass })
  end)

  it("does not look at the order of a map", function()
    assert.equal(signature({ ["f.lua"] = pass }, "{ a: 1, b: { x: 1, y: 2 } }"),
      signature({ ["f.lua"] = pass }, "{ b: { y: 2, x: 1 }, a: 1 }"))
  end)

  it("is another one when a value differs in any way", function()
    local seen = {}
    for _, options in ipairs {
      "{}", "{ a: 1 }", "{ a: 2 }", "{ b: 1 }", "{ a: '1' }", "{ a: 1.0 }", "{ a: true }",
      "{ a: null }",
      "{ a: [1] }", "{ a: [1, 2] }", "{ a: [2, 1] }", "{ a: { 1: 2 } }", "{ a: {} }", "{ a: [] }",
      "{ a: 18446744073709551615 }", "{ a: -1 }", "{ a: 1, b: 1 }", "{ a: x, b: y }",
      "{ a: y, b: x }",
      "{ a: [[1], 2] }", "{ a: [[1, 2]] }", "{ a: '' }",
    } do
      local value = signature({ ["f.lua"] = pass }, options)
      assert.is_nil(seen[value], options)
      seen[value] = true
    end
  end)

  it("is another one when the text or a module's text differs", function()
    local with = "require 'm' " .. pass
    local deep = "require 'n' return 1"
    local files = { ["f.lua"] = with, ["m.lua"] = deep, ["n.lua"] = "return 1" }
    local first = signature(files)
    files["n.lua"] = "return 2"
    local second = signature(files)
    files["m.lua"] = deep .. " "
    local third = signature(files)
    files["f.lua"] = with .. " "
    local fourth = signature(files)
    assert.is_true(first ~= second and second ~= third and third ~= fourth and first ~= fourth)
  end)

  it("counts modules that another filter has loaded already", function()
    local function second_signature(text)
      local script = scripts.new { ["f.lua"] = "require 'm' " .. pass, ["m.lua"] = text }
      script:load "f.lua"
      local value = script.state:about(script:load "f.lua").signature
      script:remove()
      return value
    end
    assert.equal(second_signature "return 1", second_signature "return 1")
    assert.not_equal(second_signature "return 1", second_signature "return 2")
    assert.equal(second_signature "return 1",
      signature { ["f.lua"] = "require 'm' " .. pass, ["m.lua"] = "return 1" })
  end)
end)

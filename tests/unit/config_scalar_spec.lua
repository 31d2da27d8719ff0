--- base/config_scalar.c: the kinds of YAML 1.2, exact to 64 bits, and variables.
local environment = require "tests.support.environment"
local subject = require "tests.support.config"
local file = subject.file
local filter = subject.filter
local read = subject.read
local option = subject.option

describe("config_scalar", function()
  describe("scalars", function()
    local cases = {
      { "x", { "string", "x" } },
      { "'12'", { "string", "12" } },
      { '"true"', { "string", "true" } },
      { "!!str 12", { "string", "12" } },
      { "yes", { "string", "yes" } },
      { "1_000", { "string", "1_000" } },
      { "0b1", { "string", "0b1" } },
      { "1.2.3", { "string", "1.2.3" } },
      { "-", nil },
      { "", { "null" } },
      { "~", { "null" } },
      { "Null", { "null" } },
      { "nULL", { "string", "nULL" } },
      { "True", { "bool", true } },
      { "FALSE", { "bool", false } },
      { "0", { "integer", "0" } },
      { "-0", { "integer", "0" } },
      { "+7", { "integer", "7" } },
      { "007", { "integer", "7" } },
      { "0o17", { "integer", "15" } },
      { "0xfF", { "integer", "255" } },
      { "-0xff", { "string", "-0xff" } },
      { "0x", { "string", "0x" } },
      { "9007199254740993", { "integer", "9007199254740993" } },
      { "9223372036854775807", { "integer", "9223372036854775807" } },
      { "9223372036854775808", { "uinteger", "9223372036854775808" } },
      { "18446744073709551615", { "uinteger", "18446744073709551615" } },
      { "0xffffffffffffffff", { "uinteger", "18446744073709551615" } },
      { "-9223372036854775808", { "integer", "-9223372036854775808" } },
      { "1.5", { "number", 1.5 } },
      { ".5", { "number", 0.5 } },
      { "5.", { "number", 5 } },
      { "-1e3", { "number", -1000 } },
      { "1e+3", { "number", 1000 } },
      { "1e", { "string", "1e" } },
      { ".", { "string", "." } },
      { ".inf", { "number", math.huge } },
      { "-.INF", { "number", -math.huge } },
      { "+.Inf", { "number", math.huge } },
      { ".infinity", { "string", ".infinity" } },
    }
    for _, case in ipairs(cases) do
      local text, expected = case[1], case[2]
      if expected then
        it("resolves " .. (text == "" and "nothing" or text) .. " to " .. expected[1], function()
          assert.same(expected, option(text))
        end)
      end
    end

    it("resolves .nan to a number that is none", function()
      local value = option ".nan"
      assert.equal("number", value[1])
      assert.is_true(value[2] ~= value[2])
    end)

    it("keeps NULs and any UTF-8 in options", function()
      assert.same({ "string", "a\0b\195\188" }, option [["a\0b\u00fc"]])
    end)

    it("keeps block scalars, lists and maps with keys of several kinds", function()
      local config = read(file {
        more = "filters:\n  - script: f.lua\n    options:\n"
          .. "      text: |\n        one\n        two\n      list: [ 1, [ ], { } ]\n"
          .. "      2: int\n      true: bool\n",
      })
      assert.same({
        "map",
        {
          { "string", "text" },
          { "string", "one\ntwo\n" },
          { "string", "list" },
          { "list", { { "integer", "1" }, { "list", {} }, { "map", {} } } },
          { "integer", "2" },
          { "string", "int" },
          { "bool", true },
          { "string", "bool" },
        },
      }, config.filters[1].options)
    end)

    it("repeats what an alias names", function()
      local config = read(file {
        more = "filters:\n  - { script: f.lua, options: &o { a: [ 1 ] } }\n"
          .. "  - { script: &s g.lua, options: *o }\n  - { script: *s }",
      })
      assert.same(config.filters[1].options, config.filters[2].options)
      assert.equal("g.lua", config.filters[3].script)
    end)
  end)

  describe("variables", function()
    before_each(function()
      environment.set("KVGATE_T", "acme")
      environment.set("KVGATE_N", "42")
      environment.set("KVGATE_E", "")
      environment.set("KVGATE_U", nil)
    end)

    local cases = {
      { "${KVGATE_T} plain", '"${KVGATE_T}"', "acme" },
      { "within a string", '"a-${KVGATE_T}-${KVGATE_N}"', "a-acme-42" },
      { "a default that is not needed", '"${KVGATE_T:-x}"', "acme" },
      { "a default of one that is not set", '"${KVGATE_U:-x:-y}"', "x:-y" },
      { "a default of one that is empty", '"${KVGATE_E:-x}"', "x" },
      { "an empty default", '"${KVGATE_U:-}"', "" },
      { "an empty value", '"${KVGATE_E}"', "" },
      { "an escape", '"$${KVGATE_T} $$ $x $"', "${KVGATE_T} $$ $x $" },
      { "in a quoted number", '"${KVGATE_N}"', "42" },
    }
    for _, case in ipairs(cases) do
      it("expand: " .. case[1], function()
        assert.same({ "string", case[3] }, option(case[2]))
      end)
    end

    it("expand before a plain scalar's kind is looked at", function()
      local config = read(file {
        sources = "\n  - name: ${KVGATE_T}\n    connect: tcp://${KVGATE_T}:5557\n"
          .. "    hwm: ${KVGATE_N}",
      })
      assert.equal("acme", config.sources[1].name)
      assert.equal("tcp://acme:5557", config.sources[1].connect)
      assert.equal(42, config.sources[1].hwm)
    end)

    it("never turn into YAML of their own", function()
      environment.set("KVGATE_T", "a, hwm: 1 } ]\nfoo: bar # \1")
      assert.same({ "string", "a, hwm: 1 } ]\nfoo: bar # \1" }, option '"${KVGATE_T}"')
    end)
  end)

  local mistakes = {
    {
      "an integer that no 64 bits hold",
      filter "script: f.lua, options: { a: §18446744073709551616, b: §-9223372036854775809 }",
      '"18446744073709551616" does not fit 64 bits, expected a smaller number or a quoted string',
      '"-9223372036854775809" does not fit 64 bits, expected a smaller number or a quoted string',
    },
    {
      "variables that are not set or no variables",
      filter [[script: §"${KVGATE_U}", options: { a: §"${1}", b: §"x ${", c: §"${A-b}" }]],
      'environment variable "KVGATE_U" is not set, set it or write ${KVGATE_U:-default}',
      '"1" is no variable, expected ${NAME} or ${NAME:-default}; write $${ for ${ itself',
      "${ without }, expected ${NAME}; write $${ for ${ itself",
      '"A-b" is no variable, expected ${NAME} or ${NAME:-default}; write $${ for ${ itself',
    },
  }
  subject.tells(mistakes)
end)

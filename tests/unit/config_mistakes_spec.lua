--- base/config_mistakes.c: the nearest known word, harmless quotes, a bounded list.
local gateway = require "gateway"
local subject = require "tests.support.config"
local file = subject.file

describe("config_mistakes", function()
  it("shows a path with a control character harmlessly", function()
    local _, text = gateway.config("5", "a\27b.yaml")
    assert.equal("a\\x1bb.yaml:1:1: the configuration: expected a map, got the number 5\n", text)
  end)

  it("counts the mistakes that it does not list", function()
    local keys = {}
    for i = 1, 1500 do
      keys[i] = "zzzzzzzz" .. i .. ": 1"
    end
    local _, text = gateway.config(file { more = table.concat(keys, "\n") }, "c.yaml")
    assert.equal(1001, select(2, text:gsub("\n", "")))
    assert.is_truthy(text:find("\nc.yaml: and 500 more mistakes\n$"))
  end)

  local mistakes = {
    {
      "a key that is nearly one",
      file { more = "§filter: []" },
      'unknown key of the configuration "filter", did you mean "filters"?',
    },
    {
      "a key that is far from all",
      file { more = "§banana: []" },
      'unknown key of the configuration "banana", expected one of admin, log, '
        .. "script_path, limits, jit, sources, filters, streams, dead_letters",
    },
    {
      "a key with an escape in it, shown harmlessly",
      file { more = [[§"\e[31m\n": 1]] },
      'unknown key of the configuration "\\x1b[31m\\n", expected one of admin, log, '
        .. "script_path, limits, jit, sources, filters, streams, dead_letters",
    },
  }
  subject.tells(mistakes)
end)

--- base/config_yaml.c, config_keys.c: one document, bounded, with its mistakes in place.
local environment = require "tests.support.environment"
local subject = require "tests.support.config"
local file = subject.file
local source = subject.source
local filter = subject.filter
local read = subject.read
local mistakes_of = subject.mistakes_of
local unmark = subject.unmark

describe("config_yaml", function()
  it("stops at the depth that it can hold", function()
    local function deep(levels)
      local lists = ("["):rep(levels - 1) .. "§[" .. ("]"):rep(levels)
      return filter("script: f.lua, options: { a: " .. lists .. " }")
    end
    read((unmark(deep(60))))
    local yaml, places = unmark(deep(61))
    assert.same({ places[1] .. ": nested too deep, expected at most 64 levels" }, mistakes_of(yaml))
  end)

  it("stops an alias bomb", function()
    local lines = { "filters:", "  - script: f.lua", "    options:", "      a0: &a0 [ x, x ]" }
    for i = 1, 30 do
      lines[#lines + 1] = ("      a%d: &a%d [ *a%d, *a%d ]"):format(i, i, i - 1, i - 1)
    end
    local found = mistakes_of(file { more = table.concat(lines, "\n") })
    assert.equal(1, #found)
    assert.is_truthy(found[1]:find("the file holds too much, expected at most 500000", 1, true))
  end)

  it("stops variables that grow without end", function()
    environment.set("KVGATE_BIG", ("x"):rep(100000))
    local found = mistakes_of(filter("script: f.lua, options: { a: [ "
      .. ('"${KVGATE_BIG}", '):rep(200) .. "] }"))
    environment.set("KVGATE_BIG", nil)
    assert.equal(1, #found)
    assert.is_truthy(found[1]:find("the file holds too much", 1, true))
  end)

  it("refuses a file that is too large", function()
    assert.same({ "1:1: the file is too large, expected at most 4194304 bytes" },
      mistakes_of(file { more = "# " .. ("x"):rep(4194304) }))
  end)

  it("finds the same place with a byte order mark and with CRLF", function()
    assert.same({ '3:1: unknown key of the configuration "filter", did you mean "filters"?' },
      mistakes_of((file { more = "filter: []" }):gsub("\n", "\r\n")))
    assert.same({ '3:1: unknown key of the configuration "filter", did you mean "filters"?' },
      mistakes_of("\239\187\191" .. file { more = "filter: []" }))
  end)

  local mistakes = {
    {
      "an alias of nothing, and a tag",
      filter "script: §*f, options: { a: §!!binary aGk= }",
      'unknown alias "f", expected an anchor (&name) before it',
      'unknown tag "tag:yaml.org,2002:binary", expected none or !!str before a string',
    },
    {
      "an alias within its own anchor",
      filter "script: f.lua, options: &o { a: §*o }",
      'unknown alias "o", expected an anchor (&name) before it',
    },
    {
      "the same mistake behind an anchor once",
      file { more = "filters:\n  - &f { script: §5 }\n  - *f\n  - *f" },
      "script: expected a string (in quotes), got the number 5",
    },
    {
      "text that is not YAML",
      "sources: [\n  a,\n  b: [ 1 §}",
      "this is not YAML: did not find expected ',' or ']', while parsing a flow sequence "
        .. "that began at 3:6",
    },
    {
      "a tab for an indentation",
      "sources:\n§\t- a\n",
      "this is not YAML: found character that cannot start any token, "
        .. "while scanning for the next token that began at 2:1",
    },
    {
      "bytes that are not UTF-8",
      "log: {}\n# \195\188 §\255\n",
      "this is not YAML: invalid leading UTF-8 octet, expected UTF-8 text",
    },
    {
      "a control character",
      "a: §\1\n",
      "this is not YAML: control characters are not allowed, expected UTF-8 text",
    },
    {
      "a key twice",
      source 'connect: "tcp://h:1", hwm: 1, §hwm: x',
      'key "hwm" again, it is set in line 1 already',
    },
    {
      "an option twice, however deep",
      filter 'script: f.lua, options: { a: { b: 1, §b: 2 }, 1: x, §0x1: y, "1": z }',
      'key "b" again, it is set in line 4 already',
      "key the number 1 again, it is set in line 4 already",
    },
    {
      "keys that cannot be",
      file { more = "§1: x\n? §[ a ]\n: b\n§null: c\n§1.5: d\n§<<: { log: { level: info } }" },
      "the number 1 is no key of the configuration, expected a string",
      "a list cannot be a key, expected a string",
      "null cannot be a key, expected a string",
      "the number 1.5 cannot be a key, expected a string",
      "YAML 1.2 has no merge keys (<<), expected the keys themselves",
    },
  }
  subject.tells(mistakes)
end)

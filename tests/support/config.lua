--- Configurations for specs: right ones to start from, and mistakes with their places.
local assert = require "luassert"
local busted = require "busted"
local gateway = require "gateway"

local subject = {}

--- A configuration that is right; `parts` replace or add whole top-level keys.
function subject.file(parts)
  parts = parts or {}
  local sources = parts.sources or '[ { name: store, connect: "tcp://master:5557" } ]'
  local streams = parts.streams or '[ { name: out, bind: "tcp://127.0.0.1:6001" } ]'
  return table.concat({
    "sources: " .. sources,
    "streams: " .. streams,
    parts.more or "",
  }, "\n") .. "\n"
end

function subject.source(text)
  return subject.file { sources = "[ { name: store, " .. text .. " } ]" }
end

function subject.stream(text)
  return subject.file { streams = "[ { name: out, bind: tcp://127.0.0.1:6001, " .. text .. " } ]" }
end

function subject.filter(text)
  return subject.file { more = "filters:\n  - { " .. text .. " }" }
end

function subject.read(yaml, path)
  local config, mistakes = gateway.config(yaml, path)
  assert.equal("", mistakes)
  return assert(config)
end

--- The mistakes as a list of "line:column: text".
function subject.mistakes_of(yaml)
  local config, text = gateway.config(yaml, "c.yaml")
  assert.is_nil(config)
  local lines = {}
  for line in text:gmatch "([^\n]*)\n" do
    lines[#lines + 1] = assert(line:match "^c%.yaml:(.*)$", line)
  end
  assert.is_true(#lines > 0)
  return lines
end

--- The value of option `x`, as { kind, value }.
function subject.option(scalar)
  local config = subject.read(subject.filter("script: f.lua, options: { x: " .. scalar .. " }"))
  return config.filters[1].options[2][2]
end

--- Take the marks out of `text`; returns it and "line:column" of each.
function subject.unmark(text)
  local places, plain, line, column = {}, {}, 1, 1
  for character in text:gmatch "[%z\1-\127\192-\255][\128-\191]*" do
    if character == "§" then
      places[#places + 1] = line .. ":" .. column
    else
      plain[#plain + 1] = character
      column = column + 1
      if character == "\n" then
        line, column = line + 1, 1
      end
    end
  end
  return table.concat(plain), places
end

--- A case is a sentence, a file with § before each place that a mistake must name, and the mistakes
--- in the file's order.
---@param case string[]
local function check(case)
  local text, places = subject.unmark(case[2])
  local expected = {}
  for i, place in ipairs(places) do
    expected[i] = place .. ": " .. case[2 + i]
  end
  assert.equal(#case - 2, #places)
  assert.same(expected, subject.mistakes_of(text))
end

--- A test for each case.
---@param cases string[][]
function subject.tells(cases)
  for _, case in ipairs(cases) do
    busted.it("tells " .. case[1], function() check(case) end)
  end
end

return subject

--- Checks a filter's options while it loads, so that a mistake stops the start and not an event.
--
--   local check = require "kvgate.options"
--   local given = check.options(options, { medium = "strings", strict = "boolean" })
--
-- Every error names the option, what was expected and what was found.

local fault = require "kvgate.fault"
local world = require "kvgate.world"

local check = {}

--- A kind of option: `text` says what is expected; `read(value, name)` returns what the filter
--- works with, or nil.
local kinds = {}

kinds.string = { text = "a string", read = function(value)
  if type(value) == "string" and value ~= "" then return value end
end }

kinds.boolean = { text = "true or false", read = function(value)
  if type(value) == "boolean" then return value end
end }

kinds.count = { text = "an integer from 0 to 2^53", read = function(value)
  if type(value) ~= "number" or value % 1 ~= 0 then return nil end
  if value >= 0 and value <= 2 ^ 53 then return value end
end }

kinds.number = { text = "a number", read = function(value)
  if type(value) == "number" then return value end
end }

kinds.strings = { text = "a string or a list of strings", read = function(value)
  if type(value) == "string" then return kinds.string.read(value) and { value } end
  if type(value) ~= "table" or #value == 0 then return nil end
  local count = 0
  for key, item in pairs(value) do
    if type(key) ~= "number" or not kinds.string.read(item) then return nil end
    count = count + 1
  end
  return count == #value and value or nil
end }

kinds.map = { text = "a map", read = function(value)
  if type(value) ~= "table" or next(value) == nil then return nil end
  for key in pairs(value) do
    if type(key) ~= "string" then return nil end
  end
  return value
end }

kinds.streams = { text = "a stream, a list of streams or false", read = function(value, name)
  return check.streams(name, value)
end }

kinds.any = { text = "a value", read = function(value) return value end }

local function names_of(known)
  local names = {}
  for name in pairs(known) do names[#names + 1] = name end
  table.sort(names)
  return names
end

local function refuse_name(name, known)
  local hint = fault.hint(name, names_of(known))
  fault.refuse(("unknown option %q%s"):format(tostring(name), hint))
end

--- What was found, in words of the configuration. A bare {} may have been [] or {}.
local function found(value)
  if value == "" then return "an empty string" end
  if type(value) == "cdata" then return "the number " .. tostring(value):match "^-?%d+" end
  if type(value) ~= "table" then return fault.name(value) end
  local key = next(value)
  if key == nil then return "an empty list or map" end
  return type(key) == "number" and "a list" or "a map"
end

--- The same, with the first item that is no name where a list of names is expected.
local function found_strings(value)
  if type(value) ~= "table" or type(next(value)) == "string" then return found(value) end
  if next(value) == nil then return "an empty list" end
  for _, item in ipairs(value) do
    if not kinds.string.read(item) then return "a list with " .. found(item) .. " in it" end
  end
  return "a list with null in it"
end

--- An option that is not what it should be.
---@param name string
---@param expected string such as "a string"
---@param value any what was found
function check.refuse(name, expected, value)
  fault.refuse(("option %q: expected %s, not %s"):format(name, expected, found(value)))
end

local function refuse_kind(name, kind, value)
  local names = kind == kinds.strings or kind == kinds.streams
  fault.refuse(("option %q: expected %s, not %s")
    :format(name, kind.text, names and found_strings(value) or found(value)))
end

local function check_stream(name, stream)
  if world.streams[stream] then return end
  fault.refuse(("option %q: no stream is called %q%s")
    :format(name, stream:sub(1, 64), fault.hint(stream, world.stream_names)))
end

--- A verdict that an operator wrote: a stream of the configuration, a list of them, or false.
---@param name string the option's, for the message
---@param value any
---@return string|string[]|false
function check.streams(name, value)
  if value == false then return false end
  local list = kinds.strings.read(value) or refuse_kind(name, kinds.streams, value)
  for _, stream in ipairs(list) do check_stream(name, stream) end
  return value
end

--- Check options against the names and kinds that a filter knows.
---@param options table? as the configuration gives them
---@param known table<string, "string"|"boolean"|"count"|"number"|"strings"|"streams"|"map"|"any">
---@return table # what was given; a string where "strings" are known becomes a list of one
function check.options(options, known)
  local given = {}
  if type(options) ~= "table" and options ~= nil then
    fault.refuse("options: expected a map, not " .. found(options))
  end
  for name, value in pairs(options or {}) do
    local kind = kinds[known[name]] or refuse_name(name, known)
    given[name] = kind.read(value, name)
    if given[name] == nil then refuse_kind(name, kind, value) end
  end
  return given
end

--- Exactly one of two options must be given; returns its name.
---@param given table what check.options returned
---@param first string
---@param second string
---@return string
function check.one_of(given, first, second)
  if (given[first] == nil) == (given[second] == nil) then
    fault.refuse(("give option %q or option %q, one of them"):format(first, second))
  end
  return given[first] ~= nil and first or second
end

--- A list as a table that has its members as keys.
---@param list string[]
---@return table<string, true>
function check.set(list)
  local set = {}
  for _, item in ipairs(list) do set[item] = true end
  return set
end

--- The options of a selection: `keep` or `drop`, a list of values.
---@param options table?
---@return string[] values
---@return boolean keep whether the values are those to keep
function check.selection(options)
  local given = check.options(options, { keep = "strings", drop = "strings" })
  local name = check.one_of(given, "keep", "drop")
  return given[name], name == "keep"
end

return check

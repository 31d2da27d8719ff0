--- What differs between two events, for the messages of failed tests.

local wire = require "kvgate.testing_wire"

local diff = {}

-- ---- values as text ----

local show

local function show_list(value)
  local parts = {}
  for index, item in ipairs(value) do parts[index] = show(item) end
  return "[" .. table.concat(parts, ", ") .. "]"
end

local function show_map(value)
  local parts = {}
  for index, pair in ipairs(value) do parts[index] = show(pair[1]) .. ": " .. show(pair[2]) end
  return "{" .. table.concat(parts, ", ") .. "}"
end

local kinds = {
  null = function() return "null" end,
  absent = function() return "(absent)" end,
  array = show_list,
  map = show_map,
  bin = function(value) return "bin " .. wire.hex(value.bytes) end,
  ext = function(value) return ("ext %d %s"):format(value.type, wire.hex(value.bytes)) end,
  float = function(value) return ("float %.17g"):format(value.value) end,
  float32 = function(value) return ("float32 %.9g"):format(value.value) end,
}

--- A value as an event has it, in a form for the eye.
function show(value)
  if type(value) == "string" then return ("%q"):format(value) end
  if type(value) == "cdata" then return (tostring(value):gsub("U?LL$", "")) end
  if type(value) == "table" then return (kinds[value.kind] or show_list)(value) end
  return tostring(value)
end

-- ---- differences ----

--- Fields of two maps in wire's form that are not the same: { name, old, new } each, nil where
--- there is none.
---@param old table
---@param new table
---@param ignored? string name of a field that does not count
---@return table[]
function diff.of(old, new, ignored)
  local list = {}
  for _, pair in ipairs(old) do
    local now = wire.get(new, pair[1])
    if pair[1] ~= ignored and (now == nil or wire.encode(now) ~= wire.encode(pair[2])) then
      list[#list + 1] = { name = pair[1], old = pair[2], new = now }
    end
  end
  for _, pair in ipairs(new) do
    if pair[1] ~= ignored and wire.get(old, pair[1]) == nil then
      list[#list + 1] = { name = pair[1], new = pair[2] }
    end
  end
  return list
end

--- Are these differences the changes that were expected?
---@param list table[] of diff.of
---@param changes table<string, any> name to new value; wire.absent: the field went
---@return boolean
function diff.agree(list, changes)
  local left = {}
  for name in pairs(changes) do left[name] = true end
  for _, change in ipairs(list) do
    local wanted = changes[change.name]
    if wanted == nil then return false end
    if wanted == wire.absent then
      if change.new ~= nil then return false end
    elseif change.new == nil or wire.encode(wanted) ~= wire.encode(change.new) then
      return false
    end
    left[change.name] = nil
  end
  return next(left) == nil
end

-- ---- messages ----

local function lines_of(list, lines)
  for _, change in ipairs(list) do
    if change.old ~= nil then
      lines[#lines + 1] = ("    - %s: %s"):format(change.name, show(change.old))
    end
    if change.new ~= nil then
      lines[#lines + 1] = ("    + %s: %s"):format(change.name, show(change.new))
    end
  end
  return lines
end

local function sorted(map)
  local names = {}
  for name in pairs(map) do names[#names + 1] = name end
  table.sort(names)
  return names
end

--- The changes that were expected, behind "it kept".
---@param changes? table<string, any>
function diff.wanted(changes)
  if not changes or next(changes) == nil then return " unchanged" end
  local parts = {}
  for index, name in ipairs(sorted(changes)) do
    parts[index] = name .. ": " .. show(changes[name])
  end
  return " with " .. table.concat(parts, ", ")
end

--- What became of an event: its verdict, and the fields that differ on each stream.
---@param event table
---@param result kvgate.testing.Result
---@return string
function diff.describe(event, result)
  local given = {}
  for index, name in ipairs(sorted(event)) do
    given[index] = name .. ": " .. show(event[name])
  end
  local lines = { "  { " .. table.concat(given, ", ") .. " }", "  was " .. result.verdict }
  if result.error then lines[2] = lines[2] .. ": " .. result.error end
  for _, name in ipairs(sorted(result.raw)) do
    for _, bytes in ipairs(result.raw[name]) do
      local list = diff.of(result.sent[1], wire.decode(bytes))
      lines[#lines + 1] = ("  to %s%s"):format(name,
        #list > 0 and ":" or bytes == wire.encode(result.sent[1]) and " unchanged"
        or " with the same fields in other bytes")
      lines_of(list, lines)
    end
  end
  return table.concat(lines, "\n")
end

return diff

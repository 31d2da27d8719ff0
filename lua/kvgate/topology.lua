--- How many parts a block has, and which of them a key names, as options say it.
--
-- A part is numbered by its ranks, group, layer and component, like the digits of a number. An
-- option that is not given counts one. DCP ranks share the TP ranks of vLLM's keys, so there they
-- follow from them and count nothing.

local check = require "kvgate.options"

local PARTS_MAX = 4096

local topology = {
  options = {
    tp = "count", pp = "count", pcp = "count", dcp = "count", groups = "count", layers = "count",
    components = "strings",
  },
}

--- Option, what a record has for it, and what that is called.
local DIMENSIONS = {
  { "tp", function(record) return record.tp or record.head_or_tp or record.worker end, "tp rank" },
  { "pp", function(record) return record.pp end, "pp rank" },
  { "pcp", function(record) return record.pcp end, "pcp rank" },
  { "dcp", function(record) return record.dcp end, "dcp rank" },
  { "groups", function(record) return record.group end, "group" },
  { "layers", function(record) return record.layer end, "layer" },
}

local function has_any(given)
  for name in pairs(topology.options) do
    if given[name] ~= nil then return true end
  end
  return false
end

local function check_all(given)
  local parts = given.components and #given.components or 1
  for _, dimension in ipairs(DIMENSIONS) do
    local name = dimension[1]
    if given[name] == 0 then check.refuse(name, "1 or more", 0) end
    parts = parts * (given[name] or 1)
  end
  if parts > PARTS_MAX then
    error(("a block of %d parts: there may be %d"):format(parts, PARTS_MAX), 0)
  end
end

--- What is wrong with a rank, or nil. One that the option has no room for would make blocks that
--- lack it: that must be seen.
local function rank_mistake(dimension, rank, given)
  local name, _, what = unpack(dimension)
  if rank == nil then
    if (given or 1) == 1 then return nil end
    return ("option %q is %d, and the object key has none"):format(name, given)
  elseif rank >= (given or 1) then
    return ("the object key has %s %s, but option %q is %s: expected %ss from 0 to %d"):format(
      what, tostring(rank):match "^%d+", name, given or "not given", what:match "%a+$",
      (given or 1) - 1)
  end
end

--- Its place in the list; without a list keys name none.
local function component_index(given, record)
  local component = record.component
  if not given.components then
    if not component then return 0 end
    return nil, ("the object key has component %q, and option \"components\" is not given")
      :format(component:sub(1, 64))
  end
  for index, name in ipairs(given.components) do
    if name == component then return index - 1 end
  end
end

--- The number of the part that a record names and how many there are; nil if blocks are made
--- without it, nil and what is wrong if it does not fit.
local function place(given, record)
  local index, mistake = component_index(given, record)
  if not index then return nil, mistake end
  local parts = given.components and #given.components or 1
  for _, dimension in ipairs(DIMENSIONS) do
    local name, rank = dimension[1], dimension[2](record)
    local count = given[name]
    local follows = name == "dcp" and record.tp ~= nil
    if not follows or count then
      mistake = rank_mistake(dimension, rank, count)
      if mistake then return nil, mistake end
    end
    if not follows then
      index, parts = index * (count or 1) + (tonumber(rank) or 0), parts * (count or 1)
    end
  end
  return index, parts
end

--- A function that says of a record which part it names, of how many, and what to call its model:
--- nil if blocks are made without such parts, nil and a message if it does not fit, 0 and 0 if
--- parts are to be learned.
---@param given table<string, any> options, as topology.options has them, and `models`
---@return fun(record: kvgate.KeyRecord): integer?, integer|string|nil, string?
function topology.new(given)
  local models = {}
  for name, own in pairs(given.models or {}) do
    models[name] = check.options(own, topology.options)
    check_all(models[name])
  end
  check_all(given)
  local default = has_any(given) and given or nil

  return function(record)
    local own = record.model and models[record.model]
    local chosen = own or default
    if not chosen then return 0, 0, nil end
    local index, parts = place(chosen, record)
    return index, parts, ("%s of %s parts"):format(own and record.model or "", parts)
  end
end

return topology

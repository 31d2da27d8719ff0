--- emit(fields, streams): one more event, behind what the filter is at.
--
-- It is a slot of the batch like any other. The fields are edits of a blank event, so that they
-- obey the rules of assignment; once all of them have been taken it becomes an event as if it had
-- been received so, and is linked.

local ffi = require "ffi"
local border = require "kvgate.border"
local events = require "kvgate.event"
local fault = require "kvgate.fault"
local world = require "kvgate.world"

local C = ffi.C
local END = C.EVENT_END
local apart = world.apart

--- C says that a limit was reached.
local function refuse()
  if border.breach == C.BORDER_NO_MEMORY then
    error("emit: the events of this message take too much memory", 0)
  end
  error(("emit: a call may emit %d events, and a batch hold %d")
    :format(C.BORDER_EMITTED, border.batch.capacity), 0)
end

local function new_slot(event_type)
  local slot = border.make(border, event_type, #event_type)
  if slot == END then refuse() end
  return slot
end

--- Does the event have the field that is called so?
local function has(event, name)
  local field = events.field(name)
  return field ~= nil and event.at[field] ~= 0
end

--- Fields that the layout has stay in their places. Others follow, in the same order every time.
local function assign_all(event, fields)
  local others
  for name, item in next, fields do
    if has(event, name) then
      events.assign(event, name, item)
    elseif type(name) == "string" then
      others = others or {}
      others[#others + 1] = name
    else
      error("emit: a field's name is a string, not " .. fault.name(name), 0)
    end
  end
  if not others then return end
  table.sort(others)
  for _, name in ipairs(others) do events.assign(event, name, rawget(fields, name)) end
end

--- A publisher says the same under both names.
local function assign_alias(event, fields, alias, name)
  local item = rawget(fields, name)
  if item ~= nil and rawget(fields, alias) == nil and has(event, alias) then
    events.assign(event, alias, item)
  end
end

local function stream_index(name)
  if type(name) ~= "string" then
    error("emit: a stream's name is a string, not " .. fault.name(name), 0)
  end
  local index = world.streams[name]
  if index then return index end
  error(("emit: no stream is called %q%s")
    :format(name:sub(1, 256), fault.hint(name, world.stream_names)), 0)
end

local function narrow(slot, streams)
  local names = type(streams) == "string" and { streams } or streams
  if type(names) ~= "table" or #names == 0 or #names > C.BORDER_SPLIT then
    error("emit: streams is a name or a list of names, not " .. fault.name(streams), 0)
  end
  local left = #names
  for _ in next, names do left = left - 1 end
  if left ~= 0 then error("emit: streams is a list with a hole, or with names beside it", 0) end
  for index = 1, #names do border.order[index - 1] = stream_index(rawget(names, index)) end
  border.narrow(border, slot, #names)
end

local function make(fields, streams)
  local event_type = rawget(fields, "event_type")
  if type(event_type) ~= "string" then
    error("emit: event_type is a string, not " .. fault.name(event_type), 0)
  end
  local slot = new_slot(event_type)
  local event = border.batch.slots + slot
  assign_all(event, fields)
  assign_alias(event, fields, "block_hashes", "seq_hashes")
  assign_alias(event, fields, "parent_block_hash", "parent_hash")
  if streams ~= nil then narrow(slot, streams) end
  if not border.emit(border, slot) then refuse() end
end

--- Put an event behind the one at hand, for the filters behind this one. Works in every hook.
---@param fields table<string, any> fields as in assignment; event_type is required
---@param streams? string|string[] narrows where it may go
return function(fields, streams)
  if border.batch.serial == 0 then
    error("emit works while a hook runs, not while the filter loads", 0)
  end
  if type(fields) ~= "table" then
    error("emit takes a table of fields, not " .. fault.name(fields), 0)
  end
  apart(make, fields, streams)
end

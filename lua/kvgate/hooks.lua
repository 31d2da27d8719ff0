--- Hooks of a filter besides on_event: which there are, and what they are called with.
--
-- What is no event but has its place among events is a slot of the batch as well, a mark. The
-- driver comes to it and calls the hook for its state through here.

local bit = require "bit"
local ffi = require "ffi"
local border = require "kvgate.border"
local fault = require "kvgate.fault"
local value = require "kvgate.value"
local world = require "kvgate.world"

local C = ffi.C
local NAMES = { "every", "on_batch", "on_event", "on_loss", "on_tick" }
local EVERY_MIN, EVERY_MAX = 0.01, 86400 -- seconds

local hooks = {}

-- ---- loading ----

local function check_every(every, place)
  if type(every) == "number" and every >= EVERY_MIN and every <= EVERY_MAX then return end
  error(("%s: every is %s; expected seconds, from %g to %d")
    :format(place, fault.name(every), EVERY_MIN, EVERY_MAX), 0)
end

--- The hooks of a table that a filter returned; raises what is wrong with them.
---@param given table
---@param place string where the filter starts, for messages
---@return table # a copy, with `every_ms` too
function hooks.check(given, place)
  local own, known = {}, {}
  for _, name in ipairs(NAMES) do known[name] = true end
  for name, hook in next, given do
    if not known[name] then
      error(("%s: '%s' is no hook%s"):format(place, tostring(name), fault.hint(name, NAMES)), 0)
    end
    if name ~= "every" and type(hook) ~= "function" then
      error(("%s: %s is %s, not a function"):format(place, name, fault.name(hook)), 0)
    end
    own[name] = hook
  end
  if (own.on_tick == nil) ~= (own.every == nil) then
    error(("%s: on_tick and every go together, as in { on_tick = function(now) … end, every = 1 }")
      :format(place), 0)
  end
  if next(own) == nil then
    error(("%s: the table has no hook%s"):format(place, fault.hint("", NAMES)), 0)
  end
  if own.every ~= nil then
    check_every(own.every, place)
    own.every_ms = math.floor(own.every * 1000 + 0.5)
  end
  return own
end

--- The hooks by the state of their marks; nil if there are none.
---@param own table
---@return table<integer, table>?
function hooks.at_marks(own)
  if not (own.on_batch or own.on_loss or own.on_tick) then return nil end
  local loss = own.on_loss and { name = "on_loss", call = own.on_loss }
  return {
    [C.EVENT_LOST] = loss,
    [C.EVENT_TOLD] = loss,
    [C.EVENT_TICK] = own.on_tick and { name = "on_tick", call = own.on_tick },
    [C.EVENT_OPENS] = own.on_batch and { name = "on_batch", call = own.on_batch },
  }
end

-- ---- running ----

--- A msgpack scalar.
local function read_at(start)
  border.token.at = start
  return value.take(border.next(border), false)
end

local function streams_of(batch, slot)
  local names = {}
  for index, name in ipairs(world.stream_names) do
    local stream = index - 1
    local word = batch.reach[slot * batch.words + bit.rshift(stream, 6)]
    if bit.band(word, bit.lshift(1ULL, stream % 64)) ~= 0 then names[#names + 1] = name end
  end
  return names
end

local arguments = {}

arguments[C.EVENT_LOST] = function(batch, slot)
  local cause = world.causes[batch.slots[slot].cause + 1]
  return world.sources[batch.source + 1], streams_of(batch, slot), cause, 1
end

arguments[C.EVENT_TOLD] = function(batch, slot)
  local cause = world.causes[batch.slots[slot].cause + 1]
  return world.sources[batch.source + 1], streams_of(batch, slot), cause, tonumber(batch.count)
end

arguments[C.EVENT_TICK] = function(batch) return read_at(batch.timestamp) end

arguments[C.EVENT_OPENS] = function(batch)
  return {
    source = world.sources[batch.source + 1],
    sequence = batch.sequence,
    timestamp = read_at(batch.timestamp),
    dp_rank = read_at(batch.rank),
    count = tonumber(batch.count),
  }
end

--- Call the hook for the mark in `slot`.
---@param hook table { name, call }
---@param slot integer
function hooks.call(hook, slot)
  local batch = border.batch
  fault.enter(hook.call, hook.name)
  local result = hook.call(arguments[batch.slots[slot].state](batch, slot))
  if result ~= nil then
    error(("%s: %s returned %s; a hook other than on_event returns nothing")
      :format(fault.place(hook.call), hook.name, fault.name(result)), 0)
  end
end

return hooks

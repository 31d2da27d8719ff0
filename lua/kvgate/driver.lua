--- The loop that runs one filter over a batch.
--
-- Loaded afresh for every filter: traces would specialise on the first one otherwise. The slot it
-- is at is stored before each call, so that C knows which event raised, and resumes behind it.

local bit = require "bit"
local ffi = require "ffi"
local border = require "kvgate.border"
local events = require "kvgate.event"
local fault = require "kvgate.fault"
local hooks = require "kvgate.hooks"
local world = require "kvgate.world"

local C = ffi.C
local END, LIVE, DROPPED = C.EVENT_END, C.EVENT_LIVE, C.EVENT_DROPPED
local LIMIT = C.BORDER_SPLIT
local EMITTED = C.EVENT_EMITTED

local View, parts_of = events.View, events.parts
local cast, istype = ffi.cast, ffi.istype
local band, lshift = bit.band, bit.lshift
local enter = fault.enter
local order = border.order
local narrow, split = border.narrow, border.split
local streams = world.streams -- name to index
local apart = world.apart

local EXPECTED = "expected the event or true (keep), false (drop), a stream's name or a list of "
  .. "names, or a list of this event and copies of it"

local BREACHES = {
  [C.BORDER_TOO_MANY] = "the filter went on after there had been no room for another event",
  [C.BORDER_NO_MEMORY] = "the filter went on after there had been no memory",
}

local function keep_all() return true end

---@param own kvgate.Hooks
---@param counters ffi.cdata* struct filter_counters of this filter
---@return fun(from: integer)
return function(own, counters)
  local filter = own.on_event or keep_all
  local at_marks = hooks.at_marks(own) -- nil: none

  local function raise(result, text, ...)
    border.result = result
    error(("%s: %s"):format(fault.place(filter), text:format(...)), 0)
  end

  local function no_verdict(text, ...)
    raise(C.BORDER_NO_VERDICT, "%s; %s", text:format(...), EXPECTED)
  end

  local function bad_stream(name)
    raise(C.BORDER_BAD_STREAM, "no stream is called %q%s", name:sub(1, 256),
      fault.hint(name, world.stream_names))
  end

  local function keep(event)
    counters.kept = counters.kept + 1
    if event.touched ~= 0 then
      counters.rewritten = counters.rewritten + 1
      event.touched = 0
    end
  end

  --- # stops at a hole, and what is behind would be forgotten in silence.
  local function check_whole(list, count)
    for _ in next, list do count = count - 1 end
    if count ~= 0 then no_verdict "returned a list with a hole, or with names beside it" end
  end

  --- Does a list's traversal lead from this item to the following one, and from the last nowhere?
  --- One that starts at the first and goes on like that is whole: it need not be counted.
  local function leads_on(list, index, count)
    local key = next(list, index)
    if key == nil then return index == count end
    return key == index + 1
  end

  --- { "a", "b" }: the streams into `order`; returns how many.
  local function name_streams(names)
    local count, ordered = #names, next(names) == 1
    if count > LIMIT then no_verdict("returned a list of %d names", count) end
    for index = 1, count do
      local name = rawget(names, index)
      if type(name) ~= "string" then
        no_verdict("returned a list with %s among names", fault.name(name))
      end
      order[index - 1] = streams[name] or bad_stream(name)
      ordered = leads_on(names, index, count) and ordered
    end
    if not ordered then check_whole(names, count) end
    return count
  end

  --- { e1, e2 }: the slots into `order`; returns how many, and whether one was changed.
  local function name_events(views, slot, mark)
    local count, batch = #views, border.batch
    local seen, touched, ordered = {}, false, next(views) == 1
    if count > LIMIT then no_verdict("returned a list of %d events", count) end
    for index = 1, count do
      local view = rawget(views, index)
      if not istype(View, view) then
        no_verdict("returned a list with %s among events", fault.name(view))
      end
      local part, serial = parts_of(view)
      local event = batch.slots + part
      if serial ~= batch.serial or part ~= slot and (part < mark or event.cause == EMITTED) then
        no_verdict "returned a list with an event that is neither this one nor a copy made now"
      end
      if seen[part] then no_verdict "returned a list with one event twice" end
      seen[part] = true
      order[index - 1] = part
      touched = touched or event.touched ~= 0
      event.touched = 0
      ordered = leads_on(views, index, count) and ordered
    end
    if not ordered then check_whole(views, count) end
    return count, touched
  end

  local function replace(views, slot, mark)
    local count, touched = name_events(views, slot, mark)
    if touched then counters.rewritten = counters.rewritten + 1 end
    if count == 1 and order[0] == slot then
      counters.kept = counters.kept + 1
    else
      counters.split = counters.split + 1
      split(border, count)
    end
  end

  --- Any verdict but the plain ones.
  local function settle(verdict, view, slot, mark)
    local event = border.batch.slots + slot
    if istype(View, verdict) then
      if verdict ~= view then no_verdict "returned another event" end
      return keep(event) -- the same event, from elsewhere
    end
    if type(verdict) ~= "table" then no_verdict("returned %s", fault.name(verdict)) end
    local first = rawget(verdict, 1)
    if first == nil then
      no_verdict(next(verdict) and "returned a table that is no list" or "returned an empty list")
    elseif type(first) == "string" then
      narrow(border, slot, name_streams(verdict))
      keep(event)
    else
      replace(verdict, slot, mark)
    end
  end

  --- What is no event, or none any more, and has a hook.
  local function at_mark(hook, slot)
    local batch = border.batch
    batch.current = slot
    batch.before = batch.slots[slot].edits
    batch.mark = batch.used
    apart(hooks.call, hook, slot)
    if border.breach ~= 0 then raise(border.breach, BREACHES[border.breach]) end
    enter(filter)
  end

  return function(from)
    local batch = border.batch
    local slots, base = batch.slots, border.base
    local slot = from
    enter(filter)
    repeat
      local event = slots + slot
      local following = event.next
      if event.state == LIVE then
        batch.current = slot
        batch.before = event.edits
        local mark = batch.used
        batch.mark = mark
        local view = cast(View, base + slot)
        local verdict, more = filter(view)
        if border.breach ~= 0 then raise(border.breach, BREACHES[border.breach]) end
        if more ~= nil then no_verdict "returned more than one value" end
        if verdict == false then
          event.state = DROPPED
          counters.dropped = counters.dropped + 1
        elseif verdict == true or rawequal(verdict, view) then
          keep(event)
        elseif type(verdict) == "string" then
          local stream = streams[verdict] or bad_stream(verdict)
          if batch.words == 1 then -- up to 64 streams: not worth a call
            batch.reach[slot] = band(batch.reach[slot], lshift(1ULL, stream))
          else
            order[0] = stream
            narrow(border, slot, 1)
          end
          keep(event)
        else
          settle(verdict, view, slot, mark)
        end
      elseif at_marks and at_marks[event.state] then
        at_mark(at_marks[event.state], slot)
      end
      slot = following
    until slot == END
  end
end

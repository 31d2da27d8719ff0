--- Filters under test: events in, verdicts and what each stream got out, through the gateway
--- itself; only its sockets and its clock are replaced.
--
--   local testing = require "kvgate.testing"
--   local cpu = testing.filter("select_medium.lua", { keep = "cpu" })
--   cpu:keeps { event_type = "stored", medium = "cpu" }
--   cpu:drops { event_type = "stored", medium = "disk" }
--   cpu:keeps { event_type = "cleared" }
--
-- An event is a table of the fields that matter; the rest is filled as the publisher does, and
-- `testing.null` or `testing.absent` say that a field is nil or not there. What comes out is one
-- table an event, name to value, with testing.null for nil. Arrays come as lists, integers above
-- 2^53 as 64-bit cdata. What fails in busted shows the fields that differ.

local gateway = require "gateway"
local config = require "kvgate.testing_config"
local diff = require "kvgate.testing_diff"
local fault = require "kvgate.fault"
local place = require "kvgate.testing_place"
local wire = require "kvgate.testing_wire"

--- Directories in which scripts are looked up, behind the one that busted runs in: those of a
--- checkout, and the ready filters that are installed with this file.
local path = { "filters" }
local installed = debug.getinfo(1, "S").source:match "^@(.*/)lua/kvgate/[^/]*$"
if installed then path[2] = installed .. "filters" end

local testing = { null = wire.null, absent = wire.absent, path = path }

-- ---- events ----

local function encode(event, id)
  local fields = { event_id = id }
  for name, value in pairs(event) do fields[name] = value end
  return wire.event(fields)
end

local function plain(value)
  if type(value) ~= "table" or value.kind ~= "array" then return value end
  local list = {}
  for index, item in ipairs(value) do list[index] = plain(item) end
  return list
end

--- A map in wire's form as a table, name to value.
local function fields_of(map)
  local event = {}
  for _, pair in ipairs(map) do event[pair[1]] = plain(pair[2]) end
  return event
end

-- ---- a chain that lives on ----

---@class kvgate.testing.Result what became of an event
---@field verdict "kept"|"dropped"|"split"|"lost"|"dead_letter" kept: any stream got anything
---@field streams table<string, table[]> the events that each stream got, if it got any
---@field error string? what the filter said that it was lost for, with file and line
---@field letters table[] dead letters about it: their fields, `event` as those of streams
---@field raw table<string, string[]> the same events as they are on the wire

---@class kvgate.testing.Chain
local Chain = {}

local function letters_of(core)
  local letters = {}
  for _, message in ipairs(core:sent "dead_letters") do
    for _, bytes in ipairs(wire.events(message.payload)) do
      local letter = fields_of(wire.decode(bytes))
      if letter.event ~= wire.null then letter.event = fields_of(letter.event) end
      letters[#letters + 1] = letter
    end
  end
  return letters
end

--- What the streams sent since the last call.
---@return table<string, table[]> streams
---@return table<string, string[]> raw
---@return table[] letters
local function collect(self)
  local streams, raw = {}, {}
  for _, name in ipairs(self.names) do
    local events, bytes = {}, {}
    for _, message in ipairs(self.core:sent(name)) do
      for _, event in ipairs(wire.events(message.payload)) do
        events[#events + 1] = fields_of(wire.decode(event))
        bytes[#bytes + 1] = event
      end
    end
    if #events > 0 then streams[name], raw[name] = events, bytes end
  end
  return streams, raw, letters_of(self.core)
end

local function judge(failed, split, streams, letters)
  if next(streams) then return split and "split" or "kept" end
  if letters[1] then return "dead_letter" end
  return failed and "lost" or "dropped"
end

--- What the filters have counted so far, all together.
local function count(self, what)
  return self:metric(("kvgate_filter_%s_total"):format(what)) or 0
end

local function sender_of(self, source)
  source = source or self.sources[1]
  local sender = self.senders[source]
    or place.raise("no source is called %q%s", tostring(source), fault.hint(source, self.sources))
  return sender, source
end

--- Send events as one message.
---@param events table[]
---@param source? string the first one unless given
---@return kvgate.testing.Result # its verdict is that of an only event
function Chain:send_all(events, source)
  local sender, name = sender_of(self, source)
  local errors, splits, encoded = count(self, "errors"), count(self, "split"), {}
  for index, event in ipairs(events) do
    sender.id = sender.id + 1
    encoded[index] = encode(event, sender.id)
  end
  sender.number = sender.number + 1
  self.core:receive(name, sender.number, wire.payload(nil, encoded))
  local failed = count(self, "errors") > errors
  local streams, raw, letters = collect(self)
  return {
    verdict = judge(failed, count(self, "split") > splits, streams, letters),
    streams = streams, raw = raw, letters = letters, sent = encoded,
    error = failed and self.core:failure() or nil,
  }
end

--- Send one event as one message.
---@param event table
---@param source? string the first one unless given
---@return kvgate.testing.Result
function Chain:send(event, source) return self:send_all({ event }, source) end

--- Let numbers of the publisher be missing, as the next message shows, an empty one here.
---@param missing? integer 1 unless given
---@param source? string
---@return kvgate.testing.Result # what filters made of the loss
function Chain:gap(missing, source)
  local sender = sender_of(self, source)
  if sender.number == 0 then self:send_all({}, source) end -- nothing to break off from
  sender.number = sender.number + (missing or 1)
  return self:send_all({}, source)
end

--- Let the publisher start over: its numbers and event_ids count from 1 again.
---@param source? string
---@return kvgate.testing.Result # what filters made of the loss
function Chain:restart(source)
  local sender = sender_of(self, source)
  if sender.number == 0 then self:send_all({}, source) end
  sender.number, sender.id = 0, 0
  return self:send_all({}, source)
end

--- Let time pass; timers that are due run, each in its time.
---@param milliseconds integer
---@return table<string, table[]> # events that streams sent because of it
function Chain:advance(milliseconds)
  local target = self.clock + milliseconds
  local left = 0
  repeat
    self.clock = math.min(target, self.clock + left)
    left = math.max(1, self.core:tick(self.clock, wire.timestamp + self.clock))
  until self.clock == target
  self.core:idle()
  return (collect(self))
end

--- How many numbers the stream has left out so far: what its readers know, or will, as lost.
---@param stream? string the first one unless given
---@return integer
function Chain:lost(stream)
  local name = stream or self.names[1]
  return self:metric("kvgate_stream_reserved_numbers_total", { stream = name })
    or place.raise("no stream is called %q%s", tostring(name), fault.hint(name, self.names))
end

local function check_metric(name, metrics)
  local known = {}
  for other in metrics:gmatch "\n# TYPE (%S+)" do
    if other == name then return end
    known[#known + 1] = other
  end
  place.raise("there is no metric %q%s", tostring(name), fault.hint(name, known))
end

--- The value of a metric as on /metrics; of several series with these labels the sum. Raises if
--- there is no metric of this name.
---@param name string in full: kvgate_filter_…
---@param labels? table<string, string> those that matter
---@return number? # nil: none has these labels
function Chain:metric(name, labels)
  local metrics, sum = self.core:metrics(), nil
  check_metric(name, metrics)
  for series, value in metrics:gmatch("\n" .. name .. "(%b{}) (%S+)") do
    local wanted = true
    for label, text in pairs(labels or {}) do
      wanted = wanted and series:find(('[{,]%s="%s"[,}]'):format(label,
        (text:gsub("%p", "%%%0"))))
    end
    if wanted then sum = (sum or 0) + tonumber(value) end
  end
  return sum
end

--- Reload: the same filters anew, or others. Variables go and kvgate.state stays. Raises if a
--- filter cannot be loaded, or fails on an event seen recently.
---@param filters? table[] as for testing.chain
---@return string # a line for each state that starts anew, and why; empty if none does
function Chain:reload(filters)
  local wanted = filters or self.filters
  local done, why, told = self.core:reload(config.write(wanted, self.names, self.sources))
  if not done then place.raise("%s", config.without_places(why)) end
  self.filters = wanted
  return told
end

-- ---- assertions ----

local function fail(self, event, result, expected)
  local scripts = {}
  for index, filter in ipairs(self.filters) do scripts[index] = filter.script end
  place.fail(("%s: expected %s\n%s"):format(table.concat(scripts, ", "), expected,
    diff.describe(event, result)))
end

--- Of several sources' events a stream stamps the event_id anew: that is no change.
local function ignored(self) return #self.sources > 1 and "event_id" or nil end

--- Is what a stream got the event with these changes, no more and no less?
local function is_changed_so(self, result, bytes, changes)
  local sent = result.sent[1]
  if not changes and not ignored(self) then return bytes == wire.encode(sent) end
  return diff.agree(diff.of(sent, wire.decode(bytes), ignored(self)), changes or {})
end

local function got_by_all(self, result, names, changes)
  for _, name in ipairs(names) do
    local raw = result.raw[name]
    if not raw or #raw ~= 1 or not is_changed_so(self, result, raw[1], changes) then
      return false
    end
  end
  return true
end

local function names_of(streams)
  local names = {}
  for name in pairs(streams) do names[#names + 1] = name end
  table.sort(names)
  return names
end

--- Assert that the event is kept, and changed in these fields only: by default in none, byte for
--- byte.
---@param event table
---@param changes? table<string, any> name to new value; testing.absent: the field went
---@return kvgate.testing.Result
function Chain:keeps(event, changes)
  local result = self:send(event)
  if result.verdict ~= "kept"
    or not got_by_all(self, result, names_of(result.raw), changes) then
    fail(self, event, result, "it kept" .. diff.wanted(changes))
  end
  return result
end

--- Assert that the event is dropped.
---@param event table
---@return kvgate.testing.Result
function Chain:drops(event)
  local result = self:send(event)
  if result.verdict ~= "dropped" then fail(self, event, result, "it dropped") end
  return result
end

--- Assert that these streams get the event, no other does, and it is changed in these fields only.
---@param event table
---@param streams string|string[]
---@param changes? table<string, any> as in keeps
---@return kvgate.testing.Result
function Chain:routes(event, streams, changes)
  local wanted = type(streams) == "string" and { streams } or { unpack(streams) }
  table.sort(wanted)
  local result = self:send(event)
  if table.concat(names_of(result.raw), ", ") ~= table.concat(wanted, ", ")
    or not got_by_all(self, result, wanted, changes) then
    fail(self, event, result,
      "it sent to " .. table.concat(wanted, ", ") .. diff.wanted(changes))
  end
  return result
end

--- Assert that several events come of it, each changed in these fields only.
---@param event table
---@param list table<string, any>[] the changes of each
---@param stream? string the first one unless given
---@return kvgate.testing.Result
function Chain:splits(event, list, stream)
  local result = self:send(event)
  local raw = result.raw[stream or self.names[1]] or {}
  local right = #raw == #list
  for index = 1, right and #list or 0 do
    right = right and is_changed_so(self, result, raw[index], list[index])
  end
  if not right then fail(self, event, result, ("it split into these %d"):format(#list)) end
  return result
end

--- Assert that the event is lost, with a dead letter or without, for a reason that has this text
--- in it.
---@param event table
---@param text? string
---@return kvgate.testing.Result
function Chain:loses(event, text)
  local result = self:send(event)
  local lost = result.verdict == "lost" or result.verdict == "dead_letter"
  if not lost or text and not (result.error or ""):find(text, 1, true) then
    fail(self, event, result, text and ("it lost for %q"):format(text) or "it lost")
  end
  return result
end

-- ---- making chains ----

local names = {} -- of methods

local meta = { __index = function(_, name)
  return Chain[name] or place.raise("a chain has no %q%s", tostring(name), fault.hint(name, names))
end }

for name, method in pairs(Chain) do
  names[#names + 1] = name
  Chain[name] = function(self, ...)
    if getmetatable(self) ~= meta then place.raise("write chain:%s(…), with a colon", name) end
    return method(self, ...)
  end
end
table.sort(names)

local function check_world(world)
  for name, list in pairs(world) do
    if name ~= "streams" and name ~= "sources" then
      place.raise("unknown key of the world %q%s", tostring(name),
        fault.hint(name, { "streams", "sources" }))
    elseif type(list) ~= "table" then
      place.raise("%s: expected a list of names, not %s", name, fault.name(list))
    end
  end
end

--- A chain; nil and why if its filters do not load.
local function open(filters, world)
  local self = { clock = 0, filters = filters, senders = {} }
  check_world(world or {})
  self.names = world and world.streams or { "out" }
  self.sources = world and world.sources or { "store" }
  for _, name in ipairs(self.sources) do self.senders[name] = { number = 0, id = 0 } end
  local ok, core = pcall(gateway.relay, config.write(filters, self.names, self.sources),
    { installed = testing.path, silent = true })
  if not ok then return nil, config.without_places(core) end
  self.core = core
  return setmetatable(self, meta)
end

--- A gateway with these filters, one behind the other. Raises if one cannot be loaded.
---@param filters table[] `{ script, options?, on_error? }` each, as in a configuration
---@param world? { streams: string[]?, sources: string[]? } `{ "out" }` and `{ "store" }`
---@return kvgate.testing.Chain
function testing.chain(filters, world)
  local chain, why = open(filters, world)
  return chain or place.raise("%s", why)
end

--- A chain of one filter.
---@param script string looked up along testing.path
---@param options? table
---@param streams? string[] names; `{ "out" }` unless given
---@return kvgate.testing.Chain
function testing.filter(script, options, streams)
  return testing.chain({ { script = script, options = options } }, { streams = streams })
end

-- ---- one filter, some events ----

--- Run a filter over one message with these events. Raises if it cannot be loaded, or if it fails
--- on an event.
---@param script string looked up along testing.path
---@param options? table
---@param events table[]
---@param streams? string[] names; without them there is one stream, and its events are returned
---@return table # events; with `streams`, events by stream
function testing.run(script, options, events, streams)
  local chain = testing.filter(script, options, streams)
  local result = chain:send_all(events)
  if result.error then place.raise("%s failed on an event: %s", script, result.error) end
  for _, name in ipairs(chain.names) do result.streams[name] = result.streams[name] or {} end
  return streams and result.streams or result.streams.out
end

--- Which of the events came through: a list of true and false.
---@param script string
---@param options? table
---@param events table[]
---@return boolean[]
function testing.kept(script, options, events)
  local kept = {}
  for index = 1, #events do kept[index] = false end
  for _, event in ipairs(testing.run(script, options, events)) do kept[event.event_id] = true end
  return kept
end

--- What the filter says is wrong with these events, each in a message of its own: the event's place
--- in the list to the text that the log shows. Events that it gets over have none.
---@param script string
---@param options? table
---@param events table[]
---@param streams? string[]
---@return table<integer, string>
function testing.failures(script, options, events, streams)
  local chain, texts = testing.filter(script, options, streams), {}
  for index, event in ipairs(events) do texts[index] = chain:send(event).error end
  return texts
end

--- Why a filter does not load with these options, or nil if it does.
---@param script string
---@param options? table
---@param streams? string[] names of those in the configuration
---@return string?
function testing.mistake(script, options, streams)
  local _, why = open({ { script = script, options = options } }, { streams = streams })
  return why
end

--- Assert that the filter does not load with these options, for a reason that has this text in it.
---@param script string
---@param options? table
---@param text string
---@param streams? string[]
function testing.refuses(script, options, text, streams)
  local why = testing.mistake(script, options, streams)
  if why and why:find(text, 1, true) then return end
  place.fail(("%s: expected it refused for %q\n  %s"):format(script, text,
    why and "it says: " .. why or "it loads"))
end

--- One of each kind of event, with values of each kind and in other widths than we would write.
local function samples()
  return {
    { event_type = "stored", seq_hashes = { 2 ^ 64 - 2048, 1 }, token_ids = { 1, 2, 3 } },
    { event_type = "removed", legacy = false },
    { event_type = "cleared" },
    { event_type = "mended", tenant_id = testing.null, object_key = testing.absent },
    { timestamp = wire.raw "\xcf\0\0\0\0\0\0\0\1", dp_rank = wire.raw "\xd3\0\0\0\0\0\0\0\2",
      medium = wire.raw "\xdb\0\0\0\3cpu", seq_hashes = wire.raw "\xdd\0\0\0\0" },
    { vendor = wire.map { { "a", wire.float(1) }, { 2, wire.bin "\0" }, { "c", wire.array {} } } },
  }
end

--- Assert that a filter keeps these events as they are, byte for byte.
---@param script string
---@param options? table
---@param events? table[] without them one of each kind
function testing.changes_nothing(script, options, events)
  local chain = testing.filter(script, options)
  for _, event in ipairs(events or samples()) do chain:keeps(event) end
end

return testing

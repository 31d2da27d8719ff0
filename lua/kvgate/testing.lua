--- Filters under test: events in, verdicts and what each stream got out, through the gateway
--- itself; only its sockets and its clock are replaced.
--
--   local testing = require "kvgate.testing"
--   local out = testing.run("select_medium.lua", { keep = "cpu" }, {
--     { event_type = "stored", object_key = "a", medium = "cpu" },
--     { event_type = "cleared" },
--   })
--   assert.equal("a", out[1].object_key)
--
-- An event is a table of the fields that matter; the rest is filled as the publisher does, and
-- `testing.null` or `testing.absent` say that a field is nil or not there. What comes out is one
-- table an event, name to value, with testing.null for nil. Arrays come as lists, integers above
-- 2^53 as 64-bit cdata.

local gateway = require "gateway"
local wire = require "kvgate.testing_wire"

local testing = {
  null = wire.null,
  absent = wire.absent,
  path = { "filters", "." }, -- directories in which scripts are looked up
}

-- ---- the configuration ----

local function quote(text)
  local escaped = text:gsub('[%c"\\]', function(char) return ("\\x%02x"):format(char:byte()) end)
  return '"' .. escaped .. '"'
end

--- A value as YAML in one line.
local function yaml(value)
  if type(value) == "string" then return quote(value) end
  if type(value) ~= "table" then return (tostring(value):gsub("U?LL$", "")) end
  local parts = {}
  if #value > 0 then
    for index, item in ipairs(value) do parts[index] = yaml(item) end
    return "[" .. table.concat(parts, ", ") .. "]"
  end
  for name, item in pairs(value) do parts[#parts + 1] = quote(name) .. ": " .. yaml(item) end
  return "{" .. table.concat(parts, ", ") .. "}"
end

local function sockets(names, side, first_port)
  local list = {}
  for index, name in ipairs(names) do
    list[index] = { name = name, [side] = "tcp://127.0.0.1:" .. first_port + index }
  end
  return yaml(list)
end

local function configuration(filters, streams, sources)
  return ("sources: %s\nfilters: %s\nstreams: %s\n"):format(
    sockets(sources, "connect", 5000), yaml(filters), sockets(streams, "bind", 6000))
end

-- ---- events ----

local function encode(event, id)
  local fields = { event_id = id }
  for name, value in pairs(event) do fields[name] = value end
  return wire.event(fields)
end

local function encode_all(events)
  local encoded = {}
  for index, event in ipairs(events) do encoded[index] = encode(event, index) end
  return wire.payload(nil, encoded)
end

local function plain(value)
  if type(value) ~= "table" or value.kind ~= "array" then return value end
  local list = {}
  for index, item in ipairs(value) do list[index] = plain(item) end
  return list
end

local function decode_into(events, payload)
  for _, map in ipairs(wire.decode(payload)[2]) do
    local event = {}
    for _, pair in ipairs(map) do event[pair[1]] = plain(pair[2]) end
    events[#events + 1] = event
  end
  return events
end

local function decode(messages)
  local events = {}
  for _, message in ipairs(messages) do decode_into(events, message.payload) end
  return events
end

-- ---- a chain that lives on ----

local Chain = {}
Chain.__index = Chain

--- Events on which a filter of the chain has failed so far.
local function count_errors(core)
  local count = 0
  for number in core:metrics():gmatch "\nkvgate_filter_errors_total{[^}]*} (%d+)" do
    count = count + tonumber(number)
  end
  return count
end

--- Note what the streams sent: numbers that were left out, and events, which are returned.
function Chain:collect()
  local streams = {}
  for _, name in ipairs(self.names) do
    local messages = self.core:sent(name)
    for _, message in ipairs(messages) do
      self.missing[name] = self.missing[name] + message.sequence - self.last[name] - 1
      self.last[name] = message.sequence
    end
    local events = decode(messages)
    if #events > 0 then streams[name] = events end
  end
  return streams
end

local function judge(failed, streams)
  local most = 0
  for _, events in pairs(streams) do most = math.max(most, #events) end
  if most > 1 then return "split" end
  if most == 1 then return "kept" end
  return failed and "lost" or "dropped"
end

--- Send one event as one message.
---@param event table
---@param source? string the first one unless given
---@return { verdict: "kept"|"dropped"|"split"|"lost", streams: table<string, table[]> }
function Chain:send(event, source)
  source = source or self.sources[1]
  local sender = assert(self.senders[source], "no source is called " .. source)
  local errors = count_errors(self.core)
  sender.number = sender.number + 1
  sender.id = sender.id + 1
  self.core:receive(source, sender.number, wire.payload(nil, { encode(event, sender.id) }))
  local streams = self:collect()
  return { verdict = judge(count_errors(self.core) > errors, streams), streams = streams }
end

--- Let the publisher lose messages: their numbers never come. The gap shows with the next one.
---@param count? integer 1 unless given
---@param source? string
function Chain:lose(count, source)
  local sender = self.senders[source or self.sources[1]]
  sender.number = sender.number + (count or 1)
end

--- Let the publisher start over: its numbers and event_ids count from 1 again.
---@param source? string
function Chain:restart(source)
  self.senders[source or self.sources[1]] = { number = 0, id = 0 }
end

--- Let time pass; timers that are due run.
---@param milliseconds integer
---@return table<string, table[]> # events that streams sent because of it
function Chain:advance(milliseconds)
  self.clock = self.clock + milliseconds
  self.core:tick(self.clock, wire.timestamp + self.clock)
  return self:collect()
end

--- How many numbers the stream has left out so far: what its readers know as lost.
---@param stream? string the first one unless given
---@return integer
function Chain:lost(stream) return self.missing[stream or self.names[1]] end

local function new_senders(sources)
  local senders = {}
  for _, name in ipairs(sources) do senders[name] = { number = 0, id = 0 } end
  return senders
end

--- A gateway with these filters, one behind the other. Raises if one cannot be loaded.
---@param filters table[] `{ script, options?, on_error? }` each, as in a configuration
---@param world? { streams: string[]?, sources: string[]? } `{ "out" }` and `{ "store" }`
function testing.chain(filters, world)
  local self = setmetatable({ clock = 0, last = {}, missing = {} }, Chain)
  self.names = world and world.streams or { "out" }
  self.sources = world and world.sources or { "store" }
  self.senders = new_senders(self.sources)
  for _, name in ipairs(self.names) do self.last[name], self.missing[name] = 0, 0 end
  self.core = gateway.relay(configuration(filters, self.names, self.sources),
    { installed = testing.path })
  return self
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
  local chain = testing.chain({ { script = script, options = options } }, { streams = streams })
  chain.core:receive("store", 1, encode_all(events))
  assert(count_errors(chain.core) == 0, script .. " failed on an event, see the log")
  local out = chain:collect()
  for _, name in ipairs(chain.names) do out[name] = out[name] or {} end
  return streams and out or out.out
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
  local state = assert(gateway.script {
    path = testing.path, streams = streams or { "out" }, sources = { "store" } })
  local loaded = assert(state:load(script, options and yaml(options)))
  local texts = {}
  for index, event in ipairs(events) do
    local report = assert(state:run(wire.payload(nil, { encode(event, index) }), { loaded }))
    texts[index] = report.failures[1] and report.failures[1].error
  end
  return texts
end

--- Why a filter does not load with these options, or nil if it does.
---@param script string
---@param options? table
---@param streams? string[] names of those in the configuration
---@return string?
function testing.mistake(script, options, streams)
  local ok, why = pcall(testing.chain, { { script = script, options = options } },
    { streams = streams })
  return not ok and why or nil
end

return testing

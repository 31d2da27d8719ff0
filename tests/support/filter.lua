--- Filters under test: events in, what each stream got out, through the whole relay.
--
--   local filter = require "tests.support.filter"
--   local out = filter.run("select_medium.lua", { keep = "cpu" }, {
--     { event_type = "stored", object_key = "a", medium = "cpu" },
--     { event_type = "cleared" },
--   })
--   assert.equal("a", out[1].object_key)
--
-- An event is a table of the fields that matter; the rest is filled as the publisher does, and
-- `filter.null` or `filter.absent` say that a field is nil or not there. What comes out is one
-- table an event, name to value, with filter.null for nil. Arrays come as lists.
--
-- Filled are: event_id (1, 2, …), event_type (stored), the legacy aliases (unless legacy = false),
-- tenant_id (default), backend_id (mooncake), medium (cpu), dp_rank (0), object_key (k), seq_hashes
-- and block_hashes (empty), and nil for the rest of what the publisher writes; `cleared` has no
-- key, hashes or parent, and medium nil.

local gateway = require "gateway"
local wire = require "tests.support.wire"

local filter = {
  null = wire.null,
  absent = wire.absent,
  path = { "filters" }, -- directories in which scripts are looked up
}

-- ---- the configuration ----

local function quote(text)
  local escaped = text:gsub('[%c"\\]', function(char) return ("\\x%02x"):format(char:byte()) end)
  return '"' .. escaped .. '"'
end

--- A value as YAML in one line.
local function yaml(value)
  if type(value) == "string" then return quote(value) end
  if type(value) ~= "table" then return tostring(value) end
  local parts = {}
  if #value > 0 then
    for index, item in ipairs(value) do parts[index] = yaml(item) end
    return "[" .. table.concat(parts, ", ") .. "]"
  end
  for name, item in pairs(value) do parts[#parts + 1] = quote(name) .. ": " .. yaml(item) end
  return "{" .. table.concat(parts, ", ") .. "}"
end

local DEFAULT_STREAMS = { "out" }

local function configuration(script, options, streams)
  local lines = {
    "sources:",
    "  - { name: store, connect: 'tcp://127.0.0.1:5557' }",
    "filters:",
    "  - script: " .. quote(script),
    options and "    options: " .. yaml(options) or "",
    "streams:",
  }
  for index, name in ipairs(streams) do
    local endpoint = "tcp://127.0.0.1:" .. 6000 + index
    lines[#lines + 1] = ("  - { name: %s, bind: '%s' }"):format(name, endpoint)
  end
  return table.concat(lines, "\n") .. "\n"
end

-- ---- events ----

--- A message with these events, the first with this id unless it has its own.
local function encode(events, first)
  local encoded = {}
  for index, event in ipairs(events) do
    local fields = { event_id = first + index - 1 }
    for name, value in pairs(event) do fields[name] = value end
    encoded[index] = wire.event(fields)
  end
  return wire.payload(nil, encoded)
end

local function plain(value)
  if type(value) ~= "table" or value.kind ~= "array" then return value end
  local list = {}
  for index, item in ipairs(value) do list[index] = plain(item) end
  return list
end

local function decode(messages)
  local events = {}
  for _, message in ipairs(messages) do
    for _, map in ipairs(wire.decode(message.payload)[2]) do
      local event = {}
      for _, pair in ipairs(map) do event[pair[1]] = plain(pair[2]) end
      events[#events + 1] = event
    end
  end
  return events
end

-- ---- running ----

--- Run a filter over one message with these events. Raises if it cannot be loaded, or if it fails
--- on an event.
---@param script string looked up along filter.path
---@param options? table
---@param events table[]
---@param streams? string[] names; without them there is one stream, and its events are returned
---@return table # events; with `streams`, events by stream
function filter.run(script, options, events, streams)
  local names = streams or DEFAULT_STREAMS
  local relay = gateway.relay(configuration(script, options, names), { installed = filter.path })
  relay:receive("store", 1, encode(events, 1))
  assert(relay:status():find('"errors":0', 1, true), script .. " failed on an event, see the log")
  local out = {}
  for _, name in ipairs(names) do out[name] = decode(relay:sent(name)) end
  return streams and out or out.out
end

--- Which of the events came through: a list of true and false.
---@param script string
---@param options? table
---@param events table[]
---@return boolean[]
function filter.kept(script, options, events)
  local kept = {}
  for index = 1, #events do kept[index] = false end
  for _, event in ipairs(filter.run(script, options, events)) do kept[event.event_id] = true end
  return kept
end

--- What the filter says is wrong with these events, each in a message of its own: the event's place
--- in the list to the text that the log shows. Events that it gets over have none.
---@param script string
---@param options? table
---@param events table[]
---@param streams? string[]
---@return table<integer, string>
function filter.failures(script, options, events, streams)
  local state = assert(gateway.script {
    path = filter.path, streams = streams or DEFAULT_STREAMS, sources = { "store" } })
  local loaded = assert(state:load(script, options and yaml(options)))
  local texts = {}
  for index, event in ipairs(events) do
    local report = assert(state:run(encode({ event }, index), { loaded }))
    texts[index] = report.failures[1] and report.failures[1].error
  end
  return texts
end

--- Why a filter does not load with these options, or nil if it does.
---@param script string
---@param options? table
---@param streams? string[] names of those in the configuration
---@return string?
function filter.mistake(script, options, streams)
  local text = configuration(script, options, streams or DEFAULT_STREAMS)
  local ok, why = pcall(gateway.relay, text, { installed = filter.path })
  return not ok and why or nil
end

return filter

--- A relay under test: events in by name, messages out decoded, numbers as plain numbers.
local folder = require "tests.support.folder"
local gateway = require "gateway"
local wire = require "tests.support.wire"

local relay = {}

local Subject = {}
Subject.__index = Subject

--- Configurations that many specs start from.
relay.ONE = [[
sources: [ { name: store, connect: "ipc:///tmp/in" } ]
streams: [ { name: out, bind: "ipc:///tmp/out" } ]
]]
relay.TWO = [[
sources:
  - { name: store, connect: "ipc:///tmp/in" }
  - { name: other, connect: "ipc:///tmp/other" }
streams:
  - { name: both, bind: "ipc:///tmp/both" }
  - { name: mine, bind: "ipc:///tmp/mine", sources: [store] }
  - { name: theirs, bind: "ipc:///tmp/theirs", sources: [other] }
]]
relay.FILTERED = [[
sources: [ { name: store, connect: "ipc:///tmp/in" } ]
filters: [ { script: f.lua } ]
streams: [ { name: out, bind: "ipc:///tmp/out" } ]
]]

--- A filter that drops keys with "d" and fails on keys with "x".
relay.PICKY = [[
return function()
  return function(event)
    local key = event.object_key
    if key and key:find("x", 1, true) then
      error "no"
    end
    return not (key and key:find("d", 1, true))
  end
end
]]

--- Specs that say nothing of limits run on slow machines, too.
local PATIENT = "\nlimits: { event: 60s }\n"

--- Build a relay from YAML; `files` are filters written for this test: name -> text.
---@param yaml string
---@param files? table<string, string>
function relay.new(yaml, files)
  local dir = folder.new()
  for name, text in pairs(files or {}) do folder.write(dir .. "/" .. name, text) end
  local subject = setmetatable({ dir = dir, number = 0, clock = 0 }, Subject)
  subject.core = gateway.relay(yaml:find "limits:" and yaml or yaml .. PATIENT,
    { path = dir .. "/test.yaml", installed = { "filters" } })
  return subject
end

function Subject:write(name, text) folder.write(self.dir .. "/" .. name, text) end

local last_id = 0

--- An event with this object key and whatever else is given; event_ids count up, as a publisher's.
function relay.event(key, fields)
  last_id = last_id + 1
  local event = { event_type = "stored", event_id = last_id, object_key = key }
  for name, value in pairs(fields or {}) do
    event[name] = value
  end
  return wire.event(event)
end

--- Send events as one message of source "store" (or `options.source`); the number counts up
--- unless `options.seq` says otherwise.
function Subject:send(events, options)
  options = options or {}
  self.number = options.seq or self.number + 1
  local payload = wire.payload(options.timestamp or 1700000000000, events, options.rank or 0)
  self.core:receive(options.source or "store", self.number, payload, options.more)
  return payload
end

--- Let time pass until the relay has ticked at `ms`.
function Subject:at(ms)
  return self.core:tick(ms, 1700000000000 + ms)
end

--- What a stream sent since the last call, as text: "1:a,b 3:c" is number 1 with the events a and
--- b, then number 3 with c; "4:" is an empty message.
function Subject:out(stream)
  local messages = {}
  for _, message in ipairs(self.core:sent(stream)) do
    local keys = {}
    for i, event in ipairs(wire.decode(message.payload)[2]) do
      local key = wire.get(event, "object_key")
      keys[i] = type(key) == "string" and key or "?"
    end
    messages[#messages + 1] = message.sequence .. ":" .. table.concat(keys, ",")
  end
  return table.concat(messages, " ")
end

--- The value of one counter of /metrics, labels as written there.
function Subject:metric(line)
  local text = "\n" .. self.core:metrics()
  local at, stop = text:find("\n" .. line .. " ", 1, true)
  assert(at, "no such metric: " .. line)
  return tonumber(text:match("^(%S+)", stop + 1))
end

--- last number = messages published + numbers reserved, on every named stream.
function Subject:assert_identity(...)
  for _, stream in ipairs { ... } do
    local label = '{stream="' .. stream .. '"}'
    local published = self:metric("kvgate_stream_published_batches_total" .. label)
    local reserved = self:metric("kvgate_stream_reserved_numbers_total" .. label)
    local last = self:metric("kvgate_stream_last_sequence" .. label)
    assert(last == published + reserved, "identity broken on " .. stream)
  end
end

return relay

--- Chains of filters that keep, drop, split, emit and fail at random, against a model of a few
--- lines: what a stream gets, in which order, and where its numbers are left out.
local relay = require "tests.support.relay"
local wire = require "tests.support.wire"

--- What filter `index` does about a key, or a loss: the same for the filter and the model.
local ACT = [[
local function act(seed, index, key)
  local hash = seed * 31 + index * 17
  for at = 1, #key do hash = (hash * 33 + key:byte(at)) % 65521 end
  return hash % 13
end
]]
local act = assert(loadstring(ACT .. "return act"))()

local FILTER = ACT .. [[
local emit = require "kvgate.emit"

local function tell(key, count)
  for number = 1, count do emit { event_type = "stored", object_key = key .. number } end
end

return function(options)
  local function on_event(event)
    local key = event.object_key
    local action = act(options.seed, options.index, key)
    if action == 4 then return false end
    if action == 7 or action == 9 or action == 10 then tell(key .. "e", 2) end
    if action == 8 then tell(key .. "e", 1) return false end
    if action == 10 or action == 11 then error "no" end
    if action == 5 or action == 6 or action == 9 then
      local copy = event:copy()
      copy.object_key = key .. "c"
      return action == 6 and { copy } or { copy, event }
    end
    return true
  end

  local function on_loss()
    tell("l" .. options.index .. "e", 1)
    if act(options.seed, options.index, "fails") < 3 then error "no" end
  end

  local has_on_loss = act(options.seed, options.index, "on_loss") < 8
  return { on_event = on_event, on_loss = has_on_loss and on_loss or nil }
end
]]

local LOSS = {} -- in a list of keys

--- What one filter makes of a list of keys and losses.
local function pass(seed, index, list)
  local out = {}
  local function add(...) for _, item in ipairs { ... } do out[#out + 1] = item end end
  local function lose()
    add(LOSS)
    if act(seed, index, "on_loss") < 8 and act(seed, index, "fails") >= 3 then
      add("l" .. index .. "e1")
    end
  end
  for _, key in ipairs(list) do
    local action = key == LOSS and -1 or act(seed, index, key)
    if action == -1 or action == 10 or action == 11 then lose()
    elseif action == 5 then add(key .. "c", key)
    elseif action == 6 then add(key .. "c")
    elseif action == 7 then add(key, key .. "e1", key .. "e2")
    elseif action == 8 then add(key .. "e1")
    elseif action == 9 then add(key .. "c", key, key .. "e1", key .. "e2")
    elseif action ~= 4 then add(key) end
  end
  return out
end

--- As a reader tells it: keys, and "-2" for two numbers that are missing.
local function expected(list)
  local words, losses = {}, 0
  local function close()
    if losses > 0 then words[#words + 1] = "-" .. losses end
    losses = 0
  end
  for _, item in ipairs(list) do
    if item == LOSS then
      losses = losses + 1
    else
      close()
      words[#words + 1] = item
    end
  end
  close()
  return table.concat(words, " ")
end

local function told(subject, stream)
  local words, last = {}, 0
  for _, message in ipairs(subject.core:sent(stream)) do
    if message.sequence > last + 1 then words[#words + 1] = "-" .. message.sequence - last - 1 end
    last = message.sequence
    for _, event in ipairs(wire.decode(message.payload)[2]) do
      words[#words + 1] = wire.get(event, "object_key")
    end
  end
  return table.concat(words, " ")
end

local function filters(seed, from, to)
  local list = {}
  for index = from, to do
    list[#list + 1] = ("{ script: f.lua, options: { seed: %d, index: %d } }"):format(seed, index)
  end
  return "[ " .. table.concat(list, ", ") .. " ]"
end

describe("a chain of filters that do anything", function()
  it("gives each stream what the model says, and leaves out numbers where it says so", function()
    for seed = 1, 60 do
      local subject = relay.new(([[
sources: [ { name: store, connect: "ipc:///tmp/in" } ]
filters: %s
streams:
  - { name: plain, bind: "ipc:///tmp/plain" }
  - { name: own, bind: "ipc:///tmp/own", filters: %s }
]]):format(filters(seed, 1, 2), filters(seed, 3, 4)), { ["f.lua"] = FILTER })
      local plain = {}
      for _, size in ipairs { 1, seed % 7, 20, 150 } do
        local events, keys = {}, {}
        for index = 1, size do
          keys[index] = ("%d/%d"):format(size, index)
          events[index] = relay.event(keys[index])
        end
        subject:send(events)
        for _, item in ipairs(pass(seed, 2, pass(seed, 1, keys))) do plain[#plain + 1] = item end
      end
      subject.core:stop()
      local own = pass(seed, 4, pass(seed, 3, plain))
      assert.equal(expected(plain), told(subject, "plain"), "seed " .. seed)
      assert.equal(expected(own), told(subject, "own"), "seed " .. seed)
      subject:assert_identity("plain", "own")
    end
  end)
end)

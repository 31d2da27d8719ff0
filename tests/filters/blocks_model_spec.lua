--- Random events of random topologies: what a careful reader knows behind blocks.lua must be the
--- blocks that are whole, by a model that keeps sets of parts and nothing else.
local testing = require "kvgate.testing"

local STEPS, RUNS = 300, 4

local function pick(list) return list[math.random(#list)] end

-- ---- keys ----

--- Topologies: options that say so, and the names of all parts.
local topologies = {}

function topologies.vllm()
  local options = { convention = "vllm", tp = math.random(3), pp = math.random(2) }
  local parts = {}
  for tp = 0, options.tp - 1 do
    for pp = 0, options.pp - 1 do
      parts[#parts + 1] = ("m@tp_rank:%d@pcp0@dcp0@pp_rank:%d@group:0@%%s"):format(tp, pp)
    end
  end
  return options, parts
end

function topologies.sglang()
  local options = { convention = "sglang", tp = math.random(3), components = { "k", "v" } }
  local parts = {}
  for tp = 0, options.tp - 1 do
    for _, half in ipairs { "k", "v" } do parts[#parts + 1] = ("%%s_%d_%s"):format(tp, half) end
  end
  return options, parts
end

--- More parts than fit a slot of the table.
topologies["vllm-ascend"] = function()
  local options = { convention = "vllm-ascend", layers = 66 }
  local parts = {}
  for layer = 0, 65 do parts[layer + 1] = "m@pcp0@dcp0@head_or_tp_rank:0@%s@" .. layer end
  return options, parts
end

local function digest_of(number) return ("%064x"):format(number * 7919) end

-- ---- the model ----

local Model = {}
Model.__index = Model

local function new_model(parts, is_told)
  return setmetatable({ told = is_told, parts = is_told and #parts or 0, known = {}, whole = 0,
    learned = is_told, blocks = {} }, Model)
end

--- Drop the blocks for which `doubt` is true.
function Model:drop(doubt)
  for name, block in pairs(self.blocks) do
    if doubt(block) then self.blocks[name] = nil end
  end
end

--- A part that is new; true if it came after learning.
function Model:meet(part, source)
  if self.told or self.known[part] then return false end
  local surprise = self.learned
  if surprise then
    self:drop(function(block) return block.sources[source] end)
    self.known, self.parts, self.learned = {}, 0, false
  else
    self.known[part], self.parts = true, self.parts + 1
  end
  self.whole = 0
  return surprise
end

function Model:apply(event, part, number, source)
  local name = table.concat({ event.tenant_id, event.medium, number }, "/")
  local block = self.blocks[name]
  if event.event_type == "stored" then
    if self:meet(part, source) then return end
    block = block or { parts = {}, count = 0, sources = { [source] = true }, event = event,
      number = number }
    self.blocks[name] = block
    if block.parts[part] then return end
    block.parts[part], block.count = true, block.count + 1
    if block.count == self.parts and not self.learned then
      self.whole = self.whole + 1
      self.learned = self.whole >= 16
    end
  elseif block and block.parts[part] then
    block.parts[part], block.count = nil, block.count - 1
  end
end

--- What a reader should know.
function Model:truth()
  local truth = {}
  for _, block in pairs(self.blocks) do
    if self.learned and block.count == self.parts then
      truth[("%s %s %s"):format(block.event.tenant_id, block.event.medium,
        digest_of(block.number))] = true
    end
  end
  return truth
end

-- ---- the reader ----

local function read(known, events)
  for _, event in ipairs(events or {}) do
    if event.event_type == "cleared" then
      for name in pairs(known) do
        if name:match "^(%S+)" == event.tenant_id then known[name] = nil end
      end
    else
      local name = ("%s %s %s"):format(event.tenant_id, event.medium,
        event.object_key:match(("%x"):rep(64)))
      assert.is_true(event.event_type == "removed" or not known[name], "announced twice")
      known[name] = event.event_type == "stored" or nil
    end
  end
end

local function names(known)
  local list = {}
  for name in pairs(known) do list[#list + 1] = name end
  table.sort(list)
  return list
end

-- ---- the comparison ----

local function random_event(parts, is_hot)
  local part, number = math.random(#parts), math.random(is_hot and 3 or 12)
  return {
    event_type = math.random() < 0.7 and "stored" or "removed",
    tenant_id = pick { "acme", "globex" }, medium = pick { "cpu", "disk" },
    object_key = parts[part]:format(digest_of(number)),
  }, part, number
end

--- All parts of some blocks, so that there is something to lose.
local function store_all(subject, model, parts, number)
  local events = {}
  for part, key in ipairs(parts) do
    local event = { event_type = "stored", tenant_id = "acme", medium = "cpu",
      object_key = key:format(digest_of(number)) }
    model:apply(event, part, number, "store")
    events[part] = event
  end
  return subject:send_all(events).streams.out
end

local function step(subject, model, parts)
  local dice = math.random()
  if dice < 0.03 then
    local tenant = pick { "acme", "globex" }
    model:drop(function(block) return block.event.tenant_id == tenant end)
    return subject:send({ event_type = "cleared", tenant_id = tenant }).streams.out
  elseif dice < 0.05 then
    model:drop(function() return true end)
    return (dice < 0.04 and subject:gap() or subject:restart()).streams.out
  elseif dice < 0.3 then
    return store_all(subject, model, parts, math.random(40))
  end
  local event, part, number = random_event(parts, dice < 0.6)
  model:apply(event, part, number, "store")
  local result = subject:send(event)
  if dice > 0.9 then -- a repeat says nothing
    model:apply(event, part, number, "store")
    assert.same({}, subject:send(event).streams)
  end
  return result.streams.out
end

local function compare(seed, make, is_told)
  math.randomseed(seed)
  local options, parts = make()
  if not is_told then options = { convention = options.convention, settle = 0 } end
  local subject = testing.filter("blocks.lua", options)
  local model, known = new_model(parts, is_told), {}
  for at = 1, STEPS do
    read(known, step(subject, model, parts))
    assert.same(names(model:truth()), names(known), ("seed %d, step %d"):format(seed, at))
  end
end

describe("what a reader knows behind blocks", function()
  for name, make in pairs(topologies) do
    it("is what is whole, of " .. name .. " with a topology that is told", function()
      for seed = 1, RUNS do compare(seed, make, true) end
    end)

    it("is what is whole, of " .. name .. " once it has learned", function()
      for seed = 1, RUNS do compare(seed, make, false) end
    end)
  end
end)

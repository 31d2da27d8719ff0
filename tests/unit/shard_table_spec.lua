local gateway = require "gateway"

local PARTS = 4096

--- Ids that differ; `home` puts some at the same place of the table.
local function id(number, home)
  local bytes = {}
  for i = 1, 16 do
    bytes[i] = math.floor(number / 256 ^ ((i - 1) % 6)) % 256
  end
  for i = 5, 8 do
    bytes[i] = home and (home * 37 + i) % 256 or (number * (i * 97 + 1)) % 256
  end
  return string.char(unpack(bytes))
end

--- What the table must say: blocks of groups as sets of parts.
local Model = {}
Model.__index = Model

local function new_model(capacity)
  return setmetatable({ capacity = capacity, blocks = {} }, Model)
end

local function slots_of(block)
  local chunks, count = { [0] = true }, 1
  for part in pairs(block.parts) do
    local chunk = math.floor(part / 64)
    if not chunks[chunk] then chunks[chunk], count = true, count + 1 end
  end
  return count
end

function Model:live()
  local slots = 0
  for _, block in pairs(self.blocks) do slots = slots + slots_of(block) end
  return slots
end

function Model:put(group, key, part)
  local block = self.blocks[key]
  local trial = { parts = { [part] = true } }
  for each in pairs(block and block.parts or {}) do trial.parts[each] = true end
  local more = slots_of(trial) - (block and slots_of(block) or 0)
  if self:live() + more > self.capacity then return end
  block = block or { parts = {}, count = 0, group = group }
  self.blocks[key] = block
  local before = block.count
  if not block.parts[part] then block.parts[part], block.count = true, before + 1 end
  return before, block.count
end

function Model:take(key, part)
  local block = self.blocks[key]
  if not block then return 0, 0 end
  local before = block.count
  if block.parts[part] then block.parts[part], block.count = nil, before - 1 end
  if block.count == 0 then self.blocks[key] = nil end
  return before, block.count
end

function Model:drop(group)
  for key, block in pairs(self.blocks) do
    if block.group == group then self.blocks[key] = nil end
  end
end

local function pairs_of(...)
  return select("#", ...) == 0 and "full" or table.concat({ ... }, " ")
end

--- Random work on a table and its model, which must agree at each step.
local function compare(seed, capacity, blocks, parts, homes)
  math.randomseed(seed)
  local subject, model = gateway.shard_table(capacity, 4), new_model(capacity)
  for at = 1, 2500 do
    local number = math.random(blocks)
    local key, group = id(number, homes and number % homes), number % 4
    local part, dice = math.random(0, parts - 1), math.random()
    local place = ("seed %d, step %d"):format(seed, at)
    if dice < 0.55 then
      local expected = pairs_of(model:put(group, key, part))
      assert.equal(expected, pairs_of(subject:put(group, key, part)), place)
    elseif dice < 0.995 then
      local expected = pairs_of(model:take(key, part))
      assert.equal(expected, pairs_of(subject:take(key, part)), place)
    else
      model:drop(group)
      subject:drop(group)
    end
    local block = model.blocks[key]
    assert.equal(block and block.count or 0, subject:count(key), place)
    assert.is_true(subject:used() <= capacity, place)
  end
  local sizes = { [0] = 0, 0, 0, 0 }
  for key, block in pairs(model.blocks) do
    sizes[block.group] = sizes[block.group] + slots_of(block)
    assert.equal(block.count, subject:count(key))
  end
  for group, size in pairs(sizes) do assert.equal(size, subject:size(group)) end
end

describe("the table of parts", function()
  it("agrees with sets of parts, with room for all", function()
    for seed = 1, 3 do compare(seed, 1000, 50, 8) end
  end)

  it("agrees with them when it is full all the time", function()
    for seed = 1, 3 do compare(seed, 20, 60, 3) end
  end)

  it("agrees with them when blocks have more parts than a slot", function()
    for seed = 1, 3 do compare(seed, 60, 20, 200) end
  end)

  it("agrees with them when ids want the same place", function()
    for seed = 1, 3 do compare(seed, 40, 60, 70, 2) end
  end)

  it("has a block of all the parts that there may be", function()
    local subject = gateway.shard_table(PARTS / 64, 1)
    for part = 0, PARTS - 1 do
      assert.equal(part .. " " .. part + 1, pairs_of(subject:put(0, id(1), part)))
    end
    assert.equal(PARTS / 64, subject:used())
    assert.equal("full", pairs_of(subject:put(0, id(2), 0)))
    assert.equal("4096 4096", pairs_of(subject:put(0, id(1), PARTS - 1)))
    for part = PARTS - 1, 0, -1 do
      assert.equal(part + 1 .. " " .. part, pairs_of(subject:take(id(1), part)))
    end
    assert.equal(0, subject:used())
  end)

  it("takes a repeated part and nothing new once it is full", function()
    local subject = gateway.shard_table(1, 1)
    assert.equal("0 1", pairs_of(subject:put(0, id(1), 5)))
    assert.equal("1 1", pairs_of(subject:put(0, id(1), 5)))
    assert.equal("full", pairs_of(subject:put(0, id(1), 64)))
    assert.equal("1 1", pairs_of(subject:take(id(1), 64)))
    assert.equal("1 0", pairs_of(subject:take(id(1), 5)))
    assert.equal("0 1", pairs_of(subject:put(0, id(2), 64 - 1)))
  end)

  it("gives the room of a dropped group to others", function()
    local subject = gateway.shard_table(100, 2)
    for round = 1, 50 do
      for block = 1, 100 do
        assert.equal("0 1", pairs_of(subject:put(round % 2, id(round * 1000 + block), 0)))
      end
      assert.equal("full", pairs_of(subject:put(0, id(7), 0)))
      subject:drop(round % 2)
      assert.equal(0, subject:count(id(round * 1000 + 1)))
    end
  end)

  it("keeps numbers beside blocks, and drops them with their group", function()
    local subject = gateway.shard_table(2, 2)
    assert.is_true(subject:set(0, id(1), 2 ^ 53))
    assert.is_true(subject:set(1, id(2), 7))
    assert.is_false(subject:set(1, id(3), 7))
    assert.is_true(subject:set(1, id(2), 8))
    assert.equal(2 ^ 53, subject:get(id(1)))
    assert.equal(8, subject:get(id(2)))
    subject:drop(1)
    assert.is_nil(subject:get(id(2)))
    assert.equal(2 ^ 53, subject:get(id(1)))
  end)
end)

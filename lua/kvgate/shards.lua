--- From a store's objects to the blocks that engines speak of.
--
-- A store has one object for each rank, layer and component of a block, and announces each. A set
-- of blocks notes which parts are there and makes one event of them: `stored` once all are there,
-- `removed` when the first one goes. The rules are in lua/README.md; what is noted is kept in C
-- (gateway/script/shards/shards.c), where a key costs no string.
--
--   local shards = require "kvgate.shards"
--   local blocks = shards.blocks { convention = "vllm", tp = 4 }       -- once, at load
--   if match.is_cleared(event) then return blocks:clear(event) end
--   local change = blocks:mark(event)                   -- "stored", "removed", false or nil
--   … on_loss = function(source) blocks:lose(source) end

local ffi = require "ffi"
local border = require "kvgate.border"
local check = require "kvgate.options"
local emit = require "kvgate.emit"
local events = require "kvgate.event"
local key_parts = require "kvgate.key_parts"
local key_reader = require "kvgate.key_reader"
local keys = require "kvgate.keys"
local topology = require "kvgate.topology"
local world = require "kvgate.world"

local BLOCKS, BLOCKS_MAX = 1000000, 2 ^ 28
local SETTLE, SETTLE_MAX = 10, 86400 -- seconds
local HELD_MAX = 512
local FRAMES_MAX = 16384

local C = border.shards
local NONE, STORED, REMOVED = ffi.C.SHARD_NONE, ffi.C.SHARD_STORED, ffi.C.SHARD_REMOVED
local WHOLE, LEARNED = ffi.C.SHARD_WHOLE, ffi.C.SHARD_LEARNED
local STRANGE, SURPRISE = ffi.C.SHARD_STRANGE, ffi.C.SHARD_SURPRISE
local event_of = events.event
local mark_part, note_object = C.mark, C.note
local apart = world.apart

local shards = {}

local LEGACY = { BlockStored = "stored", BlockRemoved = "removed" }

local function kind_of(event)
  local kind = event.event_type
  if kind == nil then return LEGACY[event.type] end
  return kind
end

local function number_between(name, given, default, least, most)
  if given == nil then return default end
  if given < least or given > most then
    check.refuse(name, ("%d to %d"):format(least, most), given)
  end
  return given
end

-- ---- what both kinds of sets have ----

--- Why C takes no more; `name` is the option that bounds the table.
local function refusals(name, limit)
  return {
    [ffi.C.SHARD_FULL] = ("option %q: all %d are taken"):format(name, limit),
    [ffi.C.SHARD_SCOPES_FULL] = "more than 1000 pairs of backend_id and tenant_id, or one longer "
      .. "than 1024 bytes",
    [ffi.C.SHARD_MODELS_FULL] = "more than 1024 models are being learned: name their parts in the "
      .. "options",
    [ffi.C.SHARD_PARTS_FULL] = "a block has more than 4096 parts",
  }
end

--- Options as a text that is the same for the same ones.
local function write_options(value)
  if type(value) ~= "table" then return ("%q"):format(tostring(value)) end
  local names, parts = {}, {}
  for name in pairs(value) do names[#names + 1] = name end
  table.sort(names)
  for index, name in ipairs(names) do
    parts[index] = ("%q=%s"):format(name, write_options(value[name]))
  end
  return "{" .. table.concat(parts, ",") .. "}"
end

--- What C has: that from before the reload, if there was one with the same options.
local function open(kind, limit, settle, given)
  if border.batch.serial ~= 0 then
    error("kvgate.shards: make sets while the filter loads", 0)
  end
  local options = kind .. write_options(given)
  local pointer = C.open(border, options, #options, limit, settle * 1000)
  if pointer == nil then
    error(("kvgate.shards: a filter has at most %d sets"):format(ffi.C.SHARD_SETS), 0)
  end
  return pointer
end

--- Methods, and the state that they share: what C has, and the numbers of sources.
local function base_of(name, limit, settle, given)
  local base = {
    pointer = open(name, limit, settle, given),
    refusals = refusals(name, limit),
    sources = {}, -- by the batch's number of the source; those of ticks have none
    refused = 0ULL, -- the event that was refused last
  }

  local function number_of(source) return C.source(base.pointer, source, #source) end

  for index, source in ipairs(world.sources) do base.sources[index] = number_of(source) end
  base.nobody = number_of ""

  local function at_hand() return border.base + border.batch.current end

  ---@class kvgate.ShardSet
  local methods = {}

  --- Forget what a `cleared` retracts; returns it, as the verdict.
  ---@param event kvgate.Event
  ---@return kvgate.Event
  function methods:clear(event) -- luacheck: ignore 212/self
    C.clear(base.pointer, event_of(event))
    if event.medium ~= nil then event.medium = nil end -- all media were forgotten
    return event
  end

  --- Forget what a source had a part in, and tell readers with a `cleared` for each backend and
  --- tenant that had anything. For on_loss.
  ---@param source string the source's name
  function methods:lose(source) -- luacheck: ignore 212/self
    if base.refused == at_hand() then return end
    local names, number = ffi.new "struct shard_names", number_of(source)
    while C.lose(base.pointer, number, names) do
      local backend = ffi.string(names.backend, names.backend_size)
      local tenant = ffi.string(names.tenant, names.tenant_size)
      emit {
        event_type = "cleared",
        backend_id = backend ~= "" and backend or nil,
        tenant_id = tenant ~= "" and tenant or nil,
      }
    end
  end

  --- Fail on the event at hand. It is lost, but nothing that is known comes in doubt by it.
  ---@param message string
  function methods:refuse(message) -- luacheck: ignore 212/self
    base.refused = at_hand()
    error(message, 0)
  end

  --- How much of the table is taken.
  ---@return integer
  function methods:used() return tonumber(C.used(base.pointer)) end -- luacheck: ignore 212/self

  return base, methods
end

local function seal(methods)
  return setmetatable({}, {
    __index = methods,
    __newindex = function() error("a set of kvgate.shards cannot be changed so", 0) end,
    __metatable = false,
  })
end

-- ---- blocks ----

--- The options of shards.blocks, for check.options.
shards.options = {
  convention = "strings", blocks = "count", settle = "count", connector = "boolean",
  models = "map",
}
for name, kind in pairs(topology.options) do shards.options[name] = kind end

--- Those of them that change what is noted, and not what is made of it.
local function noted(given)
  local own = {}
  for name in pairs(shards.options) do
    if name ~= "connector" then own[name] = given[name] end
  end
  return own
end

local function reader_of(given)
  if given.convention == nil then
    check.refuse("convention", "a convention, such as vllm", nil)
  end
  local models = {}
  for name in pairs(given.models or {}) do models[#models + 1] = name end
  local reader = keys.reader(given.convention, models[1] and models or nil)
  local inside = key_reader.inside(reader)
  for _, form in ipairs(inside.forms) do
    if not key_parts.knows(form) then
      check.refuse("convention", "conventions whose keys tell parts apart", form.convention)
    end
    form.shard = key_parts.form(form)
    form.frames, form.met = {}, 0
  end
  return reader, inside.find
end

--- Events of blocks that had all parts seen so far while their model was learned, for when it is.
local function keeper_of(base)
  local held, count = {}, 0
  local keeper = {}

  local function last_block()
    local block = ffi.new "struct shard_block"
    C.last(base.pointer, block)
    return block
  end

  local function id_of(block) return ffi.string(block.id, 16) end

  function keeper.hold(event)
    if count == HELD_MAX then return end
    local fields = event:to_table()
    fields.event_id, fields.timestamp = nil, nil
    held[#held + 1], count = { block = last_block(), fields = fields }, count + 1
  end

  --- With the block at hand its model is learned: each other block once, and only those that still
  --- have all parts.
  function keeper.release()
    local last = last_block()
    local rest, seen = {}, { [id_of(last)] = true }
    for _, item in ipairs(held) do
      local id = id_of(item.block)
      if item.block.model ~= last.model then
        rest[#rest + 1] = item
      elseif not seen[id] and C.is_whole(base.pointer, item.block) then
        seen[id] = true
        emit(item.fields)
      end
    end
    held, count = rest, #rest
  end

  return keeper
end

--- A function that gives C what it needs of a key whose surroundings are new.
local function learner_of(base, methods, reader, find, parts_of)
  return function(event, source, stored)
    local form = find(event)
    local key = key_parts.read(form, event.object_key)
    local index, count, name = parts_of(reader:read(event))
    if not index and count then methods:refuse(count) end
    if not index then return NONE end
    form = find(event) -- reading has matched others
    local model = name or source .. " " .. key.model
    return C.learn(base.pointer, event_of(event), form.shard, source, stored, key.block, #key.block,
      model, #model, key.part, #key.part, index, count)
  end
end

--- Digests as Conductor takes them, without looking at each: those that the hash is cut out of.
local function digest_of(form, hash, digest)
  local size = #digest
  if form.cuts and size >= 16 and size % 2 == 0 then
    return size == 64 and digest or digest:sub(-64)
  end
  return keys.full_digest(hash, digest)
end

--- The block's key around its digest, of a key that was not met before.
local function meet(form, frame, key)
  if form.met == FRAMES_MAX then form.frames, form.met = {}, 0 end
  local parts = key_parts.read(form, key)
  local around = { head = parts.head, tail = parts.tail }
  form.frames[frame], form.met = around, form.met + 1
  return around
end

--- A function that makes the event of a part that of its block.
local function writer_of(connector)
  return function(event, form, found)
    local hash, digest, key = form.project(found), found:string "digest", event.object_key
    local start = form.shard.found.captures[form.shard.digest].start
    local frame = key:sub(1, start) .. "\n" .. key:sub(start + #digest + 1)
    local around = form.frames[frame] or apart(meet, form, frame, key)
    event.object_key = around.head .. digest .. around.tail
    event.seq_hashes = hash
    if event:has "block_hashes" then event.block_hashes = hash end
    if connector then event.connector_block_hash = digest_of(form, hash, digest) end
  end
end

--- A set of blocks.
---@param given table<string, any> what check.options made of options that shards.options knows
---@return kvgate.Blocks
function shards.blocks(given)
  local limit = number_between("blocks", given.blocks, BLOCKS, 1, BLOCKS_MAX)
  local settle = number_between("settle", given.settle, SETTLE, 0, SETTLE_MAX)
  local reader, find = reader_of(given)
  local base, methods = base_of("blocks", limit, settle, noted(given))
  local keeper, write = keeper_of(base), writer_of(given.connector)
  local learn = learner_of(base, methods, reader, find, topology.new(given))
  local pointer, sources, nobody = base.pointer, base.sources, base.nobody

  --- What is rare: learning, and what comes of it.
  local function mark_rare(event, source, stored, change)
    if change == STRANGE then change = learn(event, source, stored) end
    if change == SURPRISE then methods:lose(event.source or "") end
    if change == NONE or change == SURPRISE then return false end
    if base.refusals[change] then methods:refuse(base.refusals[change]) end
    write(event, find(event))
    if change == REMOVED then return "removed" end
    if change == WHOLE then
      keeper.hold(event)
      return false
    end
    if change == LEARNED then keeper.release() end
    return "stored"
  end

  ---@class kvgate.Blocks: kvgate.ShardSet
  ---@field mark fun(self: kvgate.Blocks, event: kvgate.Event): "stored"|"removed"|false|nil

  --- Note what the event says of a part. If a block comes or goes with it, the event becomes that
  --- of the block.
  ---@param event kvgate.Event
  ---@return "stored"|"removed"|false|nil # false: readers need not know; nil: it is of no block
  function methods:mark(event) -- luacheck: ignore 212/self
    local kind = kind_of(event)
    local stored = kind == "stored"
    if not stored and kind ~= "removed" then return nil end
    local form, found = find(event)
    if not form then return nil end
    local source = sources[border.batch.source + 1] or nobody
    local change = mark_part(pointer, event_of(event), form.shard, source, stored)
    if change == NONE then return false end
    if change ~= STORED and change ~= REMOVED then
      return apart(mark_rare, event, source, stored, change)
    end
    write(event, form, found)
    return change == STORED and "stored" or "removed"
  end

  return seal(methods)
end

-- ---- objects ----

--- A set of objects: who holds each, of those that announce it.
---@param given { objects: integer?, copies: boolean? }
---@return kvgate.Objects
function shards.objects(given)
  local limit = number_between("objects", given.objects, BLOCKS, 1, BLOCKS_MAX)
  local base, methods = base_of("objects", limit, 0, given)
  local pointer, sources, nobody = base.pointer, base.sources, base.nobody
  local copies = given.copies or false

  ---@class kvgate.Objects: kvgate.ShardSet
  ---@field mark fun(self: kvgate.Objects, event: kvgate.Event): "stored"|"removed"|false|nil

  --- Note what the event says of its object.
  ---@param event kvgate.Event
  ---@return "stored"|"removed"|false|nil # false: it is a repeat; nil: it is of no object
  function methods:mark(event) -- luacheck: ignore 212/self
    local kind = kind_of(event)
    local stored = kind == "stored"
    if not stored and kind ~= "removed" then return nil end
    local source = sources[border.batch.source + 1] or nobody
    local change = note_object(pointer, event_of(event), source, stored, copies)
    if change == NONE then return false end
    if change == STORED then return "stored" end
    if change == REMOVED then return "removed" end
    if change == STRANGE then return nil end
    methods:refuse(base.refusals[change])
  end

  return seal(methods)
end

return shards

--- SGLang's HiCache keys: in Mooncake, in files, and those of its first versions.
--
-- The digest is followed by the component, whose ranks are not labelled. Where a layout leaves two
-- readings, a convention of its own takes the rarer one.

local forms = {}

-- ---- components ----

--- Numbers up to two, then a name: "0_k", "0_1_draft_v", "_k", "1_swa".
---@return string? first, string? second, string? name
local function split(suffix)
  local first, rest = suffix:match "^(%d*)_(.+)$"
  if not first then return nil end
  local second, name = rest:match "^(%d+)_(.+)$"
  if second and first == "" then return nil end
  return first, second, name or rest
end

--- The component that a name stands for, and what follows it.
---@return string? component, string? storage
local function component_of(name)
  local draft = name:match "^draft_" or ""
  local half, storage = name:match("^([kv])(.*)$", #draft + 1)
  if storage == "" then return draft .. half, nil end
  if storage and storage:find "^_." then return draft .. half, storage:sub(2) end
  if name:find "^%a[%w_]*$" then return name, nil end
  return nil
end

local function accept(match)
  local suffix = match:string "suffix"
  if suffix == nil then return true end
  local first, _, name = split(suffix)
  return first ~= nil and component_of(name) ~= nil
end

--- Whether a component has no tensor-parallel rank, so that its number is that of the stage.
local function is_pool(component)
  return not (component:find "^draft_[kv]$" or component:find "^[kv]$"
    or component == "temporal" or component:find "^conv_%d+$")
end

--- What a suffix says, written into a record.
local function refine_suffix(record, is_latent)
  local suffix = record.suffix
  if not suffix then return end
  local first, second, name = split(suffix)
  record.component, record.storage = component_of(name)
  if second then
    record.tp, record.pp = tonumber(first), tonumber(second)
  elseif is_latent or is_pool(record.component) then
    record.pp = tonumber(first)
  else
    record.tp = tonumber(first)
  end
end

--- A block's key ends with the digest, as SGLang's own groups of objects.
local SUFFIX = { suffix = function(suffix) return nil, suffix end }

local PAGE = "[{prefix}_]{digest:hex64}[_{suffix}]"

forms["sglang"] = {
  {
    version = "1", template = PAGE, project = "high64", signed = true, accept = accept,
    names_model = true, parts = SUFFIX, refine = function(record) refine_suffix(record, false) end,
  },
}

-- Models with latent attention and pipeline stages: the one number is the stage.
forms["sglang-mla"] = {
  {
    version = "1", template = PAGE, project = "high64", signed = true, accept = accept,
    names_model = true, parts = SUFFIX, refine = function(record) refine_suffix(record, true) end,
  },
}

-- ---- files ----

local POOLS = { -- names that hold the delimiter, longest first
  "deepseek_v4_c128_indexer", "deepseek_v4_c4_indexer", "deepseek_v4_c128", "deepseek_v4_c4",
  "c128_indexer", "c4_indexer",
}

local function split_pool(rest)
  for _, pool in ipairs(POOLS) do
    if rest:sub(1, #pool + 1) == pool .. "_" then return pool, rest:sub(#pool + 2) end
  end
  return rest:match "^(%w+)_(.+)$"
end

--- Ranks behind a model. Of two numbers the size is the larger one, and stands behind the tensor
--- rank but before the stage.
local function split_ranks(record, rest)
  local head, rank, size = rest:match "^(.+)_cp(%d+)_(%d+)$"
  if head then
    record.cp, record.cp_size, rest = tonumber(rank), tonumber(size), head
  end
  local model, tp, tps, pps, pp = rest:match "^(.+)_(%d+)_(%d+)_(%d+)_(%d+)$"
  if model and tonumber(tp) < tonumber(tps) and tonumber(pp) < tonumber(pps) then
    record.tp, record.tp_size = tonumber(tp), tonumber(tps)
    record.pp, record.pp_size = tonumber(pp), tonumber(pps)
    return model
  end
  local left, right
  model, left, right = rest:match "^(.+)_(%d+)_(%d+)$"
  left, right = tonumber(left), tonumber(right)
  if model and left < right then
    record.tp, record.tp_size = left, right
  elseif model and left > right then
    record.pp_size, record.pp = left, right
  else
    return rest
  end
  return model
end

local function refine_file(record)
  record.model, record.rest = split_ranks(record, record.rest), nil
end

local function has_pool(match) return split_pool(match:string "rest") ~= nil end

local function refine_pool(record)
  record.component, record.rest = split_pool(record.rest)
  refine_file(record)
end

forms["sglang-file"] = {
  {
    version = "page", project = "high64", signed = true, refine = refine_file,
    template = "{digest:hex64}_{rest}.bin",
  },
  {
    version = "component", project = "high64", signed = true, accept = has_pool,
    refine = refine_pool, template = "{digest:hex64}.{rest}.bin",
  },
}

-- ---- the first versions ----

-- The digest is that of the keys before; the block itself is a decimal, its digest's first 64 bits.
forms["sglang-old"] = {
  {
    version = "1", project = "int", signed = true,
    template = "[{parent:hex64}]_{digest:int}_{tp:int}",
  },
}

return forms

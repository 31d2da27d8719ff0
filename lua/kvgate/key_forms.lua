--- The key conventions of vLLM, vllm-ascend, LMDeploy, Dynamo's KVBM and plain integers.
--
-- Name to forms, as kvgate/key_reader.lua reads them. SGLang's and LMCache's are in files of their
-- own.

local u64 = require "kvgate.u64"

local forms = {}

-- ---- vLLM: MooncakeStoreConnector ----

local VLLM_RANKS = "@tp_rank:{tp:int}@pcp{pcp:int}@dcp{dcp:int}@pp_rank:{pp:int}"
  .. "[@group:{group:int}]@{digest:hex}"

--- Older versions wrote all hashes of a block end to end: the last one is the block's.
local function take_last_digest(record)
  local digest = record.digest
  if #digest > 64 and #digest % 64 == 0 then
    record.version, record.digests = "concatenated", #digest / 64
    record.digest = digest:sub(-64)
  elseif not record.group then
    record.version = "no group"
  end
end

local function take_namespace(record)
  local namespace = { "@store_pp:", record.store_pp, "@store_format:", record.store_format }
  if record.store_tp then
    table.insert(namespace, 1, "@store_tp:" .. record.store_tp)
  end
  if record.store_schema then
    namespace[#namespace + 1] = "@store_schema:" .. record.store_schema
  end
  record.namespace = table.concat(namespace)
end

forms["vllm"] = {
  {
    version = "namespace", covered = true, any_size = true, refine = take_namespace,
    template = "[{prefix}@]{model}@[store_tp:{store_tp:int}@]store_pp:{store_pp:int}"
      .. "@store_format:{store_format}[@store_schema:{store_schema:hex}]" .. VLLM_RANKS,
  },
  {
    version = "group", any_size = true, refine = take_last_digest,
    template = "[{prefix}@]{model}" .. VLLM_RANKS,
  },
}

-- ---- vllm-ascend: AscendStore ----

local ASCEND = "{model}@pcp{pcp:int}@dcp{dcp:int}@head_or_tp_rank:{head_or_tp:int}"
local ASCEND_ROLE = "@group:{group:int}@cache_role:{role}@cache_family:{family}"

local function has_role(match)
  local role = match:string "role"
  return (role == "kv" or role == "state") and match:string "family":find "^%w+$" ~= nil
end

--- Each group has a role and a family of its own: a block's key has those of the first.
local ROLES = {
  role = function(role) return "kv", role end,
  family = function(family) return "default", family end,
}

forms["vllm-ascend"] = {
  {
    version = "v0.21 layer", accept = has_role, parts = ROLES,
    template = ASCEND .. ASCEND_ROLE .. "@layer_id:{layer:int}@{digest:hex}",
  },
  {
    version = "v0.20", accept = has_role, parts = ROLES,
    template = ASCEND .. "@pp_rank:{pp:int}" .. ASCEND_ROLE .. "@{digest:hex}",
  },
  {
    version = "v0.20 layer", accept = has_role, parts = ROLES,
    template = ASCEND .. ASCEND_ROLE .. "@{digest:hex}@{layer:int}",
  },
  { version = "v0.13", template = ASCEND .. "@pp_rank:{pp:int}@{digest:hex}" },
  { version = "v0.13 layer", template = ASCEND .. "@{digest:hex}@{layer:int}" },
  { version = "v0.11", template = "{model}@{world:int}@{worker:int}@{digest:hex64}" },
  {
    version = "v0.11 layer",
    template = "{model}@{world:int}@{worker:int}@{digest:hex64}@{layer:int}",
  },
}

--- Nothing labels the parts: only a digest's width tells it from a number.
local function is_wide(match)
  local digits = #match:string "digest"
  return digits >= 16 and digits % 2 == 0
end

-- A model path that ends in a slash leaves the model empty.
forms["vllm-ascend-gva"] = {
  {
    version = "group", accept = is_wide,
    template = "[{model}]@{group:int}@{digest:hex}@{worker:int}",
  },
  { version = "no group", accept = is_wide, template = "[{model}]@{digest:hex}@{worker:int}" },
}

-- ---- LMDeploy ----

forms["lmdeploy"] = {
  {
    version = "1",
    template = "[{prefix}@]{model}@tp_rank:{tp:int}@group:{group:int}@{digest:hex64}",
  },
}

-- ---- Dynamo's KVBM ----

local BASE58 = "123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz"
local base58 = {} -- byte to its value
for value = 1, #BASE58 do base58[BASE58:byte(value)] = value - 1 end

--- 11 digits of 58 hold 64 bits, and more: nil if they do.
local function read_base58(text)
  if #text > 11 then return nil end
  local number = 0ULL
  for i = 1, #text do
    local digit = base58[text:byte(i)]
    if not digit or i == 11 and number > (0xffffffffffffffffULL - digit) / 58 then return nil end
    number = number * 58 + digit
  end
  return number
end

local function is_fragment(match)
  local parent = match:string "parent"
  return read_base58(match:string "digest") ~= nil
    and (parent == nil or read_base58(parent) ~= nil)
end

local function fragment(match) return read_base58(match:string "digest") end

forms["kvbm"] = {
  {
    version = "1", accept = is_fragment, project = fragment,
    template = "[{worker:int}/]{position:int}:{digest}[:{parent}]",
  },
}

-- ---- plain integers ----

local function fits(match) return #match:string "digest" <= 16 end

local function integer(match) return u64.unsigned(match:int "digest") end

forms["integer"] = {
  { version = "decimal", project = integer, template = "{digest:int}" },
  { version = "hex", accept = fits, template = "0x{digest:hex}" },
  { version = "hex", accept = fits, template = "0X{digest:hex}" },
}

return forms

--- Object keys: templates to take them apart, and the conventions of the engines by name.
--
--   local keys = require "kvgate.keys"
--   local mine = keys.template "{model}@rank:{rank:int}@{hash:hex}"
--   local reader = keys.reader { "vllm", "sglang" }
--   local record = reader:read(event)
--   if record then event.model_name, event.seq_hashes = record.model, record.hash end
--
-- Templates and readers are made once, at load. What conventions say is in kvgate/key_forms*.lua.

local fault = require "kvgate.fault"
local key_reader = require "kvgate.key_reader"
local key_template = require "kvgate.key_template"
local u64 = require "kvgate.u64"

local keys = { template = key_template.new }

--- A template of all keys with a prefix, and {rest} behind it.
---@param prefix string bytes, compared as they are
---@return kvgate.KeyTemplate
function keys.starting_with(prefix)
  return keys.template(prefix:gsub("[{}%[%]\\]", "\\%0") .. "[{rest}]")
end

-- ---- templates by name ----

--- vLLM's MooncakeStoreConnector, with and without a cache prefix and a KV-cache group. An integer
--- block hash of vLLM is the low 64 bits of its digest.
keys.vllm = keys.template("[{cache_prefix}@]{model}@tp_rank:{tp:int}@pcp{pcp:int}@dcp{dcp:int}"
  .. "@pp_rank:{pp:int}[@group:{group:int}]@{hash:hex}")

--- SGLang's HiCache: digest, then the component (rank, k or v, pool). SGLang's integer is the high
--- 64 bits.
keys.sglang = keys.template "[{prefix}_]{hash:hex64}[_{suffix}]"

--- LMCache's engine keys; `dtype` takes layer and tags along. The chunk hash is written without
--- leading zeros.
keys.lmcache = keys.template "{model}@{world:int}@{worker:int}@{hash:hex}@{dtype}"

local templates = {
  vllm = { template = keys.vllm, project = "low64" },
  sglang = { template = keys.sglang, project = "high64" },
  lmcache = { template = keys.lmcache, project = "low64" },
}

--- The template of a convention's common form, and the name of the method that turns its {hash}
--- into the integer that the engine's own events use. A reader knows all forms.
---@param name "vllm"|"sglang"|"lmcache"
---@return kvgate.KeyTemplate template
---@return "low64"|"high64" project
function keys.convention(name)
  local convention = templates[name]
  if not convention then
    error(("no key convention with one template: %s; known are lmcache, sglang, vllm")
      :format(fault.name(name)), 0)
  end
  return convention.template, convention.project
end

-- ---- readers ----

local conventions = {}
for _, file in ipairs { "key_forms", "key_forms_sglang", "key_forms_lmcache" } do
  for name, forms in pairs(require("kvgate." .. file)) do conventions[name] = forms end
end

--- The conventions that exclude each other, in the order in which each leaves alone what belongs to
--- those behind it.
local COMMON = {
  "vllm", "lmdeploy", "lmcache-mp", "lmcache", "vllm-ascend", "vllm-ascend-gva", "sglang-file",
  "sglang", "kvbm", "integer",
}

--- A string or a list of strings as a list of its own.
local function strings(value, what)
  local list = type(value) == "table" and value or { value }
  local copy = {}
  for i = 1, #list do
    if type(list[i]) ~= "string" then
      error(what .. " is a string, not " .. fault.name(list[i]), 0)
    end
    copy[i] = list[i]
  end
  if #copy == 0 then error("an empty list: at least one " .. what .. " is needed", 0) end
  return copy
end

--- A reader of keys that tries some conventions in turn.
---@param names string|string[]|nil nil: those that keys.detect tries
---@param models string|string[]|nil models whose names SGLang's keys may carry behind a tag
---@return kvgate.KeyReader
function keys.reader(names, models)
  return key_reader.new(conventions, strings(names or COMMON, "convention"),
    models and strings(models, "model") or {})
end

local common -- made when it is first asked for

--- What a key says, by the first convention that it is of; nil if it is of none.
---@param key string|kvgate.Event
---@param reader kvgate.KeyReader? the conventions to try; without it the common ones
---@return kvgate.KeyRecord?
function keys.detect(key, reader)
  if not reader then
    common = common or keys.reader()
    reader = common
  end
  return reader:read(key)
end

--- A block's digest for Conductor's connector_block_hash, which takes an even number of digits, 16
--- or more, and goes by the last 16: the digest of a key if it is one, else the hash.
---@param hash uint64_t|int64_t
---@param digest string
---@return string
function keys.full_digest(hash, digest)
  local last = digest:sub(-64)
  local is_hash = u64.low(last) == hash or u64.high(last) == hash
  if is_hash and #last >= 16 and #last % 2 == 0 then return last end
  return u64.hex(hash)
end

return keys

--- Key templates: one line that takes an object key apart, matched in C.
--
--   local keys = require "kvgate.keys"
--   local mine = keys.template "{model}@rank:{rank:int}@{hash:hex}"
--   local key = mine:match(event, "object_key")
--   if key then event.seq_hashes = key:low64 "hash" end
--
-- The language of templates is that of lua/README.md. Make templates once, at load. A match holds
-- no pointer, only numbers that tell whether it is still the last one of its template: used too
-- late, it raises.

local ffi = require "ffi"
local border = require "kvgate.border"
local events = require "kvgate.event"
local fault = require "kvgate.fault"

ffi.cdef [[
struct key_template_handle { const uint32_t __template; };
struct key_match_handle { const uint32_t __template; const uint32_t __number; };
]]

local TEMPLATES_MAX = 1024
local NAMED = ffi.C.EVENT_NAMED
local EXACT = 0x20000000000000ULL -- 2^53: above it a double skips integers

local C = border.keys
local Template = ffi.typeof "struct key_template_handle"
local Match = ffi.typeof "struct key_match_handle"
local istype, string_of = ffi.istype, ffi.string
local match, match_string = C.match, C.match_string
local low64, high64, decimal = C.low64, C.high64, C.decimal
local event_of, field_of = events.event, events.field

--- What belongs to a template, by its number: `compiled` and `found` for C, `captures` (name to
--- index), `kinds` (name to kind), and the string that the last match was in, to keep it alive.
local states = {}

local keys = {}

-- ---- matches ----

local function list(names)
  local sorted = {}
  for name in pairs(names) do sorted[#sorted + 1] = name end
  table.sort(sorted)
  return table.concat(sorted, ", ")
end

local function refuse_name(state, name)
  if type(name) ~= "string" then
    error("a capture's name is a string, not " .. fault.name(name), 0)
  end
  error(("the template has no {%s}, but %s"):format(name, list(state.captures)), 0)
end

local function refuse_use(self, state)
  if state.found.number ~= self.__number then
    error("a match used after its template matched again: take out what you need before", 0)
  end
  error("a match used after its batch: take out what you need before", 0)
end

--- The capture of that name: where it starts and its size, 0 if its group is missing.
local function capture_of(self, name, kind)
  if not istype(Match, self) then
    error("not a match: methods are called with a colon, as in key:int \"rank\"", 0)
  end
  local state = states[self.__template]
  local found = state.found
  if found.number ~= self.__number
    or (found.serial ~= 0 and found.serial ~= border.batch.serial) then
    refuse_use(self, state)
  end
  local index = state.captures[name] or refuse_name(state, name)
  if kind and state.kinds[name] ~= kind then
    error(("{%s} is %s, and this takes {%s:%s}"):format(name, state.kinds[name], name, kind), 0)
  end
  local capture = found.captures[index]
  return found.key + capture.start, capture.size
end

---@class kvgate.KeyMatch
local matches = {}

--- The last 16 digits of a hex capture (all of it, if shorter) as a number.
---@param name string
---@return uint64_t? # nil if the capture's group is missing
function matches:low64(name)
  local digits, size = capture_of(self, name, "hex")
  if size == 0 then return nil end
  return low64(digits, size)
end

--- The first 16 digits.
---@param name string
---@return uint64_t?
function matches:high64(name)
  local digits, size = capture_of(self, name, "hex")
  if size == 0 then return nil end
  return high64(digits, size)
end

--- An int capture: a number, or above 2^53 a uint64_t, so that it is always exact.
---@param name string
---@return number|uint64_t|nil
function matches:int(name)
  local digits, size = capture_of(self, name, "int")
  if size == 0 then return nil end
  local value = decimal(digits, size)
  if value <= EXACT then return tonumber(value) end
  return value
end

--- Any capture as it stands in the key.
---@param name string
---@return string?
function matches:string(name)
  local bytes, size = capture_of(self, name)
  if size == 0 then return nil end
  return string_of(bytes, size)
end

local function sealed(name)
  return function() error(name .. " cannot be changed", 0) end
end

ffi.metatype(Match, {
  __index = matches,
  __newindex = sealed "a match",
  __tostring = function() return "match of a key template" end,
  __metatable = false,
})

-- ---- templates ----

local function state_of(self)
  if not istype(Template, self) then
    error("not a template: methods are called with a colon, as in template:match(event, field)", 0)
  end
  return states[self.__template]
end

---@class kvgate.KeyTemplate
local templates = {}

--- Match a field of an event, as it is now. Nil if it does not match or holds no string.
---@param event kvgate.Event
---@param name string the field, such as "object_key"
---@return kvgate.KeyMatch? # good until this template matches again, or the batch ends
function templates:match(event, name)
  local state = state_of(self)
  local slot = event_of(event)
  local found = state.found
  if type(name) ~= "string" then
    error("a field's name is a string, not " .. fault.name(name), 0)
  end
  local field = field_of(name) or NAMED
  if not match(state.compiled, found, slot, field, name, #name) then return nil end
  found.serial = border.batch.serial
  return Match(self.__template, found.number)
end

--- Match a string.
---@param text string
---@return kvgate.KeyMatch? # good until this template matches again
function templates:match_string(text)
  local state = state_of(self)
  local found = state.found
  if type(text) ~= "string" then
    error("match_string takes a string, not " .. fault.name(text), 0)
  end
  if not match_string(state.compiled, found, text, #text) then return nil end
  found.serial = 0
  state.text = text
  return Match(self.__template, found.number)
end

--- What a capture holds, or nil if the template has none of that name.
---@param name string
---@return "text"|"int"|"hex"|nil
function templates:kind(name) return state_of(self).kinds[name] end

ffi.metatype(Template, {
  __index = templates,
  __newindex = sealed "a template",
  __tostring = function(self) return ("key template %q"):format(states[self.__template].source) end,
  __metatable = false,
})

local function captures_of(compiled)
  local captures, kinds = {}, {}
  for index = 0, ffi.C.KEY_CAPTURES_MAX - 1 do
    local name = C.name(compiled, index)
    if name == nil then break end
    captures[string_of(name)] = index
    kinds[string_of(name)] = string_of(C.kind(compiled, index))
  end
  return captures, kinds
end

--- Compile a template; raises with the column if it is none.
---@param text string
---@return kvgate.KeyTemplate
function keys.template(text)
  if type(text) ~= "string" then error("a template is a string, not " .. fault.name(text), 0) end
  if #states == TEMPLATES_MAX then
    error(("more than %d templates: make them once, at load"):format(TEMPLATES_MAX), 0)
  end
  local why = ffi.new("char[?]", ffi.C.KEY_ERROR)
  local compiled = C.compile(text, #text, why)
  if compiled == nil then error(("key template %q: %s"):format(text, string_of(why)), 0) end
  local captures, kinds = captures_of(compiled)
  states[#states + 1] = {
    source = text,
    compiled = ffi.gc(compiled, C.free),
    found = ffi.new "struct key_match",
    captures = captures,
    kinds = kinds,
    text = "",
  }
  return Template(#states)
end

-- ---- the conventions of the engines ----

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

local conventions = {
  vllm = { template = keys.vllm, project = "low64" },
  sglang = { template = keys.sglang, project = "high64" },
  lmcache = { template = keys.lmcache, project = "low64" },
}

--- A convention by its name: the template, whose digest is {hash}, and the name of the method that
--- turns it into the integer that the engine's own events use.
---@param name "vllm"|"sglang"|"lmcache"
---@return kvgate.KeyTemplate template
---@return "low64"|"high64" project
function keys.convention(name)
  local convention = conventions[name]
  if not convention then
    local known = list(conventions)
    error(("unknown key convention %s; known are %s"):format(fault.name(name), known), 0)
  end
  return convention.template, convention.project
end

return keys

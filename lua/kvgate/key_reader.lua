--- Object keys by convention: from a key to a record of what it says.
--
-- A convention is a list of forms, tried in order; a reader is a list of conventions. A form has a
-- template, which decides what the key looks like, and says with functions what no template can:
--
--   version   which of the convention's forms this is
--   template  captures are named as the record's fields; {digest} is the block's digest
--   project   "low64", "high64" or "int", or function(match): the engine's integer for {digest}
--   signed    the engine's events write that integer as an int64
--   accept    function(match): false if the key is of another kind
--   refine    function(record): fills in what stands between the lines
--             (neither sees texts of more than 4096 bytes: such keys are of another kind)
--   parts     what tells the parts of a block apart, see kvgate/key_parts.lua
--   names_model  the prefix may end in the model's name, with - for /
--   any_size  both do without patterns, which run over so much only
--   covered   a later form of the convention finds the same digest in such keys
--
-- Templates are made when a reader that uses them is made, and shared by all.

local ffi = require "ffi"
local fault = require "kvgate.fault"
local key_template = require "kvgate.key_template"
local u64 = require "kvgate.u64"

local TEXT_MAX = 4096 -- bytes of a text that is looked into

local signed_t = ffi.typeof "int64_t"

local key_reader = {}

---@class kvgate.KeyRecord what an object key says; nil where it does not
---@field convention string such as "vllm"
---@field version string which form of the convention
---@field digest string the digest as the key writes it
---@field hash uint64_t|int64_t the block as the engine's own events call it, signed where they do
---@field model string?
---@field prefix string? what an operator put in front: cache prefix, tag
---@field salt string? the tenant's salt
---@field tp kvgate.Integer?
---@field pcp kvgate.Integer?
---@field dcp kvgate.Integer?
---@field pp kvgate.Integer?
---@field head_or_tp kvgate.Integer?
---@field world kvgate.Integer?
---@field worker kvgate.Integer? rank among `world`
---@field group kvgate.Integer? KV-cache group
---@field layer kvgate.Integer?
---@field component string? "k", "v", or the name of a pool
---@field [string] any what one convention alone has, see lua/README.md

-- ---- forms ----

--- Template text to the template, and its captures as two lists: names and kinds.
local compiled = {}

local function compile(text)
  local found = compiled[text]
  if not found then
    found = { template = key_template.new(text), names = {}, kinds = {} }
    for name in text:gmatch "{([%w_]+)" do
      found.names[#found.names + 1] = name
      found.kinds[#found.kinds + 1] = found.template:kind(name)
    end
    compiled[text] = found
  end
  return found
end

local function always() return true end

--- What a form accepts, of texts that patterns may run over.
local function bounded(form, known)
  if form.any_size or not (form.accept or form.refine) then return form.accept or always end
  local texts, accept = {}, form.accept or always
  for i, name in ipairs(known.names) do
    if known.kinds[i] == "text" then texts[#texts + 1] = name end
  end
  return function(match)
    for i = 1, #texts do
      if match:size(texts[i]) > TEXT_MAX then return false end
    end
    return accept(match)
  end
end

--- A function that turns a match into the hash, unsigned.
local function projection(project)
  if type(project) == "function" then return project end
  if project == "high64" then return function(match) return match:high64 "digest" end end
  if project == "int" then
    return function(match) return u64.unsigned(match:int "digest") end
  end
  return function(match) return match:low64 "digest" end
end

--- A form of a convention that is ready to match.
local function ready(convention, form, number)
  local known = compile(form.template)
  return {
    convention = convention,
    number = number,
    parts = form.parts or {},
    version = form.version,
    template = known.template,
    names = known.names,
    kinds = known.kinds,
    accept = bounded(form, known),
    project = projection(form.project),
    cuts = type(form.project) ~= "function" and form.project ~= "int",
    refine = form.refine or always,
    signed = form.signed,
    names_model = form.names_model,
  }
end

--- Tell a model's name from the tag in front of it: only who knows the models can.
local function split_prefix(record, models)
  local prefix = record.prefix
  for i = 1, #models do
    local model = models[i]
    local dashed = model:gsub("/", "-")
    if prefix == dashed then
      record.model, record.prefix = model, nil
      return
    elseif prefix:sub(-#dashed - 1) == "_" .. dashed then
      record.model, record.prefix = model, prefix:sub(1, -#dashed - 2)
      return
    end
  end
end

--- The record of a match.
local function record_of(form, match, models)
  local record = { convention = form.convention, version = form.version }
  for i = 1, #form.names do
    local name = form.names[i]
    if form.kinds[i] == "int" and name ~= "digest" then
      record[name] = match:int(name)
    else
      record[name] = match:string(name)
    end
  end
  local hash = form.project(match)
  record.hash = form.signed and ffi.cast(signed_t, hash) or hash
  if form.names_model and record.prefix then split_prefix(record, models) end
  form.refine(record)
  return record
end

-- ---- readers ----

local function match_of(template, key)
  if type(key) == "string" then return template:match_string(key) end
  return template:match(key, "object_key")
end

--- Find the form of an event's key among some. The first is tried without a loop, which compiled
--- code would have to leave.
local function finder_of(forms)
  local first = forms[1]

  local function try_others(event)
    for i = 2, #forms do
      local form = forms[i]
      local match = form.template:match(event, "object_key")
      if match and form.accept(match) then return form, match end
    end
    return nil, nil
  end

  return function(event)
    local match = first.template:match(event, "object_key")
    if match and first.accept(match) then return first, match end
    if #forms == 1 then return nil, nil end
    return try_others(event)
  end
end

local function methods_of(names, forms, find, models)
  ---@class kvgate.KeyReader
  local methods = {}

  --- What an object key says, or nil if it is of none of the conventions.
  ---@param key string|kvgate.Event of an event its object_key is read
  ---@return kvgate.KeyRecord?
  function methods:read(key) -- luacheck: ignore 212/self
    for i = 1, #forms do
      local form = forms[i]
      local match = match_of(form.template, key)
      if match and form.accept(match) then return record_of(form, match, models) end
    end
    return nil
  end

  --- The hash alone, unsigned, without making a record: for the hot path.
  ---@param event kvgate.Event its object_key is read
  ---@return uint64_t?
  ---@return kvgate.KeyMatch? match its {digest} is the digest as the key writes it
  ---@return string? convention
  function methods:hash(event) -- luacheck: ignore 212/self
    local form, match = find(event)
    if not form then return nil, nil, nil end
    return form.project(match), match, form.convention
  end

  --- The conventions that it tries, in that order.
  ---@return string[]
  function methods:names() -- luacheck: ignore 212/self
    local copy = {}
    for i = 1, #names do copy[i] = names[i] end
    return copy
  end

  return methods
end

local function forms_of(conventions, name)
  local forms = conventions[name]
  if forms then return forms end
  local known = {}
  for each in pairs(conventions) do known[#known + 1] = each end
  table.sort(known)
  fault.refuse(("unknown key convention %q%s")
    :format(tostring(name), fault.hint(name, known)))
end

local insides = setmetatable({}, { __mode = "k" }) -- of readers

--- A reader that tries some conventions in turn.
---@param conventions table<string, table[]> all that are known: name to forms
---@param names string[]
---@param models string[] models whose names keys may carry behind a tag
---@return kvgate.KeyReader
function key_reader.new(conventions, names, models)
  local forms, hashes = {}, {}
  for _, name in ipairs(names) do
    for _, form in ipairs(forms_of(conventions, name)) do
      local made = ready(name, form, #forms)
      forms[#forms + 1] = made
      if not form.covered then hashes[#hashes + 1] = made end
    end
  end
  local find = finder_of(hashes)
  local reader = setmetatable({}, {
    __index = methods_of(names, forms, find, models),
    __newindex = function() error("a reader of keys cannot be changed", 0) end,
    __metatable = false,
  })
  insides[reader] = { find = find, forms = hashes }
  return reader
end

--- For the runtime's own modules: the forms that a reader's `hash` tries, and the function that
--- finds the one of an event's key, with its match.
---@param reader kvgate.KeyReader
---@return { find: (fun(event: kvgate.Event): table?, kvgate.KeyMatch?), forms: table[] }
function key_reader.inside(reader) return insides[reader] end

return key_reader

--- Key templates: one line that takes an object key apart, matched in C.
--
--   local keys = require "kvgate.keys"
--   local mine = keys.template "{model}@rank:{rank:int}@{hash:hex}"
--   local key = mine:match(event, "object_key")
--   if key then event.seq_hashes = key:low64 "hash" end
--
-- The language of templates is that of lua/README.md. Make templates once, at load. A match holds
-- no pointer, only the number that tells whether it is still the last one of its template: used too
-- late, it raises.
--
-- Each template is a type of its own, and so is its match: methods find what belongs to them in
-- upvalues, which compiled code takes for constants. Handles are 64 bits dressed as a pointer to a
-- struct that does not exist, as kvgate/event.lua's: they cannot be taken apart or changed and cost
-- no memory in compiled code.

local ffi = require "ffi"
local border = require "kvgate.border"
local events = require "kvgate.event"
local fault = require "kvgate.fault"

local TEMPLATES_MAX = 1024
local NAMED = ffi.C.EVENT_NAMED
local EXACT = 0x20000000000000ULL -- 2^53: above it a double skips integers

local C = border.keys
local unsigned_t = ffi.typeof "uint64_t"
local found_t = ffi.typeof "struct key_match *"
local cast, istype, string_of = ffi.cast, ffi.istype, ffi.string
local match, match_string = C.match, C.match_string
local low64, high64, decimal = C.low64, C.high64, C.decimal
local event_of, field_of = events.event, events.field

local key_template = {}

local function sealed(name)
  return function() error(name .. " cannot be changed", 0) end
end

local function list(names)
  local sorted = {}
  for name in pairs(names) do sorted[#sorted + 1] = name end
  table.sort(sorted)
  return table.concat(sorted, ", ")
end

-- ---- matches ----

local function refuse_name(captures, name)
  if type(name) ~= "string" then
    error("a capture's name is a string, not " .. fault.name(name), 0)
  end
  error(("the template has no {%s}, but %s"):format(name, list(captures)), 0)
end

local function refuse_use(is_last)
  if not is_last then
    error("a match used after its template matched again: take out what you need before", 0)
  end
  error("a match used after its batch: take out what you need before", 0)
end

local function refuse_kind(name, kind, wanted)
  error(("{%s} is %s, and this takes {%s:%s}"):format(name, kind, name, wanted), 0)
end

--- The methods of the matches of one template.
---@param Match ffi.ctype*
---@param found ffi.cdata* struct key_match *: what C found last
---@param captures table<string, integer> name to index
---@param kinds table<string, string>
local function methods_of_match(Match, found, captures, kinds)
  --- The capture of that name: where it starts and its size, 0 if its group is missing.
  local function capture_of(self, name, kind)
    if not istype(Match, self) then
      error("not a match: methods are called with a colon, as in key:int \"rank\"", 0)
    end
    local is_last = found.number == cast(unsigned_t, self)
    if not is_last or (found.serial ~= 0 and found.serial ~= border.batch.serial) then
      refuse_use(is_last)
    end
    local index = captures[name] or refuse_name(captures, name)
    if kind and kinds[name] ~= kind then refuse_kind(name, kinds[name], kind) end
    local capture = found.captures[index]
    return found.key + capture.start, capture.size
  end

  ---@class kvgate.KeyMatch
  local methods = {}

  --- The last 16 digits of a hex capture (all of it, if shorter) as a number.
  ---@param name string
  ---@return uint64_t? # nil if the capture's group is missing
  function methods:low64(name)
    local digits, size = capture_of(self, name, "hex")
    if size == 0 then return nil end
    return low64(digits, size)
  end

  --- The first 16 digits.
  ---@param name string
  ---@return uint64_t?
  function methods:high64(name)
    local digits, size = capture_of(self, name, "hex")
    if size == 0 then return nil end
    return high64(digits, size)
  end

  --- An int capture: a number, or above 2^53 a uint64_t, so that it is always exact.
  ---@param name string
  ---@return number|uint64_t|nil
  function methods:int(name)
    local digits, size = capture_of(self, name, "int")
    if size == 0 then return nil end
    local value = decimal(digits, size)
    if value <= EXACT then return tonumber(value) end
    return value
  end

  --- Any capture as it stands in the key.
  ---@param name string
  ---@return string?
  function methods:string(name)
    local bytes, size = capture_of(self, name)
    if size == 0 then return nil end
    return string_of(bytes, size)
  end

  --- How many bytes any capture has.
  ---@param name string
  ---@return integer # 0 if the capture's group is missing
  function methods:size(name)
    local _, size = capture_of(self, name)
    return size
  end

  return methods
end

-- ---- templates ----

--- The methods of one template.
---@param Template ffi.ctype*
---@param Match ffi.ctype*
---@param state { compiled: ffi.cdata*, found: ffi.cdata*, kinds: table<string, string> }
local function methods_of_template(Template, Match, state)
  local compiled, found = cast("struct key_template *", state.compiled), cast(found_t, state.found)

  local function check(self)
    if istype(Template, self) then return end
    error("not a template: methods are called with a colon, as in template:match(event, field)", 0)
  end

  ---@class kvgate.KeyTemplate
  local methods = {}

  --- Match a field of an event, as it is now. Nil if it does not match or holds no string.
  ---@param event kvgate.Event
  ---@param name string the field, such as "object_key"
  ---@return kvgate.KeyMatch? # good until this template matches again, or the batch ends
  function methods:match(event, name)
    check(self)
    local slot = event_of(event)
    if type(name) ~= "string" then
      error("a field's name is a string, not " .. fault.name(name), 0)
    end
    local field = field_of(name) or NAMED
    if not match(compiled, found, slot, field, name, #name) then return nil end
    found.serial = border.batch.serial
    return cast(Match, found.number)
  end

  --- Match a string.
  ---@param text string
  ---@return kvgate.KeyMatch? # good until this template matches again
  function methods:match_string(text)
    check(self)
    if type(text) ~= "string" then
      error("match_string takes a string, not " .. fault.name(text), 0)
    end
    if not match_string(compiled, found, text, #text) then return nil end
    found.serial = 0
    state.text = text
    return cast(Match, found.number)
  end

  --- What a capture holds, or nil if the template has none of that name.
  ---@param name string
  ---@return "text"|"int"|"hex"|nil
  function methods:kind(name)
    check(self)
    return state.kinds[name]
  end

  return methods
end

--- What a word that is no method reads as: an error that names those there are.
local function unknown_method(name, methods)
  local known = {}
  for method in pairs(methods) do known[#known + 1] = method end
  table.sort(known)
  return function(_, method)
    error(("%s has no method %q%s"):format(name, tostring(method), fault.hint(method, known)), 0)
  end
end

--- Give a struct that does not exist its methods.
local function dress(struct, name, methods, shown)
  setmetatable(methods, { __index = unknown_method(name, methods) })
  ffi.metatype(struct, {
    __index = methods,
    __newindex = sealed(name),
    __tostring = function() return shown end,
    __metatable = false,
  })
end

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

--- What templates need as long as the state lives: what C made of each, what it found last, and the
--- string that it found that in.
local states = {}

local function new_template(state, text)
  local template = ("struct key_template_%d"):format(#states)
  local found = ("struct key_match_%d"):format(#states)
  ffi.cdef(("%s; %s;"):format(template, found))
  local Template, Match = ffi.typeof(template .. " *"), ffi.typeof(found .. " *")
  dress(template, "a template", methods_of_template(Template, Match, state),
    ("key template %q"):format(text))
  dress(found, "a match",
    methods_of_match(Match, cast(found_t, state.found), state.captures, state.kinds),
    "match of a key template")
  return cast(Template, #states)
end

--- For the runtime's own modules: `struct key_match *` of what a template found last, and the
--- number of a capture.
---@param template kvgate.KeyTemplate
---@param name string
---@return ffi.cdata* found
---@return integer capture
function key_template.parts(template, name)
  local state = states[tonumber(cast(unsigned_t, template))]
  return cast(found_t, state.found), state.captures[name]
end

--- Compile a template; raises with the column if it is none.
---@param text string
---@return kvgate.KeyTemplate
function key_template.new(text)
  if type(text) ~= "string" then error("a template is a string, not " .. fault.name(text), 0) end
  if #states == TEMPLATES_MAX then
    error(("more than %d templates: make them once, at load"):format(TEMPLATES_MAX), 0)
  end
  local why = ffi.new("char[?]", ffi.C.KEY_ERROR)
  local compiled = C.compile(text, #text, why)
  if compiled == nil then error(("key template %q: %s"):format(text, string_of(why)), 0) end
  local state = { compiled = ffi.gc(compiled, C.free), found = ffi.new "struct key_match" }
  state.captures, state.kinds = captures_of(compiled)
  states[#states + 1] = state
  return new_template(state, text)
end

return key_template

--- Events as scripts see them: views of the slots of a batch.
--
-- A view is a slot number with the serial of its batch: 64 bits, dressed as a pointer to a struct
-- that does not exist. So it cannot be taken apart, counted up or changed, it costs no memory in
-- compiled code, and a script can keep it as long as it likes and use it as long as the batch
-- lasts. Every access checks that first. Reading a text field that nobody edited costs a few loads
-- in compiled code; the rest asks C. Each field has a reader of a prototype of its own, so that the
-- JIT sees a constant field and no function is made at run time.
--
-- The runtime's own modules may use what this returns; scripts never get it.

local bit = require "bit"
local ffi = require "ffi"
local border = require "kvgate.border"
local fault = require "kvgate.fault"
local value = require "kvgate.value"
local world = require "kvgate.world"

ffi.cdef "struct event_view;"

local C = ffi.C
local END, NAMED = C.EVENT_END, C.EVENT_NAMED
local ABSENT, NIL, ARRAY, MAP = C.TOKEN_ABSENT, C.TOKEN_NIL, C.TOKEN_ARRAY, C.TOKEN_MAP
local NUMBER, UNSIGNED, SIGNED = C.TOKEN_NUMBER, C.TOKEN_UNSIGNED, C.TOKEN_SIGNED
local FALSE, TRUE, STR = C.TOKEN_FALSE, C.TOKEN_TRUE, C.TOKEN_STR

local View = ffi.typeof "struct event_view *"
local unsigned_t = ffi.typeof "uint64_t"
local word_t = ffi.typeof "uint32_t"
local cast, istype, string_of = ffi.cast, ffi.istype, ffi.string
local rshift = bit.rshift
local token = border.token
local read, set, set_text = border.read, border.set, border.set_text
local set_hash = border.set_hash
local take = value.take
local apart = world.apart

local events = { View = View }

--- Known fields: name to number and name to kind; names by number.
local numbers, kinds, names = {}, {}, {}
for number, field in ipairs(world.fields) do
  numbers[field.name] = number - 1
  kinds[field.name] = field.kind
  names[number - 1] = field.name
end

--- The number of a known field (enum field), or nil.
---@param name string
---@return integer?
function events.field(name) return numbers[name] end

-- ---- views ----

--- The slot and the serial that a view was made of.
---@param view kvgate.Event
---@return number slot
---@return number serial
local function parts_of(view)
  local bits = cast(unsigned_t, view)
  return tonumber(cast(word_t, bits)), tonumber(cast(word_t, rshift(bits, 32)))
end
events.parts = parts_of

local function stale()
  error("event used after its batch: copy what you need to keep into a table of your own", 0)
end

--- `struct event *` of what is known to be a view, which may be used now; raises otherwise. A view
--- of another batch lies beyond all slots of this one, or below the first, which is beyond as well.
---@param view kvgate.Event
local function living(view)
  local batch = border.batch
  local slot = cast(unsigned_t, view) - border.base
  if slot >= batch.used then stale() end
  return batch.slots + slot
end

--- The same of anything. No tail call: a trace may have 15, and each access makes one of these.
---@param view kvgate.Event
local function event_of(view)
  if istype(View, view) then return (living(view)) end
  error("not an event: methods are called with a colon, as in event:copy()", 0)
end
events.event = event_of

-- ---- reading ----

local function read_field(event, field) return take(read(border, event, field, nil, 0), false) end

local function read_exact(event, field) return take(read(border, event, field, nil, 0), true) end

local function check_name(name)
  if type(name) == "string" then return end
  error("a field's name is a string, not " .. fault.name(name), 0)
end

local function read_named(view, name)
  check_name(name)
  return take(read(border, event_of(view), NAMED, name, #name), false)
end

--- Source text of a field's reader. The common value of a text field, a short str in the received
--- bytes, is read right here, also from events with one edit, of another field.
local reader_text = {
  text = [[
    local living, string_of, read_field = ...
    return function(view)
      local event = living(view)
      local edit = event.edits
      if edit == nil or edit.field ~= FIELD and edit.older == nil then
        local at = event.bytes + event.at[FIELD]
        local size = at[0] - 0xa0
        if size >= 0 and size < 0x20 then return string_of(at + 1, size) end
      end
      return read_field(event, FIELD)
    end
  ]],
  other = [[
    local living, _, read_field = ...
    return function(view) return read_field(living(view), FIELD) end
  ]],
}

local function make_reader(field, kind)
  local text = reader_text[kind] or reader_text.other
  local chunk = assert(load(text:gsub("FIELD", tostring(field)), "=kvgate/event.lua"))
  local exact = kind == "u64" or kind == "hashes"
  return chunk(living, string_of, exact and read_exact or read_field)
end

local readers = {}
for name, field in pairs(numbers) do readers[name] = make_reader(field, kinds[name]) end

function readers.source(view)
  event_of(view)
  return world.sources[border.batch.source + 1]
end

-- ---- writing ----

--- C says that there is no room left for edits; the driver sees it even if the script goes on.
local function full()
  border.breach = C.BORDER_NO_MEMORY
  error("the edits of this message take too much memory", 0)
end

events.full = full

local function unfit(name, wanted, item)
  error(("event.%s takes %s, not %s"):format(name, wanted, fault.name(item)), 0)
end

local function set_scalar(event, name, kind, wrap)
  token.kind = kind
  if not set(border, event, numbers[name] or NAMED, name, #name, wrap) then full() end
end

local function set_integer(event, name, item, wrap)
  if istype(unsigned_t, item) then
    token.u64 = item
    set_scalar(event, name, UNSIGNED, wrap)
  else
    token.i64 = item
    set_scalar(event, name, SIGNED, wrap)
  end
end

local function set_single(event, name, integer)
  if not istype(unsigned_t, integer) then return set_integer(event, name, integer, true) end
  if not set_hash(border, event, numbers[name], integer) then full() end
end

local function set_table(event, name, item, empty, exact)
  local field = numbers[name] or NAMED
  value.write(name, item, empty, exact)
  if not border.assign(border, event, field, name, #name) then full() end
end

local write = {}

function write.text(event, name, item)
  if type(item) ~= "string" then unfit(name, "a string or nil", item) end
  if not set_text(border, event, numbers[name], name, #name, item, #item) then full() end
end

function write.number(event, name, item)
  if type(item) == "number" then
    token.number = item
    set_scalar(event, name, NUMBER, false)
  else
    set_integer(event, name, value.integer(item) or unfit(name, "a number or nil", item), false)
  end
end

function write.u64(event, name, item)
  local integer = value.integer(item) or unfit(name, "an exact 64-bit integer or nil", item)
  set_integer(event, name, integer, false)
end

function write.hashes(event, name, item)
  local integer
  if type(item) == "table" then
    integer = value.integer(value.single(item))
    if not integer then return set_table(event, name, item, ARRAY, true) end
  else
    integer = value.integer(item) or unfit(name, "a hash or an array of hashes", item)
  end
  set_single(event, name, integer)
end

function write.list(event, name, item)
  if type(item) ~= "table" then unfit(name, "an array or nil", item) end
  set_table(event, name, item, ARRAY, false)
end

--- What a bare {} becomes in a field that has no schema: what it replaces.
local function present_kind(event, name)
  local kind = read(border, event, NAMED, name, #name)
  return (kind == ARRAY or kind == MAP) and kind or nil
end

--- A field that nobody here knows takes any value.
local function write_any(event, name, item)
  local lua_type = type(item)
  if lua_type == "string" then
    if not set_text(border, event, NAMED, name, #name, item, #item) then full() end
  elseif lua_type == "boolean" then
    set_scalar(event, name, item and TRUE or FALSE, false)
  elseif lua_type == "table" then
    set_table(event, name, item, present_kind(event, name), false)
  elseif lua_type == "number" or value.integer(item) then
    write.number(event, name, item)
  else
    unfit(name, "a value", item)
  end
end

local methods = {}

local function check_writable(name)
  check_name(name)
  if name == "event_id" then error("event.event_id is read-only: streams stamp it", 0) end
  if name == "source" then error("event.source is read-only", 0) end
  if methods[name] then error(("event.%s is a method, not a field"):format(name), 0) end
end

events.check_writable = check_writable

--- Assign a field of a slot.
---@param event ffi.cdata* struct event
---@param name string
---@param item any
local function assign_field(event, name, item)
  check_writable(name)
  if item == nil or item == value.public.null then
    set_scalar(event, name, NIL, false)
  else
    (write[kinds[name]] or write_any)(event, name, item)
  end
end
events.assign = assign_field

local function assign(view, name, item) assign_field(event_of(view), name, item) end

-- ---- the fields that an event has ----

--- Names that edits concern, the first edit first.
local function edited_names(event)
  local edited = {}
  local edit = event.edits
  while edit ~= nil do
    table.insert(edited, 1, names[edit.field] or string_of(edit.name, edit.name_size))
    edit = edit.older
  end
  return edited
end

--- The fields as received: names in their order, and by name where the value is, in bytes from the
--- event's first; of a name that repeats, the last.
local function received_fields(event)
  local list, places = {}, {}
  token.at = event.bytes
  border.next(border)
  for _ = 1, token.size do
    local name = border.next(border) == STR and string_of(token.bytes, token.size)
    if name then
      if not places[name] then list[#list + 1] = name end
      places[name] = tonumber(token.at - event.bytes)
    end
    border.skip(border)
  end
  return list, places
end

--- Take fields that edits concern into the list, or out of it: they have no place.
local function edit_fields(event, list, places)
  local gone = false
  for _, name in ipairs(edited_names(event)) do
    if places[name] == nil then list[#list + 1] = name end
    places[name] = false
    gone = gone or read(border, event, numbers[name] or NAMED, name, #name) == ABSENT
  end
  if not gone then return list end
  local present = {}
  for _, name in ipairs(list) do
    if places[name] or read(border, event, numbers[name] or NAMED, name, #name) ~= ABSENT then
      present[#present + 1] = name
    end
  end
  return present
end

--- The fields that the event has: names in order, and the places of those that no edit concerns. An
--- event may have any number of them, so none is looked for by its name.
local function fields_of(event)
  local list, places = received_fields(event)
  if event.edits ~= nil then list = edit_fields(event, list, places) end
  return { list = list, places = places, edits = event.edits }
end

--- `place`: where its value is, if known.
local function field_value(event, name, place)
  local exact = kinds[name] == "u64" or kinds[name] == "hashes"
  if place then
    token.at = event.bytes + place
    return take(border.next(border), exact)
  end
  return take(read(border, event, numbers[name] or NAMED, name, #name), exact)
end

local function each_field(view)
  local fields, index = apart(fields_of, event_of(view)), 0
  return function()
    index = index + 1
    local name = fields.list[index]
    if name == nil then return nil end
    local event = event_of(view)
    return name, field_value(event, name, event.edits == fields.edits and fields.places[name])
  end
end

-- ---- methods ----

--- Another event with the same fields; it exists only if the verdict names it.
function methods.copy(view)
  event_of(view)
  local slot = border.copy(border, (parts_of(view)))
  if slot == END then
    border.breach = C.BORDER_TOO_MANY
    error(("event:copy(): a batch holds %d events, copies included")
      :format(border.batch.capacity), 0)
  end
  return cast(View, border.base + slot)
end

--- Does it have the field, be it nil?
function methods.has(view, name)
  local event = event_of(view)
  check_name(name)
  return read(border, event, numbers[name] or NAMED, name, #name) ~= ABSENT
end

--- Take a field away, so that it is absent rather than nil.
function methods.remove(view, name)
  local event = event_of(view)
  check_writable(name)
  if not border.remove(border, event, numbers[name] or NAMED, name, #name) then full() end
end

local function table_of(event)
  local found = fields_of(event)
  local fields = value.ordered_map(found.list)
  for _, name in ipairs(found.list) do
    local item = field_value(event, name, found.places[name])
    if item == nil then item = value.public.null end
    fields[name] = item
  end
  return fields
end

--- All fields in a table of the script's own; nil is null.
function methods.to_table(view)
  local fields = apart(table_of, event_of(view))
  return fields
end

-- ---- the metatype ----

local shown = { "tenant_id", "backend_id", "medium", "object_key" }

local function shorten(item)
  local text = tostring(item)
  if #text > 48 then text = text:sub(1, 45) .. "..." end
  return (text:gsub("[%c\127-\255]", "?"))
end

local function to_string(view)
  local event = event_of(view)
  local id = read(border, event, numbers.event_id, nil, 0) == NUMBER and token.number or nil
  local parts = {}
  if id then parts[1] = ("event_id=%.0f"):format(id) end
  for _, name in ipairs(shown) do
    local item = field_value(event, name)
    if item ~= nil then parts[#parts + 1] = name .. "=" .. shorten(item) end
  end
  local kind = field_value(event, "event_type") or field_value(event, "type")
  return ("event(%s: %s)"):format(shorten(kind), table.concat(parts, " "))
end

ffi.metatype("struct event_view", {
  __index = function(view, name)
    local reader = readers[name]
    if reader then return reader(view) end
    local method = methods[name]
    if method then return method end
    return read_named(view, name)
  end,
  __newindex = assign,
  __pairs = each_field,
  __tostring = to_string,
  __metatable = false,
})

return events

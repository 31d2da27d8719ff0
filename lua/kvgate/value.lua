--- Values inside events: msgpack to Lua and back, losing nothing.
--
-- Read values are plain Lua values. What Lua cannot tell apart is remembered beside them: arrays
-- and maps have a metatable of their own, so that empty ones keep their kind; floats that hold
-- integers, bin against str, keys that are no strings and the order of keys are kept in a weak side
-- table. A nil inside an array or map is `null`. What no Lua table can hold (two equal keys, a NaN
-- key, more than 64 levels) comes as an opaque value that writes back as it was.
--
-- Scripts get `value.public` as require "kvgate.value".

local ffi = require "ffi"
local border = require "kvgate.border"
local fault = require "kvgate.fault"

local C = ffi.C
local ABSENT, NIL, FALSE, TRUE = C.TOKEN_ABSENT, C.TOKEN_NIL, C.TOKEN_FALSE, C.TOKEN_TRUE
local NUMBER, UNSIGNED, SIGNED = C.TOKEN_NUMBER, C.TOKEN_UNSIGNED, C.TOKEN_SIGNED
local FLOAT32, FLOAT64 = C.TOKEN_FLOAT32, C.TOKEN_FLOAT64
local STR, BIN, EXT = C.TOKEN_STR, C.TOKEN_BIN, C.TOKEN_EXT
local ARRAY, MAP = C.TOKEN_ARRAY, C.TOKEN_MAP
local DEPTH = C.BORDER_DEPTH
local EXACT = 2 ^ 53

local token = border.token
local apart = require("kvgate.world").apart
local next_token, skip = border.next, border.skip
local put, put_bytes, put_raw = border.put, border.put_bytes, border.put_raw
local string_of, istype = ffi.string, ffi.istype
local metatable_of = debug.getmetatable
local unsigned_t, signed_t = ffi.typeof "uint64_t", ffi.typeof "int64_t"

local value = {}

-- ---- kinds ----

local array_mt = { __metatable = false }
local map_mt = { __metatable = false }
local bin_mt = { __metatable = false }
local float_mt = { __metatable = false }
local ext_mt = { __metatable = false }

--- The metatable of an object that shows nothing and takes nothing.
local function sealed(name)
  return {
    __metatable = false,
    __tostring = function() return name end,
    __newindex = function() error(name .. " cannot be changed", 2) end,
  }
end

local null = setmetatable({}, sealed "null")
local opaque_mt = sealed "opaque value"
local opaque_bytes = setmetatable({}, { __mode = "k" }) -- out of reach: it is written unchecked

--- Per table: `order` of keys, kinds of `values` and `keys` that their Lua value does not tell, and
--- the kind that all members of an array share.
local shapes = setmetatable({}, { __mode = "k" })

local function tag(items, metatable, name)
  if items == nil then return setmetatable({}, metatable) end
  if type(items) ~= "table" then error(name .. "(table): not a " .. type(items), 3) end
  local present = metatable_of(items)
  if present and present ~= array_mt and present ~= map_mt then
    error(name .. "(table): the table has a metatable already", 3)
  end
  debug.setmetatable(items, metatable)
  return items
end

---@class kvgate.Value what scripts get
---@field null any stands for nil inside a list or map
local public = { null = null }
value.public = public

--- Mark a table as an array, also when it is empty.
---@param items? table
---@return table
function public.array(items) return tag(items, array_mt, "array") end

--- Mark a table as a map, also when it is empty or its keys are no strings.
---@param items? table
---@return table
function public.map(items) return tag(items, map_mt, "map") end

--- Bytes to be written as msgpack bin.
---@param bytes string
---@return table
function public.bin(bytes)
  if type(bytes) ~= "string" then error("bin(string): not a " .. type(bytes), 2) end
  return setmetatable({ bytes = bytes }, bin_mt)
end

--- A number to be written as float64 even if it is an integer.
---@param number number
---@return table
function public.float(number)
  if type(number) ~= "number" then error("float(number): not a " .. type(number), 2) end
  return setmetatable({ number = number }, float_mt)
end

--- A msgpack extension value.
---@param kind integer -128 to 127
---@param bytes string
---@return table
function public.ext(kind, bytes)
  if type(kind) ~= "number" or kind % 1 ~= 0 or kind < -128 or kind > 127 then
    error("ext(type, bytes): type is an integer from -128 to 127", 2)
  end
  if type(bytes) ~= "string" then error("ext(type, bytes): bytes is a string", 2) end
  return setmetatable({ type = kind, bytes = bytes }, ext_mt)
end

--- An empty map whose keys will be written in this order.
---@param order string[]
---@return table
function value.ordered_map(order)
  local items = setmetatable({}, map_mt)
  shapes[items] = { order = order }
  return items
end

-- ---- reading ----

local decode

--- The kind to remember, if the Lua value would be written as another one.
local function hidden_kind(kind, item)
  if kind == FLOAT32 or kind == BIN then return kind end
  if kind == FLOAT64 and item % 1 == 0 then return kind end
  return nil
end

local function decode_opaque(start)
  token.at = start
  skip(border)
  local object = setmetatable({}, opaque_mt)
  opaque_bytes[object] = string_of(start, token.at - start)
  return object
end

local function decode_array(exact, depth)
  local items, shape, shared = {}, nil, nil
  for index = 1, token.size do
    local kind = next_token(border)
    local item = decode(kind, exact, depth)
    local hidden = hidden_kind(kind, item)
    if item == nil then item = null end
    items[index] = item
    if index == 1 then shared = kind elseif kind ~= shared then shared = nil end
    if hidden then
      shape = shape or { values = {} }
      shape.values[index] = hidden
    end
  end
  if shape then
    shape.shared = shared
    shapes[items] = shape
  end
  return setmetatable(items, array_mt)
end

local function decode_map(depth)
  local start = token.start
  local items, order, values, keys = {}, {}, {}, {}
  for index = 1, token.size do
    local key_kind = next_token(border)
    local key = decode(key_kind, false, depth)
    if key == nil then key = null end
    if key ~= key or items[key] ~= nil then return decode_opaque(start) end
    keys[key] = hidden_kind(key_kind, key)
    local kind = next_token(border)
    local item = decode(kind, false, depth)
    values[key] = hidden_kind(kind, item)
    if item == nil then item = null end
    items[key] = item
    order[index] = key
  end
  shapes[items] = { order = order, values = values, keys = keys }
  return setmetatable(items, map_mt)
end

--- The value in `token`, of that kind. `exact`: integers as 64-bit cdata, also those of an array.
function decode(kind, exact, depth)
  if kind == STR or kind == BIN then return string_of(token.bytes, token.size) end
  if kind == NUMBER then
    if not exact then return token.number end
    if token.number < 0 then return token.i64 end
    return token.u64
  end
  if kind == ABSENT or kind == NIL then return nil end
  if kind == FLOAT64 or kind == FLOAT32 then return token.number end
  if kind == UNSIGNED then return token.u64 end
  if kind == SIGNED then return token.i64 end
  if kind == TRUE then return true end
  if kind == FALSE then return false end
  if kind == EXT then
    return setmetatable({ type = token.ext, bytes = string_of(token.bytes, token.size) }, ext_mt)
  end
  if depth >= DEPTH then return decode_opaque(token.start) end
  if kind == ARRAY then return decode_array(exact, depth + 1) end
  return decode_map(depth + 1)
end

--- The value that border.read found.
---@param kind integer
---@param exact boolean
---@return any
function value.take(kind, exact)
  if kind == ARRAY and token.size == 0 then return setmetatable({}, array_mt) end
  if kind == ARRAY or kind == MAP then
    local items = apart(decode, kind, exact, 0)
    return items
  end
  return decode(kind, exact, 0)
end

-- ---- writing ----

local subject = "" -- the field being written, for messages

local function refuse(text, ...)
  error(("event.%s: %s"):format(subject, text:format(...)), 0)
end

local function checked(fits)
  if not fits then refuse("the value takes more than %d bytes", C.BORDER_VALUE) end
end

local function put_kind(kind, size)
  token.kind = kind
  token.size = size
  checked(put(border))
end

local function put_number(number, kind)
  token.number = number
  put_kind(kind or NUMBER, 0)
end

local function put_integer(integer)
  if istype(unsigned_t, integer) then
    token.u64 = integer
    put_kind(UNSIGNED, 0)
  elseif istype(signed_t, integer) then
    token.i64 = integer
    put_kind(SIGNED, 0)
  else
    refuse("an event or another foreign object cannot be a value")
  end
end

local put_value

local function count_items(items)
  local count = 0
  for key in next, items do
    if type(key) ~= "number" or key % 1 ~= 0 or key < 1 then
      refuse("an array has the key %s", fault.name(key))
    end
    count = count + 1
  end
  return count
end

local function put_array(items, exact, depth)
  local shape = shapes[items] or {}
  local kinds, count = shape.values or {}, count_items(items)
  put_kind(ARRAY, count)
  for index = 1, count do
    local item = rawget(items, index)
    if item == nil then refuse("an array has no item %d; null stands for nil", index) end
    put_value(item, shape.shared or kinds[index], exact, depth)
  end
end

local function comes_before(a, b)
  local kind_a, kind_b = type(a), type(b)
  if kind_a ~= kind_b then return kind_a < kind_b end
  if kind_a == "string" or kind_a == "number" then return a < b end
  return false
end

--- Keys in the order that they had, new ones behind.
local function ordered_keys(items, shape)
  local keys, known, fresh = {}, {}, {}
  for _, key in ipairs(shape.order or {}) do
    known[key] = true
    if rawget(items, key) ~= nil then keys[#keys + 1] = key end
  end
  for key in next, items do
    if not known[key] then fresh[#fresh + 1] = key end
  end
  table.sort(fresh, comes_before)
  for _, key in ipairs(fresh) do keys[#keys + 1] = key end
  return keys
end

local function put_map(items, depth)
  local shape = shapes[items] or {}
  local keys = ordered_keys(items, shape)
  put_kind(MAP, #keys)
  for _, key in ipairs(keys) do
    put_value(key, shape.keys and shape.keys[key], false, depth)
    put_value(rawget(items, key), shape.values and shape.values[key], false, depth)
  end
end

--- Array or map, of a table that is not marked; nil if it is empty.
local function guess(items)
  local numbers, strings = 0, 0
  for key in next, items do
    if type(key) == "number" then numbers = numbers + 1
    elseif type(key) == "string" then strings = strings + 1
    else refuse("a table has a key that is a %s; mark it with map{} of kvgate.value", type(key)) end
  end
  if numbers > 0 and strings > 0 then
    refuse "a table has both numbers and strings as keys; mark it with map{} of kvgate.value"
  end
  return numbers > 0 and ARRAY or strings > 0 and MAP or nil
end

local function put_table(items, empty, exact, depth)
  local metatable = metatable_of(items)
  local kind = metatable == array_mt and ARRAY or metatable == map_mt and MAP
  kind = kind or guess(items) or empty
  if kind == nil then
    refuse "{} may be an array or a map; say array{} or map{} of kvgate.value"
  end
  if depth >= DEPTH then
    refuse("nested deeper than %d levels, or a table that holds itself", DEPTH)
  end
  if kind == ARRAY then return put_array(items, exact, depth + 1) end
  if exact then refuse "takes an array, not a map" end
  return put_map(items, depth + 1)
end

local function put_object(object, empty, exact, depth)
  local metatable = metatable_of(object)
  if object == null then
    put_kind(NIL, 0)
  elseif metatable == bin_mt then
    checked(put_bytes(border, BIN, object.bytes, #object.bytes))
  elseif metatable == float_mt then
    put_number(object.number, FLOAT64)
  elseif metatable == ext_mt then
    token.ext = object.type
    checked(put_bytes(border, EXT, object.bytes, #object.bytes))
  elseif metatable == opaque_mt then
    checked(put_raw(border, opaque_bytes[object], #opaque_bytes[object]))
  else
    put_table(object, empty, exact, depth)
  end
end

--- `kind`: what the value was read as; for a table, what an empty one becomes. `exact`: numbers in
--- this array are hashes.
function put_value(item, kind, exact, depth)
  local lua_type = type(item)
  if lua_type == "number" and exact then
    put_integer(value.integer(item) or refuse("%.17g is no exact 64-bit integer", item))
  elseif lua_type == "number" then
    put_number(item, (kind == FLOAT32 or kind == FLOAT64) and kind)
  elseif lua_type == "string" then
    checked(put_bytes(border, kind == BIN and BIN or STR, item, #item))
  elseif lua_type == "boolean" then
    put_kind(item and TRUE or FALSE, 0)
  elseif lua_type == "table" then
    put_object(item, kind, exact, depth)
  elseif lua_type == "cdata" then
    put_integer(item)
  else
    refuse("a %s cannot be a value", lua_type)
  end
end

--- LuaJIT 2.1.0-beta3 compiles loops over next wrongly where they are part of a recursion: at times
--- it takes a table deep inside for empty.
for _, func in ipairs { count_items, ordered_keys, guess } do jit.off(func) end

--- Write a table (or one of the marked values) into the border's buffer; raises if it cannot be.
---@param name string the field, for messages
---@param item table
---@param empty? integer TOKEN_ARRAY or TOKEN_MAP: what a bare {} becomes
---@param exact boolean an array of hashes
function value.write(name, item, empty, exact)
  subject = name
  border.begin(border)
  apart(put_value, item, empty, exact, 0)
end

--- The member of a script's own { x }, or nil for any other table.
---@param items table
---@return any
function value.single(items)
  if getmetatable(items) ~= nil or next(items) ~= 1 or next(items, 1) ~= nil then return nil end
  return items[1]
end

--- A number or 64-bit integer as exact 64-bit cdata; nil if it is no such thing.
---@param item any
---@return uint64_t|int64_t?
function value.integer(item)
  if type(item) == "number" then
    if item % 1 ~= 0 or item < -EXACT or item > EXACT then return nil end
    if item < 0 then return signed_t(item) end
    return unsigned_t(item)
  end
  if type(item) == "cdata" and (istype(unsigned_t, item) or istype(signed_t, item)) then
    return item
  end
  return nil
end

return value --[[@as kvgate.Value]]

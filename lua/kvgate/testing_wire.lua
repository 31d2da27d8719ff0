--- An independent msgpack writer and reader, and the publisher's events in it.
--
-- Nothing here calls the gateway: what the codec is compared with must not be the codec.  Values
-- that Lua cannot tell apart have markers, tables with a `kind`, so that nil, absent, an empty
-- array, an empty map, bin and float all survive a round trip and `assert.same` sees them differ.
-- An integer of at most 53 bits decodes to a number, a larger one to uint64_t or int64_t cdata.

local ffi = require "ffi"

local wire = {}

wire.null = { kind = "null" }

--- In wire.event: leave this field out.
wire.absent = { kind = "absent" }

--- The batch timestamp that wire.event and wire.payload use unless told otherwise.
wire.timestamp = 1700000000123

---@param items table list of values
function wire.array(items)
  local array = { kind = "array" }
  for index = 1, #items do array[index] = items[index] end
  return array
end

--- A map in the order given; keys may repeat.
---@param pairs_list table list of { key, value }
function wire.map(pairs_list)
  local map = { kind = "map" }
  for index = 1, #pairs_list do map[index] = pairs_list[index] end
  return map
end

function wire.bin(bytes) return { kind = "bin", bytes = bytes } end
function wire.float(value) return { kind = "float", value = value } end
function wire.float32(value) return { kind = "float32", value = value } end
function wire.ext(type, bytes) return { kind = "ext", type = type, bytes = bytes } end

--- Bytes that are msgpack already, or meant not to be.
function wire.raw(bytes) return { kind = "raw", bytes = bytes } end

-- ---- bytes ----

local function reversed(ctype, value)
  return ffi.string(ffi.new(ctype .. "[1]", value), ffi.sizeof(ctype)):reverse()
end

local function u8(value) return string.char(value) end
local function u16(value) return reversed("uint16_t", value) end
local function u32(value) return reversed("uint32_t", value) end
local function u64(value) return reversed("uint64_t", value) end

local function integer_from(bytes, ctype)
  local box = ffi.new(ctype .. "[1]")
  ffi.copy(box, bytes:reverse(), #bytes)
  return box[0]
end

--- Eight bytes, big endian: a sequence frame.
---@param number number|ffi.cdata*
function wire.seq(number) return u64(number) end

---@param bytes string
function wire.hex(bytes)
  return (bytes:gsub(".", function(char) return ("%02x"):format(char:byte()) end))
end

---@param digits string spaces are ignored
function wire.unhex(digits)
  return (digits:gsub("%s", ""):gsub("%x%x", function(pair)
    return string.char(tonumber(pair, 16))
  end))
end

-- ---- writing ----

local function encode_unsigned(value)
  if value < 0x80ULL then return u8(tonumber(value)) end
  if value < 0x100ULL then return "\xcc" .. u8(tonumber(value)) end
  if value < 0x10000ULL then return "\xcd" .. u16(value) end
  if value < 0x100000000ULL then return "\xce" .. u32(value) end
  return "\xcf" .. u64(value)
end

local function encode_negative(value)
  if value >= -0x20LL then return u8(0x100 + tonumber(value)) end
  if value >= -0x80LL then return "\xd0" .. u8(0x100 + tonumber(value)) end
  if value >= -0x8000LL then return "\xd1" .. reversed("int16_t", value) end
  if value >= -0x80000000LL then return "\xd2" .. reversed("int32_t", value) end
  return "\xd3" .. reversed("int64_t", value)
end

local function encode_number(value)
  local whole = value == math.floor(value)
  if whole and value >= 0 and value < 2 ^ 64 then
    return encode_unsigned(ffi.cast("uint64_t", value))
  elseif whole and value < 0 and value >= -2 ^ 63 then
    return encode_negative(ffi.cast("int64_t", value))
  end
  return "\xcb" .. reversed("double", value)
end

local function encode_cdata(value)
  if ffi.istype("uint64_t", value) then return encode_unsigned(value) end
  assert(ffi.istype("int64_t", value), "wire: cannot encode this cdata")
  if value >= 0 then return encode_unsigned(ffi.cast("uint64_t", value)) end
  return encode_negative(value)
end

--- A header with its size in the shortest of the forms that the kind has.
local function header(size, fix, fix_limit, tag8, tag16, tag32)
  if size < fix_limit then return u8(fix + size) end
  if tag8 and size < 0x100 then return u8(tag8) .. u8(size) end
  if size < 0x10000 then return u8(tag16) .. u16(size) end
  return u8(tag32) .. u32(size)
end

local function str_header(size) return header(size, 0xa0, 32, 0xd9, 0xda, 0xdb) end

--- The header of an array that is written by hand, true or not.
function wire.array_header(count) return header(count, 0x90, 16, nil, 0xdc, 0xdd) end

--- The same for a map.
function wire.map_header(count) return header(count, 0x80, 16, nil, 0xde, 0xdf) end

local encode

local function encode_list(items)
  local parts = { wire.array_header(#items) }
  for index = 1, #items do parts[#parts + 1] = encode(items[index]) end
  return table.concat(parts)
end

local function encode_ext(ext)
  local fixed = ({ [1] = "\xd4", [2] = "\xd5", [4] = "\xd6", [8] = "\xd7", [16] = "\xd8" })
  local size = #ext.bytes
  local head = fixed[size] or header(size, 0, 0, 0xc7, 0xc8, 0xc9)
  return head .. u8(ext.type % 256) .. ext.bytes
end

local encoders = {
  null = function() return "\xc0" end,
  raw = function(raw) return raw.bytes end,
  bin = function(bin) return header(#bin.bytes, 0, 0, 0xc4, 0xc5, 0xc6) .. bin.bytes end,
  float = function(float) return "\xcb" .. reversed("double", float.value) end,
  float32 = function(float) return "\xca" .. reversed("float", float.value) end,
  ext = encode_ext,
  array = encode_list,
  map = function(map)
    local parts = { wire.map_header(#map) }
    for _, pair in ipairs(map) do
      parts[#parts + 1] = encode(pair[1]) .. encode(pair[2])
    end
    return table.concat(parts)
  end,
}

--- The msgpack bytes of a value, shortest forms.  A table without a marker is an array.
---@return string
function encode(value)
  local kind = type(value)
  if kind == "string" then return str_header(#value) .. value end
  if kind == "number" then return encode_number(value) end
  if kind == "cdata" then return encode_cdata(value) end
  if kind == "boolean" then return value and "\xc3" or "\xc2" end
  assert(kind == "table", "wire: cannot encode a " .. kind)
  local encoder = value.kind == nil and encode_list or encoders[value.kind]
  assert(encoder, "wire: cannot encode this table")
  return encoder(value)
end

wire.encode = encode

-- ---- reading ----

local function take(bytes, at, size)
  local last = at + size - 1
  assert(last <= #bytes, "wire: cut short")
  return bytes:sub(at, last), last + 1
end

--- A number where a double is exact, else cdata.
local function decode_integer(bytes, at, ctype)
  local text, next_at = take(bytes, at, ffi.sizeof(ctype))
  local value = integer_from(text, ctype)
  if type(value) == "number" then return value, next_at end
  local exact = ctype == "uint64_t" and value <= 0x20000000000000ULL
    or ctype == "int64_t" and value >= -0x20000000000000LL and value <= 0x20000000000000LL
  return exact and tonumber(value) or value, next_at
end

local decode_from

local function decode_list(bytes, at, count)
  local array = { kind = "array" }
  for index = 1, count do array[index], at = decode_from(bytes, at) end
  return array, at
end

local function decode_map(bytes, at, count)
  local map = { kind = "map" }
  for index = 1, count do
    local key, value
    key, at = decode_from(bytes, at)
    value, at = decode_from(bytes, at)
    map[index] = { key, value }
  end
  return map, at
end

local function decode_bin(bytes, at, size)
  local text, next_at = take(bytes, at, size)
  return wire.bin(text), next_at
end

local function decode_ext(bytes, at, size)
  local tag, payload
  tag, at = take(bytes, at, 1)
  payload, at = take(bytes, at, size)
  return wire.ext(integer_from(tag, "int8_t"), payload), at
end

--- Readers of the forms whose size is a field of its own: { width of the size, reader }.
local sized = {
  [0xc4] = { "uint8_t", decode_bin }, [0xc5] = { "uint16_t", decode_bin },
  [0xc6] = { "uint32_t", decode_bin }, [0xc7] = { "uint8_t", decode_ext },
  [0xc8] = { "uint16_t", decode_ext }, [0xc9] = { "uint32_t", decode_ext },
  [0xd9] = { "uint8_t", take }, [0xda] = { "uint16_t", take }, [0xdb] = { "uint32_t", take },
  [0xdc] = { "uint16_t", decode_list }, [0xdd] = { "uint32_t", decode_list },
  [0xde] = { "uint16_t", decode_map }, [0xdf] = { "uint32_t", decode_map },
}

local integers = {
  [0xcc] = "uint8_t", [0xcd] = "uint16_t", [0xce] = "uint32_t", [0xcf] = "uint64_t",
  [0xd0] = "int8_t", [0xd1] = "int16_t", [0xd2] = "int32_t", [0xd3] = "int64_t",
}

local function decode_tagged(bytes, at, tag)
  if sized[tag] then
    local size
    size, at = decode_integer(bytes, at, sized[tag][1])
    return sized[tag][2](bytes, at, size)
  end
  if integers[tag] then return decode_integer(bytes, at, integers[tag]) end
  if tag >= 0xd4 and tag <= 0xd8 then return decode_ext(bytes, at, 2 ^ (tag - 0xd4)) end
  local text
  if tag == 0xca then
    text, at = take(bytes, at, 4)
    return wire.float32(integer_from(text, "float")), at
  elseif tag == 0xcb then
    text, at = take(bytes, at, 8)
    return wire.float(integer_from(text, "double")), at
  end
  local plain = ({ [0xc0] = wire.null, [0xc2] = false, [0xc3] = true })[tag]
  assert(plain ~= nil, "wire: 0xc1")
  return plain, at
end

--- The value that starts at byte `at`, and where the next one starts.
function decode_from(bytes, at)
  local tag = bytes:byte(at)
  assert(tag, "wire: cut short")
  at = at + 1
  if tag < 0x80 then return tag, at end
  if tag < 0x90 then return decode_map(bytes, at, tag - 0x80) end
  if tag < 0xa0 then return decode_list(bytes, at, tag - 0x90) end
  if tag < 0xc0 then return take(bytes, at, tag - 0xa0) end
  if tag >= 0xe0 then return tag - 0x100, at end
  return decode_tagged(bytes, at, tag)
end

wire.decode_from = decode_from

--- The one value that `bytes` hold; raises when they hold less or more.
function wire.decode(bytes)
  local value, at = decode_from(bytes, 1)
  assert(at == #bytes + 1, "wire: trailing bytes")
  return value
end

--- The events of a payload, each the bytes that it is.
---@param payload string
---@return string[]
function wire.events(payload)
  local _, at = decode_from(payload, 2)
  local tag = payload:byte(at)
  local count = tag - 0x90
  at = at + 1
  if tag == 0xdc then count, at = decode_integer(payload, at, "uint16_t") end
  if tag == 0xdd then count, at = decode_integer(payload, at, "uint32_t") end
  local events = {}
  for index = 1, count do
    local from = at
    at = select(2, decode_from(payload, at))
    events[index] = payload:sub(from, at - 1)
  end
  return events
end

--- The first value of `name` in a map, nil when the key is absent.
function wire.get(map, name)
  for _, pair in ipairs(map) do
    if pair[1] == name then return pair[2] end
  end
end

--- The keys of a map, in order.
function wire.names(map)
  local names = {}
  for index, pair in ipairs(map) do names[index] = pair[1] end
  return names
end

-- ---- the publisher ----

local LEGACY_TYPE = {
  stored = "BlockStored", removed = "BlockRemoved", cleared = "AllBlocksCleared",
}

--- Every field in the order of the wire, those of the key-parsing generation too.
local ORDER = {
  "event_id", "timestamp", "event_type", "type", "model_name", "block_size", "additional_salt",
  "lora_name", "tenant_id", "backend_id", "medium", "dp_rank", "group_id", "object_key",
  "connector_block_hash", "cache_prefix", "tp_rank", "head_or_tp_rank", "pcp_rank", "dcp_rank",
  "pp_rank", "layer_id", "seq_hashes", "block_hashes", "base_block_idx", "parent_hash",
  "token_ids", "parent_block_hash",
}

local function envelope_defaults(kind)
  return {
    event_id = 1, timestamp = wire.timestamp, event_type = kind, type = LEGACY_TYPE[kind],
    model_name = wire.null, block_size = wire.null, additional_salt = wire.null,
    lora_name = wire.null, tenant_id = "default", backend_id = "mooncake", medium = "cpu",
    dp_rank = 0,
  }
end

local function event_defaults(kind, fields)
  local defaults = envelope_defaults(kind)
  if kind == "cleared" then
    defaults.medium = wire.null
    return defaults
  end
  defaults.group_id = wire.null
  defaults.object_key = "k"
  defaults.seq_hashes = wire.array {}
  defaults.block_hashes = fields.seq_hashes or defaults.seq_hashes
  defaults.base_block_idx = wire.null
  if kind == "stored" then
    defaults.parent_hash = wire.null
    defaults.token_ids = wire.null
    defaults.parent_block_hash = fields.parent_hash or wire.null
  end
  return defaults
end

local function drop_legacy(defaults)
  defaults.type = nil
  defaults.block_hashes = nil
  defaults.parent_block_hash = nil
end

local function unknown_names(fields)
  local known, names = { legacy = true }, {}
  for _, name in ipairs(ORDER) do known[name] = true end
  for name in pairs(fields) do
    if not known[name] then names[#names + 1] = name end
  end
  table.sort(names)
  return names
end

--- One event as a map, fields in the publisher's order, unknown ones behind them.
-- `legacy = false` leaves the legacy aliases out; wire.absent leaves a field out.
---@param fields table name -> value; `event_type` is "stored" unless given
function wire.event(fields)
  local defaults = event_defaults(fields.event_type or "stored", fields)
  if fields.legacy == false then drop_legacy(defaults) end
  local list = {}
  local function add(name, value)
    if value ~= nil and value ~= wire.absent then list[#list + 1] = { name, value } end
  end
  for _, name in ipairs(ORDER) do
    if fields[name] ~= nil then add(name, fields[name]) else add(name, defaults[name]) end
  end
  for _, name in ipairs(unknown_names(fields)) do add(name, fields[name]) end
  return wire.map(list)
end

---@param fields? table
function wire.cleared(fields)
  local copy = { event_type = "cleared" }
  for name, value in pairs(fields or {}) do copy[name] = value end
  return wire.event(copy)
end

--- The bytes of one message.
---@param timestamp? any wire.timestamp unless given
---@param events? table list of events; wire.raw goes in as it is
---@param rank? any 0 unless given
---@return string
function wire.payload(timestamp, events, rank)
  if timestamp == nil then timestamp = wire.timestamp end
  if rank == nil then rank = 0 end
  return "\x93" .. encode(timestamp) .. encode(wire.array(events or {})) .. encode(rank)
end

return wire

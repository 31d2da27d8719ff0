--- LMCache's keys: those of its engine workers in all forms they had, and those of its MP server.
--
-- A chunk's hash is a signed integer in hexadecimal without leading zeros, or in decimal.

local ffi = require "ffi"

local signed_t, unsigned_t = ffi.typeof "int64_t", ffi.typeof "uint64_t"

local forms = {}

-- ---- what stands behind the hash ----

local DTYPES = {}
for name in ([[half float16 bfloat16 float float32 double float64 uint8 int8 int16 int32 int64 bool
  fp8_e4m3fn fp8_e4m3fnuz fp8_e5m2 fp8_e5m2fnuz fp8_e4m3 fp8 uint16 uint32 uint64]])
  :gmatch "%S+" do DTYPES[name] = true end

--- `[dtype][@layer][@tag%value ...]`; nil if it is anything else.
---@return { dtype: string?, layer: number?, tags: table<string, string>? }?
local function read_tail(tail)
  local read, first = {}, true
  for part in (tail .. "@"):gmatch "([^@]*)@" do
    local name, value = part:match "^([^%%]+)%%(.*)$"
    if name then
      read.tags = read.tags or {}
      read.tags[name] = value
    elseif first and DTYPES[part] then
      read.dtype = part
    elseif read.dtype and not read.layer and part:find "^%d+$" and #part <= 9 then
      read.layer = tonumber(part)
    else
      return nil
    end
    first = false
  end
  return read
end

--- The format that older keys begin with.
local function split_format(model)
  local format, rest = model:match "^(%l+)@(.+)$"
  if format == "vllm" or format == "huggingface" then return format, rest end
  return nil, model
end

-- A decimal of 256 bits has 78 digits.
local function is_hash(match) return #match:string "digest" <= 78 end

--- With a tail: it must be one, and only keys with a format do without a dtype.
local function accept_tail(match)
  local read = is_hash(match) and read_tail(match:string "tail")
  return read and (read.dtype ~= nil or split_format(match:string "model") ~= nil)
end

local function accept_bare(match)
  return is_hash(match) and split_format(match:string "model") ~= nil
end

-- ---- the hash ----

--- Decimal or hexadecimal? Decimals of 64 and 256 bits are of widths that hexadecimal ones lack.
local function is_decimal(digits)
  return not digits:find "%a" and (#digits >= 17 and #digits <= 20 or #digits > 64)
end

--- A decimal of any size, modulo 2^64.
local function read_decimal(digits)
  local number = 0ULL
  for i = 1, #digits do number = number * 10 + (digits:byte(i) - 48) end
  return number
end

local function bare_hash(match)
  local digits = match:string "digest"
  if is_decimal(digits) then return read_decimal(digits) end
  return match:low64 "digest"
end

-- Bits of a negative number, as its two's complement.
local function negative_hash(match) return unsigned_t(0) - match:low64 "digest" end
local function negative_bare_hash(match) return unsigned_t(0) - bare_hash(match) end

-- ---- the forms ----

local function refine(record)
  local format
  format, record.model = split_format(record.model)
  record.format = format
  if record.tail then
    local read = read_tail(record.tail)
    record.dtype, record.layer, record.tags = read.dtype, read.layer, read.tags
    record.tail = nil
  end
  record.version = not format and "d" or record.dtype and "c" or record.tags and "b" or "a"
end

local function refine_negative(record)
  record.digest = "-" .. record.digest
  record.hash = ffi.cast(signed_t, record.hash)
  refine(record)
end

--- The layer is the part; tags are no model's.
local TAIL = {
  tail = function(tail)
    local read = read_tail(tail)
    local dtype = read.dtype or ""
    local rest = tail:sub(#dtype + 1)
    local layer = read.layer and rest:match "^@%d+" or ""
    rest = rest:sub(#layer + 1)
    return dtype .. rest, layer, dtype
  end,
}

local HEAD = "{model}@{world:int}@{worker:int}@"

forms["lmcache"] = {
  {
    version = "d", accept = accept_tail, refine = refine, parts = TAIL,
    template = HEAD .. "{digest:hex}@{tail}",
  },
  {
    version = "d", accept = accept_tail, refine = refine_negative, project = negative_hash,
    parts = TAIL,
    template = HEAD .. "-{digest:hex}@{tail}",
  },
  {
    version = "a", accept = accept_bare, refine = refine, project = bare_hash,
    template = HEAD .. "{digest:hex}",
  },
  {
    version = "a", accept = accept_bare, refine = refine_negative, project = negative_bare_hash,
    template = HEAD .. "-{digest:hex}",
  },
}

-- ---- the MP server ----

local function is_clean(salt)
  return salt == nil or #salt <= 128 and not salt:find "[@/\\%z]"
end

--- Widths tell the fields of these keys apart: nothing labels them.
local function accept_object(match)
  local digits = #match:string "digest"
  return #match:string "kv_rank" == 8 and digits >= 16 and digits % 2 == 0
    and not match:string "model":find("@", 1, true) and is_clean(match:string "salt")
end

local function accept_group(match)
  return #match:string "group" <= 8 and accept_object(match)
end

--- kv_rank is four bytes: world, rank, and both again on one host.
local function refine_object(record)
  local bytes = {}
  for byte in record.kv_rank:gmatch "%x%x" do bytes[#bytes + 1] = tonumber(byte, 16) end
  record.world, record.worker, record.local_world, record.local_rank = unpack(bytes)
  record.group = record.group and tonumber(record.group, 16)
end

--- A block's key is that of the first worker.
local RANK = {
  kv_rank = function(rank) return rank:sub(1, 2) .. "00" .. rank:sub(5, 6) .. "00", rank end,
}

local function refine_file(record)
  record.model = record.model:gsub("%-SEP%-", "/")
  refine_object(record)
end

forms["lmcache-mp"] = {
  {
    version = "file", accept = accept_group, refine = refine_file, parts = RANK,
    template = "{model}@0x{kv_rank:hex}@{group:hex}@{digest:hex}[@{salt}].data",
  },
  {
    version = "group", accept = accept_group, refine = refine_object, parts = RANK,
    template = "{model}@{kv_rank:hex}@{group:hex}@{digest:hex}[@{salt}]",
  },
  {
    version = "no group", accept = accept_object, refine = refine_object, parts = RANK,
    template = "{model}@{kv_rank:hex}@{digest:hex}[@{salt}]",
  },
}

return forms

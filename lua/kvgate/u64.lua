--- Exact 64-bit integers: hashes and ids.
--
-- Events give them as `uint64_t` cdata. Two that are equal compare equal with ==, but they are not
-- the same table key, print with a suffix and mix badly with numbers; so parse, print and key them
-- here. Never convert one to a number.

local ffi = require "ffi"
local bit = require "bit"

local unsigned_t, signed_t = ffi.typeof "uint64_t", ffi.typeof "int64_t"
local istype = ffi.istype
local band, rshift, tohex = bit.band, bit.rshift, bit.tohex

local HIGHEST, LOWEST = 1844674407, 3709551615 -- the digits of 2^64 - 1
local EXACT = 2 ^ 53

local u64 = {}

--- The same 64 bits as uint64_t. A number must be an exact integer.
---@param value uint64_t|int64_t|integer
---@return uint64_t
local function unsigned(value)
  if type(value) == "number" then
    if value % 1 == 0 and value >= 0 and value <= EXACT then return unsigned_t(value) end
    error(("%.17g is no exact 64-bit integer"):format(value), 3)
  end
  if istype(unsigned_t, value) or istype(signed_t, value) then return unsigned_t(value) end
  error("expected a 64-bit integer, not a " .. type(value), 3)
end

-- Digits are read in two halves, each small enough for a number: no loop, which compiled code of a
-- filter would have to leave.

local function parse_hex(digits)
  if #digits > 16 or not digits:find "^%x+$" then return nil end
  local high, low = digits:sub(1, -9), digits:sub(-8)
  return unsigned_t(tonumber("0" .. high, 16)) * 2 ^ 32 + tonumber(low, 16)
end

local function parse_decimal(text)
  local digits = text:match "^0*(%d+)$"
  if not digits or #digits > 20 then return nil end
  local high, low = tonumber("0" .. digits:sub(1, -11)), tonumber(digits:sub(-10))
  if high > HIGHEST or high == HIGHEST and low > LOWEST then return nil end
  return unsigned_t(high) * 10 ^ 10 + low
end

--- Read a decimal, or hexadecimal behind 0x. nil if the text is neither, or above 2^64 - 1.
---@param text string
---@return uint64_t?
function u64.parse(text)
  if type(text) ~= "string" or #text > 64 then return nil end
  local prefix = text:sub(1, 2)
  if prefix == "0x" or prefix == "0X" then return parse_hex(text:sub(3)) end
  return parse_decimal(text)
end

local function is_digest(text)
  return type(text) == "string" and #text <= 1024 and text:find "^%x+$" ~= nil
end

--- The last 16 hex digits of a digest: its low 64 bits. A shorter one is the whole number. nil if
--- it is not hexadecimal.
---@param digest string
---@return uint64_t?
function u64.low(digest) return is_digest(digest) and parse_hex(digest:sub(-16)) or nil end

--- The first 16 hex digits of a digest: its high 64 bits. Otherwise as `low`.
---@param digest string
---@return uint64_t?
function u64.high(digest) return is_digest(digest) and parse_hex(digest:sub(1, 16)) or nil end

--- Decimal digits, without a suffix.
---@param value uint64_t|int64_t|integer an int64_t prints with its sign
---@return string
function u64.tostring(value)
  if istype(signed_t, value) then return (tostring(value):gsub("LL$", "")) end
  return (tostring(unsigned(value)):gsub("ULL$", ""))
end

--- 16 lower-case hex digits.
---@param value uint64_t|int64_t|integer
---@return string
function u64.hex(value)
  local bits = unsigned(value)
  return tohex(tonumber(rshift(bits, 32))) .. tohex(tonumber(band(bits, 0xffffffffULL)))
end

--- A short string that is the same for equal values: use it as a table key.
---@param value uint64_t|int64_t|integer
---@return string
function u64.key(value)
  local box = ffi.new("uint64_t[1]", unsigned(value))
  return ffi.string(box, 8)
end

--- The same 64 bits read as signed: what publishers that cast their hashes send.
---@param value uint64_t|int64_t|integer
---@return int64_t
function u64.signed(value) return signed_t(unsigned(value)) end

--- The same 64 bits read as unsigned.
---@param value uint64_t|int64_t|integer
---@return uint64_t
function u64.unsigned(value) return unsigned(value) end

return u64

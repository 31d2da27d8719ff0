--- Keyed digests: equal values have equal ones, and nobody without the secret can tell of which.
--
--   local digest = require "kvgate.digest"
--   local keyed = digest.new(options.secret)              -- once, at load
--   keyed:replace(event, "object_key")
--   local part = keyed:field(event, "backend_id") % 4
--
-- They are the same in every gateway that has the secret, and after a restart.

local ffi = require "ffi"
local border = require "kvgate.border"
local events = require "kvgate.event"
local fault = require "kvgate.fault"
local u64 = require "kvgate.u64"

local C = border.digests
local KEY, HEX = ffi.C.DIGEST_KEY, ffi.C.DIGEST_HEX
local NOTHING, DONE, FULL = ffi.C.DIGEST_NOTHING, ffi.C.DIGEST_DONE, ffi.C.DIGEST_FULL
local NAMED = ffi.C.EVENT_NAMED
local string_of = ffi.string
local hex, bytes, integer, field, replace = C.hex, C.bytes, C.integer, C.field, C.replace
local event_of, field_of = events.event, events.field
local check_writable, full = events.check_writable, events.full

local digest = {}

local REFUSED = {
  [ffi.C.DIGEST_SEVERAL] = "a list of several, which have no digest in common",
  [ffi.C.DIGEST_OTHER] = ("neither a text nor an integer, nor a list of up to %d of them")
    :format(ffi.C.DIGEST_LIST),
}

local function refuse_field(name, found)
  if found == FULL then full() end
  error(("event.%s is %s"):format(name, REFUSED[found]), 0)
end

local function methods_of(key)
  local digits, number = ffi.new("char[?]", HEX), ffi.new "uint64_t[1]"

  ---@class kvgate.Digest
  local methods = {}

  --- The whole digest, as 32 hexadecimal digits.
  ---@param text string
  ---@return string
  function methods:hex(text) -- luacheck: ignore 212/self
    if type(text) ~= "string" then error("hex takes a string, not " .. fault.name(text), 0) end
    hex(key, text, #text, digits)
    return string_of(digits, HEX)
  end

  --- The digest's first 64 bits.
  ---@param value string|kvgate.Integer
  ---@return uint64_t
  function methods:u64(value) -- luacheck: ignore 212/self
    if type(value) == "string" then return bytes(key, value, #value) end
    return integer(key, u64.unsigned(value))
  end

  --- The same of what a field of an event holds; a list of one counts as its member. nil if it is
  --- absent, nil or an empty list. Raises for a list of several, and what is no text or integer.
  ---@param event kvgate.Event
  ---@param name string
  ---@return uint64_t?
  function methods:field(event, name) -- luacheck: ignore 212/self
    local slot = event_of(event)
    if type(name) ~= "string" then
      error("a field's name is a string, not " .. fault.name(name), 0)
    end
    local found = field(key, slot, field_of(name) or NAMED, name, #name, number)
    if found == DONE then return number[0] end
    if found == NOTHING then return nil end
    refuse_field(name, found)
  end

  --- Put digests in place of what a field holds: the 32 digits for a text, the 64 bits for an
  --- integer, member by member for a list. nil, absent and empty stay so; the rest raises.
  ---@param event kvgate.Event
  ---@param name string
  function methods:replace(event, name) -- luacheck: ignore 212/self
    local slot = event_of(event)
    check_writable(name)
    local found = replace(key, border, slot, field_of(name) or NAMED, name, #name)
    if found ~= DONE and found ~= NOTHING then refuse_field(name, found) end
  end

  return methods
end

--- Digests with a key that is made of this secret.
---@param secret string of any size; what shall stay secret has at least 16 random bytes
---@return kvgate.Digest
function digest.new(secret)
  if type(secret) ~= "string" then
    error("a secret is a string, not a " .. type(secret), 0)
  end
  local key = ffi.new("uint8_t[?]", KEY)
  C.key(key, secret, #secret)
  return setmetatable({}, {
    __index = methods_of(key),
    __newindex = function() error("a digest cannot be changed", 0) end,
    __metatable = false,
  })
end

return digest

--- Tables that survive a reload.
--
--   local state = require "kvgate.state"
--   local seen = state.table("seen", { version = 1 })     -- once, at load
--   seen[key] = (seen[key] or 0) + 1
--
-- Nothing is written anywhere: when the gateway ends they end. What a reload cannot keep starts
-- anew, and the answer to the reload says which and why.

local border = require "kvgate.border"
local fault = require "kvgate.fault"
local loader = require "kvgate.loader"
local world = require "kvgate.world"

local MAX, MOST = 1024 * 1024, 64 * 1024 * 1024 -- bytes
local VERSION_MAX = 2 ^ 53
local NAME_MAX = 64
local OPTIONS = { "max", "version" }

local state = {}

local function whole(value, least, most)
  return type(value) == "number" and value % 1 == 0 and value >= least and value <= most
end

local function check_options(name, options)
  local what = ("state.table %q: "):format(name)
  if type(options) ~= "table" then
    error(what .. "expected options such as { version = 1 }, not " .. fault.name(options), 0)
  end
  for key in next, options do
    if key ~= "max" and key ~= "version" then
      error(("%sunknown option '%s'%s"):format(what, tostring(key), fault.hint(key, OPTIONS)), 0)
    end
  end
  local version, max = rawget(options, "version"), rawget(options, "max")
  if not whole(version, 0, VERSION_MAX) then
    error(("%sversion is a whole number, not %s"):format(what, fault.name(version)), 0)
  end
  if max ~= nil and not whole(max, 1, MOST) then
    error(("%smax is a whole number of bytes up to %d, not %s")
      :format(what, MOST, fault.name(max)), 0)
  end
  return version, max or MAX
end

--- A table of this filter's own, with what it held before the reload if name and version are the
--- same. Give it another version when what is in it changes its meaning.
---
--- It may hold strings, numbers, booleans, 64-bit integers and tables of them, up to 64 deep.
---@param name string
---@param options { version: integer, max?: integer } max: bytes that it may take; 1 MiB if absent
---@return table
function state.table(name, options)
  if type(name) ~= "string" or #name == 0 or #name > NAME_MAX or name:find "[%c%z]" then
    error(("state.table: a name is a text of 1 to %d bytes, not %s")
      :format(NAME_MAX, fault.name(name)), 0)
  end
  local version, max = check_options(name, options)
  if border.batch.serial ~= 0 then
    error(("state.table %q: declare it while the filter loads"):format(name), 0)
  end
  local kept, wrong = world.kept(loader, name, version, max)
  if not kept then error(("state.table %q: %s"):format(name, wrong), 0) end
  return kept
end

return state

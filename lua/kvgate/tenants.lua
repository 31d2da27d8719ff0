--- Tenants that a filter makes up, which the publisher knows nothing of.
--
--   local tenants = require "kvgate.tenants"
--   local known = tenants.new { "acme" }
--   known:add(salt); event.tenant_id = salt          -- for every event
--   if match.is_cleared(event) then return known:clear(event) end
--
-- A store clears the tenants that it has. What a filter moved to others would stay in readers for
-- ever, so `cleared` is repeated for all that the filter knows: those given and those it met, also
-- before a reload.

local fault = require "kvgate.fault"
local state = require "kvgate.state"

local TENANTS_MAX = 1000 -- a `cleared` becomes so many events
local NAME_MAX = 256     -- bytes

local tenants = {}

--- Mooncake's rule for tenants, and a length.
local function is_tenant(name)
  return type(name) == "string" and #name > 0 and #name <= NAME_MAX
    and not name:find "^_" and not name:find "[%z\1-\31\127]"
end

local function methods_of(names, seen)
  ---@class kvgate.Tenants
  local methods = {}

  --- Remember a tenant. Raises if that is none, or one too many.
  ---@param name string
  function methods:add(name) -- luacheck: ignore 212/self
    if seen[name] then return end
    if not is_tenant(name) then
      local shown = type(name) == "string" and ("%q"):format(name:sub(1, 64)) or fault.name(name)
      error(("no tenant: %s; expected 1 to %d bytes, none of them a control character, the first "
        .. "no _"):format(shown, NAME_MAX), 0)
    end
    if #names == TENANTS_MAX then
      error(("more than %d tenants: %q is one too many"):format(TENANTS_MAX, name), 0)
    end
    names[#names + 1], seen[name] = name, true
  end

  --- The verdict on a `cleared`: that event, and one for each tenant that is remembered.
  ---@param event kvgate.Event
  ---@return kvgate.Event[]
  function methods:clear(event) -- luacheck: ignore 212/self
    local events, own = { event }, event.tenant_id
    for i = 1, #names do
      if names[i] ~= own then
        local copy = event:copy()
        copy.tenant_id = names[i]
        events[#events + 1] = copy
      end
    end
    return events
  end

  return methods
end

--- A set of tenants. Make it while the filter loads; it survives reloads.
---@param names string[]? those that are known before the first event
---@param name string? to tell several sets of one filter apart
---@return kvgate.Tenants
function tenants.new(names, name)
  local kept = state.table(name or "tenants", { version = 1 })
  local seen = {}
  for _, tenant in ipairs(kept) do seen[tenant] = true end
  local set = setmetatable({}, {
    __index = methods_of(kept, seen),
    __newindex = function() error("a set of tenants cannot be changed so: use add", 0) end,
    __metatable = false,
  })
  for _, tenant in ipairs(names or {}) do set:add(tenant) end
  return set
end

return tenants

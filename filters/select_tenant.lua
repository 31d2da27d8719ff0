--- Keep or drop the events of some tenants.
--
-- A `cleared` that names no tenant concerns all of them, so it always passes.

local check = require "kvgate.options"
local match = require "kvgate.match"

---@param options { keep: string|string[] } | { drop: string|string[] }
---@return kvgate.Filter
return function(options)
  local list, keep = check.selection(options)
  local listed = check.set(list)

  return function(event)
    local tenant = event.tenant_id
    if match.concerns_all(event, tenant) then return true end
    return (listed[tenant] or false) == keep
  end
end

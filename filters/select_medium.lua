--- Keep or drop the events of some storage tiers: cpu, disk.
--
-- `cleared` names no medium: it retracts every tier at once, so it always passes.

local check = require "kvgate.options"
local match = require "kvgate.match"

---@param options { keep: string|string[] } | { drop: string|string[] }
---@return kvgate.Filter
return function(options)
  local list, keep = check.selection(options)
  local listed = check.set(list)

  return function(event)
    local medium = event.medium
    if match.concerns_all(event, medium) then return true end
    return (listed[medium] or false) == keep
  end
end

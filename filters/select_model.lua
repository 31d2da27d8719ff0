--- Keep or drop the events of some models.
--
-- A `cleared` that names no model concerns all of them, so it always passes.

local check = require "kvgate.options"
local match = require "kvgate.match"

---@param options { keep: string|string[] } | { drop: string|string[] }
---@return kvgate.Filter
return function(options)
  local list, keep = check.selection(options)
  local listed = check.set(list)

  return function(event)
    local model = event.model_name
    if match.concerns_all(event, model) then return true end
    return (listed[model] or false) == keep
  end
end

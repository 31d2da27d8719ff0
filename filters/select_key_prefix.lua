--- Keep or drop the events of objects whose key starts in one of some ways.
--
-- `cleared` names no key: it retracts all of them at once, so it always passes.

local check = require "kvgate.options"
local keys = require "kvgate.keys"
local match = require "kvgate.match"

---@param options { keep: string|string[] } | { drop: string|string[] }
---@return kvgate.Filter
return function(options)
  local prefixes, keep = check.selection(options)
  local templates = {}
  for i, prefix in ipairs(prefixes) do templates[i] = keys.starting_with(prefix) end

  return function(event)
    for i = 1, #templates do
      if templates[i]:match(event, "object_key") then return keep end
    end
    return not keep or match.concerns_all(event, event.object_key)
  end
end

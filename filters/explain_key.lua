--- Put what an object key says into a field of the event, as a map: for the eye, on a stream that
-- people look at. `kvgate try --explain-keys` asks this filter.
--
-- A key of none of the conventions gets their names. `cleared` names no key and passes.

local check = require "kvgate.options"
local keys = require "kvgate.keys"

---@param options { conventions?: string|string[], models?: string|string[], field?: string }
---@return kvgate.Filter
return function(options)
  local given = check.options(options, {
    conventions = "strings", models = "strings", field = "string",
  })
  local reader = keys.reader(given.conventions, given.models)
  local field = given.field or "key"

  return function(event)
    if event.object_key == nil then return true end
    event[field] = reader:read(event) or { matches_none_of = reader:names() }
    return event
  end
end

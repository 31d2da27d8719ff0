--- Give events another backend_id: one for all, or a new name for each old one.
--
-- `cleared` carries its backend_id like every other event, and is renamed with them.

local check = require "kvgate.options"

--- Backends that `map` does not name keep their names.
---@param options { backend_id: string } | { map: table<string, string> }
---@return kvgate.Filter
return function(options)
  local given = check.options(options, { backend_id = "string", map = "map" })
  check.one_of(given, "backend_id", "map")
  local fixed, map = given.backend_id, {}
  for old, new in pairs(given.map or {}) do
    if type(new) ~= "string" or new == "" then check.refuse("map." .. old, "a string", new) end
    map[old] = new
  end

  return function(event)
    local name = fixed or map[event.backend_id]
    if name then event.backend_id = name end
    return event
  end
end

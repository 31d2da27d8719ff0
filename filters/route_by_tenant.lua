--- Send each tenant's events to the streams of that tenant.
--
-- A `cleared` that names no tenant concerns all of them, so it goes to every stream.

local check = require "kvgate.options"
local match = require "kvgate.match"

--- A verdict: the name of a stream, a list of names, or false.
local function read_route(name, route)
  if route == false or type(route) == "string" and route ~= "" then return route end
  if type(route) == "table" and #route > 0 then
    local names = {}
    for i, stream in ipairs(route) do
      if type(stream) ~= "string" then check.refuse(name, "names of streams", stream) end
      names[i] = stream
    end
    return names
  end
  check.refuse(name, "a stream, a list of streams or false", route)
end

--- `default` is for tenants without a route; without it they are dropped.
---@param options { routes: table<string, string|string[]|false>, default?: string|string[]|false }
---@return kvgate.Filter
return function(options)
  local given = check.options(options, { routes = "map", default = "any" })
  if not given.routes then check.refuse("routes", "a map from tenants to streams", nil) end
  local routes = {}
  for tenant, route in pairs(given.routes) do
    routes[tenant] = read_route("routes." .. tenant, route)
  end
  local default = read_route("default", given.default or false)

  return function(event)
    local tenant = event.tenant_id
    if match.concerns_all(event, tenant) then return true end
    local route = routes[tenant]
    if route == nil then return default end
    return route
  end
end

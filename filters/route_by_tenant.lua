--- Send each tenant's events to the streams of that tenant.
--
-- A `cleared` that names no tenant concerns all of them, so it goes to every stream.

local check = require "kvgate.options"
local match = require "kvgate.match"

--- `default` is for tenants without a route; without it they are dropped.
---@param options { routes: table<string, string|string[]|false>, default?: string|string[]|false }
---@return kvgate.Filter
return function(options)
  local given = check.options(options, { routes = "map", default = "streams" })
  if not given.routes then check.refuse("routes", "a map from tenants to streams", nil) end
  local routes = {}
  for tenant, route in pairs(given.routes) do
    routes[tenant] = check.streams("routes." .. tenant, route)
  end
  local default = given.default or false

  return function(event)
    local tenant = event.tenant_id
    if match.concerns_all(event, tenant) then return true end
    local route = routes[tenant]
    if route == nil then return default end
    return route
  end
end

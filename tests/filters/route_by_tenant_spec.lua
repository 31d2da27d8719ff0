local filter = require "kvgate.testing"

local STREAMS = { "acme", "globex", "rest" }

--- Per stream the tenants of the events that it got, in order.
local function route(options, events)
  local tenants = {}
  for stream, out in pairs(filter.run("route_by_tenant.lua", options, events, STREAMS)) do
    local names = {}
    for i, event in ipairs(out) do
      names[i] = type(event.tenant_id) == "string" and event.tenant_id or "?"
    end
    tenants[stream] = table.concat(names, " ")
  end
  return tenants
end

describe("route_by_tenant", function()
  local events = {
    { event_type = "stored", tenant_id = "acme" },
    { event_type = "stored", tenant_id = "globex" },
    { event_type = "removed", tenant_id = "acme" },
    { event_type = "stored", tenant_id = "initech" },
    { event_type = "stored", tenant_id = filter.null },
  }

  it("sends a tenant's events to its stream, and drops the rest", function()
    assert.same({ acme = "acme acme", globex = "globex", rest = "" },
      route({ routes = { acme = "acme", globex = "globex" } }, events))
  end)

  it("sends a tenant's events to several streams", function()
    assert.same({ acme = "acme acme", globex = "", rest = "acme acme" },
      route({ routes = { acme = { "acme", "rest" } } }, events))
  end)

  it("sends tenants without a route where the default says", function()
    local routes = { acme = "acme", globex = false }
    assert.same({ acme = "acme acme", globex = "", rest = "initech ?" },
      route({ routes = routes, default = "rest" }, events))
    assert.same({ acme = "acme acme initech ?", globex = "", rest = "initech ?" },
      route({ routes = routes, default = { "acme", "rest" } }, events))
    assert.same({ acme = "acme acme", globex = "", rest = "" },
      route({ routes = routes, default = false }, events))
  end)

  it("routes cleared by its tenant, and one that names none to every stream", function()
    local options = { routes = { acme = "acme", globex = "globex" } }
    assert.same({ acme = "acme", globex = "", rest = "" },
      route(options, { { event_type = "cleared", tenant_id = "acme" } }))
    assert.same({ acme = "?", globex = "?", rest = "?" },
      route(options, { { event_type = "cleared", tenant_id = filter.absent } }))
  end)

  for _, case in ipairs({
    { "no routes", {}, 'option "routes": expected a map from tenants to streams, not nil' },
    { "a list of routes", { routes = { "acme" } }, 'option "routes": expected a map' },
    { "a route that is a number", { routes = { acme = 1 } },
      'option "routes.acme": expected a stream, a list of streams or false, not the number 1' },
    { "a route with a number in it", { routes = { acme = { "acme", 1 } } },
      "expected a stream, a list of streams or false, not a list with the number 1 in it" },
    { "a route to a misspelt stream", { routes = { acme = "acmee" } },
      'option "routes.acme": no stream is called "acmee"; did you mean "acme"? '
        .. "known are acme, globex, rest" },
    { "a misspelt stream in a list", { routes = { acme = { "acme", "globe" } } },
      'option "routes.acme": no stream is called "globe"; did you mean "globex"?' },
    { "a misspelt default", { routes = { acme = "acme" }, default = "resd" },
      'option "default": no stream is called "resd"; did you mean "rest"?' },
    { "a default that is true", { routes = { acme = "acme" }, default = true },
      'option "default": expected a stream, a list of streams or false, not true' },
    { "an unknown option", { route = {} }, 'did you mean "routes"' },
  }) do
    it("refuses " .. case[1], function()
      local why = filter.mistake("route_by_tenant.lua", case[2], STREAMS)
      assert.truthy(why and why:find(case[3], 1, true), why)
    end)
  end
end)

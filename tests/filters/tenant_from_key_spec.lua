local filter = require "kvgate.testing"

local H64 = "6358e31578a64b75ebe28cdb99d3beae65de82a2087321dc6ec84ae048faaaa6"
local MP = "Qwen/Qwen3-8B@01000100@0@" .. H64

--- The tenants that come out for some keys of tenant "default", in order.
local function tenants(options, keys)
  local events, names = {}, {}
  for i, key in ipairs(keys) do
    events[i] = { event_type = "stored", object_key = key, tenant_id = "default" }
  end
  for i, event in ipairs(filter.run("tenant_from_key.lua", options, events)) do
    names[i] = event.tenant_id
  end
  return names
end

--- The tenants of what a cleared behind these keys becomes, sorted.
local function cleared(options, keys)
  local events = {}
  for i, key in ipairs(keys) do
    events[i] = { event_type = "stored", object_key = key, tenant_id = "default" }
  end
  events[#events + 1] = { event_type = "cleared", tenant_id = "default" }
  local names = {}
  for _, event in ipairs(filter.run("tenant_from_key.lua", options, events)) do
    if event.event_type == "cleared" then names[#names + 1] = event.tenant_id end
  end
  table.sort(names)
  return names
end

describe("tenant_from_key", function()
  it("takes the salt of LMCache's keys", function()
    assert.same({ "acme", "default", "default", "globex" },
      tenants({}, { MP .. "@acme", MP, "weights/layer.0", MP .. "@globex" }))
  end)

  it("takes a tag of LMCache's keys", function()
    local key = "m@2@1@1fa@half@lane%fast@tenant%acme"
    assert.same({ "acme", "default", "default" },
      tenants({ tag = "tenant" }, { key, "m@2@1@1fa@half@lane%fast", "m@2@1@1fa@half" }))
  end)

  it("goes by prefixes, the longest that fits", function()
    local prefixes = { ["team-a@"] = "acme", ["team-a@x@"] = "globex", ["a[b]{c}"] = "initech" }
    assert.same({ "acme", "globex", "initech", "default", "default" }, tenants(
      { prefixes = prefixes }, { "team-a@m", "team-a@x@m", "a[b]{c}d", "team-", "other" }))
  end)

  it("gives keys that name no tenant the default", function()
    assert.same({ "acme", "nobody" }, tenants({ default = "nobody" }, { MP .. "@acme", MP }))
  end)

  it("repeats cleared for each tenant that it gave or may give", function()
    assert.same({ "acme", "default", "globex" },
      cleared({}, { MP .. "@acme", MP .. "@globex", MP .. "@acme" }))
    assert.same({ "acme", "default", "globex" },
      cleared({ prefixes = { a = "acme", b = "globex" } }, {}))
    assert.same({ "acme", "default", "nobody" },
      cleared({ tenants = "acme", default = "nobody" }, {}))
    assert.same({ "default" }, cleared({}, { MP }))
  end)

  it("repeats cleared for as many as a thousand tenants, and fails on the next", function()
    local keys = {}
    for i = 1, 1000 do keys[i] = ("%s@t%04d"):format(MP, i) end
    assert.equal(1001, #cleared({}, keys))
    keys[1001] = MP .. "@one-too-many"
    assert.has_error(function() tenants({}, keys) end)
  end)

  it("still knows the tenants that it met before a reload", function()
    local chain = filter.filter("tenant_from_key.lua")
    chain:keeps({ object_key = MP .. "@acme" }, { tenant_id = "acme" })
    chain:reload()
    chain:splits({ event_type = "cleared" }, { {}, { tenant_id = "acme" } })
  end)

  for _, case in ipairs({
    { "prefixes and a tag", { tag = "t", prefixes = { a = "b" } }, "one of them" },
    { "a tenant that is none", { default = "_x" }, 'no tenant: "_x"' },
    { "a tenant with a control character", { tenants = { "a\1" } }, "no tenant: " },
    { "a tenant that is a number", { prefixes = { a = 5 } }, "no tenant: the number 5" },
    { "an unknown option", { salts = true }, "salts" },
  }) do
    it("refuses " .. case[1], function()
      local why = filter.mistake("tenant_from_key.lua", case[2])
      assert.truthy(why and why:find(case[3], 1, true), why)
    end)
  end
end)

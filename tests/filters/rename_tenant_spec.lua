local filter = require "kvgate.testing"

local function tenants(options, ...)
  local events, names = {}, {}
  for i, name in ipairs { ... } do events[i] = { tenant_id = name } end
  for i, event in ipairs(filter.run("rename_tenant.lua", options, events)) do
    names[i] = event.tenant_id == nil and "absent" or event.tenant_id
  end
  return names
end

local function failure(options, name)
  return filter.failures("rename_tenant.lua", options, { { tenant_id = name } })[1]
end

describe("rename_tenant", function()
  it("gives each old name its new one, and leaves the others", function()
    assert.same({ "b", "c" }, tenants({ map = { a = "b" } }, "a", "c"))
  end)

  it("can swap two names", function()
    assert.same({ "b", "a" }, tenants({ map = { a = "b", b = "a" } }, "a", "b"))
  end)

  it("puts something in front and behind of names that the map has not", function()
    assert.same({ "eu-a", "eu-b" }, tenants({ prefix = "eu-" }, "a", "b"))
    assert.same({ "a.eu" }, tenants({ suffix = ".eu" }, "a"))
    assert.same({ "x", "<b>" },
      tenants({ prefix = "<", suffix = ">", map = { a = "x" } }, "a", "b"))
  end)

  it("gives all others one name when told that this merges them", function()
    assert.same({ "x", "rest", "rest" },
      tenants({ map = { a = "x" }, default = "rest", merge = true }, "a", "b", "c"))
    assert.same({ "x", "x" }, tenants({ map = { a = "x", b = "x" }, merge = true }, "a", "b"))
  end)

  it("leaves events without a tenant without one", function()
    assert.same({ filter.null, "absent" },
      tenants({ prefix = "p-" }, filter.null, filter.absent))
  end)

  it("renames the tenant of cleared as well, and keeps one that names none", function()
    local out = filter.run("rename_tenant.lua", { map = { a = "b" } }, {
      { event_type = "cleared", tenant_id = "a" },
      { event_type = "cleared", tenant_id = filter.null },
    })
    assert.equal("b", out[1].tenant_id)
    assert.equal(filter.null, out[2].tenant_id)
  end)

  it("fails on a tenant whose name another one got: one would retract the other", function()
    assert.truthy(failure({ map = { a = "b" } }, "b")
      :find('tenant "b" would be "b", as "a" is: name it in map, or say merge: true', 1, true))
    assert.truthy(failure({ map = { a = "p-b" }, prefix = "p-" }, "b"))
    assert.is_nil(failure({ map = { a = "b" }, merge = true }, "b"))
  end)

  for _, case in ipairs({
    { "no options", {}, 'option "map": expected a map, or a default, prefix or suffix' },
    { "two tenants of one new name", { map = { a = "x", b = "x" } },
      'expected a name that no other tenant gets, or merge: true, not the string "x"' },
    { "a default that does not say merge", { default = "x" },
      'option "merge": expected true, as default makes one tenant of many, not nil' },
    { "a default and a prefix", { default = "x", prefix = "y", merge = true },
      'option "default" or option "prefix"' },
    { "a default and a suffix", { default = "x", suffix = "y", merge = true },
      'option "default" or option "suffix"' },
    { "a new name that is a number", { map = { a = 5 } },
      'option "map.a": expected a string, not the number 5' },
    { "an empty new name", { map = { a = "" } },
      'option "map.a": expected a string, not an empty string' },
  }) do
    it("refuses " .. case[1], function()
      local why = filter.mistake("rename_tenant.lua", case[2])
      assert.truthy(why and why:find(case[3], 1, true), why)
    end)
  end
end)

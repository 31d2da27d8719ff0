--- kvgate.testing: what an author's spec is told is what the gateway did.

local folder = require "tests.support.folder"
local testing = require "kvgate.testing"

local FILTER = [[
return function(options)
  return function(event)
    local key = event.object_key
    if key == "drop" then return false end
    if key == "fail" then error "on purpose" end
    if key == "split" then
      local other = event:copy()
      other.object_key = "other"
      return { event, other }
    end
    if key == "b" then return "b" end
    if options.tenant then event.tenant_id = options.tenant end
    return event
  end
end
]]

describe("kvgate.testing", function()
  local path

  setup(function()
    path = testing.path
    local directory = folder.new()
    folder.write(directory .. "/sample.lua", FILTER)
    testing.path = { directory, "filters" }
  end)

  teardown(function() testing.path = path end)

  local function chain(options, world, on_error)
    return testing.chain({ { script = "sample.lua", options = options, on_error = on_error } },
      world)
  end

  local function verdict(subject, key) return subject:send({ object_key = key }).verdict end

  it("tells each verdict", function()
    local subject = chain()
    local verdicts = {}
    for i, key in ipairs { "k", "drop", "fail", "split" } do verdicts[i] = verdict(subject, key) end
    assert.same({ "kept", "dropped", "lost", "split" }, verdicts)
  end)

  it("returns the fields that came out, changed or not", function()
    local event = chain({ tenant = "acme" }):send({ object_key = "k", block_size = 2 ^ 40,
      model_name = testing.null, medium = testing.absent, seq_hashes = { 1ULL } }).streams.out[1]
    assert.equal("acme", event.tenant_id)
    assert.equal(2 ^ 40, event.block_size)
    assert.equal(testing.null, event.model_name)
    assert.is_nil(event.medium)
    assert.same({ 1 }, event.seq_hashes)
  end)

  it("runs one filter behind the other", function()
    local subject = testing.chain {
      { script = "sample.lua", options = { tenant = "acme" } },
      { script = "select_tenant.lua", options = { keep = "acme" } },
    }
    assert.equal("kept", subject:send({ tenant_id = "globex" }).verdict)
  end)

  it("tells the route", function()
    local streams = chain(nil, { streams = { "a", "b" } }):send({ object_key = "b" }).streams
    assert.is_nil(streams.a)
    assert.equal("b", streams.b[1].object_key)
  end)

  it("counts what readers know as lost", function()
    local subject = chain()
    verdict(subject, "k")
    assert.equal(0, subject:lost())
    verdict(subject, "fail")
    verdict(subject, "k")
    assert.equal(1, subject:lost())
    subject:lose(2)
    verdict(subject, "k")
    assert.equal(3, subject:lost())
  end)

  it("lets a publisher start over, of several", function()
    local subject = chain(nil, { sources = { "one", "two" } })
    subject:send({}, "two")
    subject:send({}, "two")
    subject:restart "two"
    subject:send({}, "two")
    assert.is_true(subject:lost() >= 1)
    assert.equal("kept", subject:send({}, "one").verdict)
  end)

  it("lets time pass: a silent stream tells of a loss by itself", function()
    local subject = chain()
    verdict(subject, "k")
    verdict(subject, "fail")
    assert.equal(0, subject:lost())
    assert.same({}, subject:advance(3600000))
    assert.equal(1, subject:lost())
  end)

  it("says why a filter does not load", function()
    assert.is_nil(testing.mistake("sample.lua", {}))
    assert.truthy(testing.mistake("absent.lua", {}):find("absent.lua", 1, true))
  end)

  it("passes what failed if the chain says so", function()
    assert.equal("kept", verdict(chain(nil, nil, "pass"), "fail"))
  end)
end)

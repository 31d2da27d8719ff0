--- relay/accept.c: equality tests on the envelope, for many streams at once.
local relay = require "tests.support.relay"
local wire = require "tests.support.wire"
local event = relay.event

local function subject_with(accepts)
  local yaml = { 'sources: [ { name: store, connect: "ipc:///tmp/in" } ]', "streams:" }
  for i, accept in ipairs(accepts) do
    yaml[#yaml + 1] = ('  - { name: s%d, bind: "ipc:///tmp/s%d", accept: %s }'):format(i, i, accept)
  end
  return relay.new(table.concat(yaml, "\n") .. "\n")
end

--- Does a stream with this test let the event in?
local function passes(accept, one)
  local subject = subject_with { accept }
  subject:send { one }
  return subject:out "s1" ~= ""
end

describe("accept", function()
  for _, case in ipairs {
    { "a string that is listed", "{ tenant_id: [a, b] }", { tenant_id = "b" }, true },
    { "a string that is not listed", "{ tenant_id: [a, b] }", { tenant_id = "c" }, false },
    { "a prefix of a listed string", "{ tenant_id: [ab] }", { tenant_id = "a" }, false },
    { "a single value without a list", "{ tenant_id: a }", { tenant_id = "a" }, true },
    { "an integer of any width", "{ block_size: [128] }", { block_size = 128ULL }, true },
    { "another integer", "{ block_size: [128] }", { block_size = 129 }, false },
    { "the string of a number", "{ block_size: [128] }", { block_size = "128" }, false },
    { "nil where null is listed", "{ lora_name: [null] }", { lora_name = wire.null }, true },
    { "nil where it is not", "{ lora_name: [x] }", { lora_name = wire.null }, false },
    { "all of several tests", "{ tenant_id: a, medium: cpu }", { tenant_id = "a", medium = "cpu" },
      true },
    { "one of several tests", "{ tenant_id: a, medium: cpu }", { tenant_id = "a", medium = "disk" },
      false },
    { "u64 exactly", "{ dp_rank: 18446744073709551615 }", { dp_rank = 18446744073709551615ULL },
      true },
    { "u64 one off", "{ dp_rank: 18446744073709551615 }", { dp_rank = 18446744073709551614ULL },
      false },
  } do
    it((case[4] and "lets in " or "keeps out ") .. case[1], function()
      assert.equal(case[4], passes(case[2], event("k", case[3])))
    end)
  end

  it("lets cleared through a test on a field that it does not carry", function()
    local cleared = wire.cleared { tenant_id = "a", backend_id = "b" }
    assert.is_true(passes("{ medium: [cpu] }", cleared))
    assert.is_true(passes("{ object_key: [k] }", cleared))
    assert.is_true(passes("{ medium: [cpu], tenant_id: [a] }", cleared))
  end)

  it("judges cleared by the fields that it carries", function()
    local cleared = wire.cleared { tenant_id = "a", backend_id = "b" }
    assert.is_false(passes("{ medium: [cpu], tenant_id: [z] }", cleared))
    assert.is_false(passes("{ backend_id: [z] }", cleared))
  end)

  it("leaves no gap on a stream that an event may not enter", function()
    local subject = subject_with { "{ tenant_id: [a] }", "{ tenant_id: [b] }" }
    for _ = 1, 3 do
      subject:send { event("x", { tenant_id = "a" }), event("y", { tenant_id = "b" }) }
    end
    assert.equal("1:x 2:x 3:x", subject:out "s1")
    assert.equal("1:y 2:y 3:y", subject:out "s2")
  end)

  it("tells 200 streams apart", function()
    local accepts = {}
    for i = 1, 200 do
      accepts[i] = ("{ tenant_id: t%d }"):format(i)
    end
    local subject = subject_with(accepts)
    local events = {}
    for i = 1, 200 do
      events[i] = event("k" .. i, { tenant_id = "t" .. i })
    end
    subject:send(events)
    for i = 1, 200 do
      assert.equal("1:k" .. i, subject:out("s" .. i))
    end
  end)
end)

local testing = require "kvgate.testing"

local KEY = "Qwen3-8B@tp_rank:1@pcp0@dcp0@pp_rank:0@group:0@6358e31578a64b756ec84ae048faaaa6"

--- The map that is added, name to value.
local function explained(options, event)
  local out = testing.run("explain_key.lua", options, { event })[1]
  local fields = {}
  for _, pair in ipairs(out[options and options.field or "key"] or {}) do
    fields[pair[1]] = pair[2]
  end
  return fields
end

describe("explain_key", function()
  it("adds what the key says", function()
    assert.same({
      convention = "vllm", version = "group", model = "Qwen3-8B", tp = 1, pcp = 0, dcp = 0, pp = 0,
      group = 0, digest = "6358e31578a64b756ec84ae048faaaa6", hash = 0x6ec84ae048faaaa6ULL,
    }, explained(nil, { object_key = KEY }))
  end)

  it("says of a stranger which conventions it is none of", function()
    local fields = explained({ conventions = { "kvbm", "lmdeploy" }, field = "why" },
      { object_key = "?" })
    assert.equal("kvbm", fields.matches_none_of[1])
    assert.equal("lmdeploy", fields.matches_none_of[2])
  end)

  it("leaves cleared as it is, which names no key", function()
    assert.same({}, explained(nil, { event_type = "cleared" }))
  end)

  it("refuses a convention that nobody knows", function()
    local why = testing.mistake("explain_key.lua", { conventions = "vlm" })
    assert.truthy(why:find('did you mean "vllm"', 1, true), why)
  end)
end)

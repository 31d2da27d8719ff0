local filter = require "tests.support.filter"
local python = require "tests.support.python"
local wire = require "tests.support.wire"

local H64 = "6358e31578a64b75ebe28cdb99d3beae65de82a2087321dc6ec84ae048faaaa6"
local LOW, HIGH = 0x6ec84ae048faaaa6ULL, 0x6358e31578a64b75ULL

local function convert(options, event)
  return filter.run("keys_to_hashes.lua", options, { event })[1]
end

local function hashes(options, key)
  return convert(options, { event_type = "stored", object_key = key }).seq_hashes
end

describe("keys_to_hashes", function()
  for _, case in ipairs({
    { "vllm", "Qwen3-8B@tp_rank:0@pcp0@dcp0@pp_rank:0@group:0@" .. H64, LOW },
    { "vllm", "Qwen3-8B@tp_rank:0@pcp0@dcp0@pp_rank:0@" .. H64, LOW },
    { "vllm", "a@b@Qwen3-8B@tp_rank:0@pcp0@dcp0@pp_rank:0@" .. H64, LOW },
    { "vllm", "m@tp_rank:2@pcp1@dcp0@pp_rank:3@group:4@0123456789abcdef000000000000002a", 42 },
    { "vllm", "m@tp_rank:0@pcp0@dcp0@pp_rank:0@000000000000002b", 43 },
    { "vllm", "m@tp_rank:0@pcp0@dcp0@pp_rank:0@ffffffffffffffff", 0xffffffffffffffffULL },
    { "sglang", H64 .. "_0_k", HIGH },
    { "sglang", H64 .. "__k", HIGH },
    { "sglang", "tag_Qwen-Qwen3-8B_" .. H64 .. "_1_0_v", HIGH },
    { "sglang", H64, HIGH },
    { "lmcache", "Qwen/Qwen3-8B@2@1@" .. H64 .. "@bfloat16", LOW },
    { "lmcache", "Qwen/Qwen3-8B@2@1@1fa@half@3", 0x1fa },
  }) do
    it(("reads %s of %s"):format(case[1], case[2]), function()
      assert.same({ case[3] }, hashes({ convention = case[1] }, case[2]))
    end)
  end

  for _, case in ipairs({
    { "vllm", "sglang_mooncake_store_warmup_key0123456789abcdef0123456789abcdef" },
    { "vllm", H64 .. "_0_k" },
    { "sglang", "sglang_mooncake_store_warmup_key0123456789abcdef0123456789abcdef" },
    { "sglang", "0" .. H64 .. "_0_k" },
    { "sglang", H64 .. "0_k" },
    { "lmcache", "Qwen/Qwen3-8B@2@1@-4950f44fcb5fa1b6@half" },
    { "lmcache", "m@tp_rank:0@pcp0@dcp0@pp_rank:0@" .. H64 },
  }) do
    it(("finds no %s in %s"):format(case[1], case[2]), function()
      assert.same({}, hashes({ convention = case[1] }, case[2]))
    end)
  end

  it("agrees with python's hashlib on digests of all three", function()
    local lines = {}
    for i = 1, 200 do lines[i] = tostring(i) end
    local answers = python.lines([[
import hashlib, sys
for line in sys.stdin:
    digest = hashlib.sha256(line.strip().encode()).digest()
    words = int.from_bytes(digest[-8:], "big"), int.from_bytes(digest[:8], "big")
    print(digest.hex(), "%016x %016x" % words)
]], lines)
    local keys = {
      vllm = "m@tp_rank:0@pcp0@dcp0@pp_rank:0@%s", sglang = "%s_0_k", lmcache = "m@1@0@%s@half",
    }
    for convention, form in pairs(keys) do
      local events = {}
      for i, line in ipairs(answers) do
        events[i] = { event_type = "stored", object_key = form:format(line:match "^%x+") }
      end
      local out = filter.run("keys_to_hashes.lua", { convention = convention }, events)
      assert.equal(200, #out)
      for i, line in ipairs(answers) do
        local low, high = line:match "^%x+ (%x+) (%x+)$"
        local expected = "\xcf" .. wire.unhex(convention == "sglang" and high or low)
        assert.equal(1, #out[i].seq_hashes)
        assert.equal(wire.hex(expected), wire.hex(wire.encode(out[i].seq_hashes[1])), line)
      end
    end
  end)

  it("fills block_hashes where the event has that alias", function()
    local key = H64 .. "_0_k"
    local out = convert({ convention = "sglang" }, { event_type = "removed", object_key = key })
    assert.same({ HIGH }, out.block_hashes)
    out = convert({ convention = "sglang" },
      { event_type = "removed", object_key = key, legacy = false })
    assert.same({ HIGH }, out.seq_hashes)
    assert.is_nil(out.block_hashes)
  end)

  it("replaces hashes that were there", function()
    local event = { event_type = "stored", object_key = H64, seq_hashes = { 1, 2 } }
    assert.same({ HIGH }, convert({ convention = "sglang" }, event).seq_hashes)
  end)

  it("reads a template of one's own", function()
    local template = "{model}/{rank:int}/{hash:hex}"
    assert.same({ LOW }, hashes({ template = template }, "m/0/" .. H64))
    assert.same({ HIGH }, hashes({ template = template, project = "high64" }, "m/0/" .. H64))
    assert.same({ 12345 }, hashes({ template = "{hash:int}", project = "int" }, "12345"))
    assert.same({ 0xffffffffffffffffULL },
      hashes({ template = "{hash:int}", project = "int" }, "18446744073709551615"))
  end)

  it("passes keys of another kind untouched, or drops them", function()
    local other = { event_type = "stored", object_key = "weights/layer.0", seq_hashes = { 7 } }
    local events = { other, { event_type = "stored", object_key = H64 } }
    assert.same({ 7 }, convert({ convention = "sglang", unmatched = "pass" }, other).seq_hashes)
    assert.same({ false, true },
      filter.kept("keys_to_hashes.lua", { convention = "sglang", unmatched = "drop" }, events))
  end)

  it("passes cleared, which names no key, also when others are dropped", function()
    local options = { convention = "vllm", unmatched = "drop" }
    local out = convert(options, { event_type = "cleared" })
    assert.equal("cleared", out.event_type)
    assert.is_nil(out.seq_hashes)
  end)

  for _, case in ipairs({
    { "no options", {}, 'option "convention" or option "template"' },
    { "both options", { convention = "vllm", template = "{hash:hex}" }, "one of them" },
    { "an unknown convention", { convention = "vlm" }, "known are lmcache, sglang, vllm" },
    { "a template that is none", { template = "{hash:hex" }, "column 1: { is never closed" },
    { "a template without {hash:hex}", { template = "{hash}" }, "a template with {hash:hex}" },
    { "an int template for low64", { template = "{hash:int}" }, "a template with {hash:hex}" },
    { "an unknown projection", { template = "{hash:hex}", project = "mid64" },
      "low64, high64 or int" },
    { "a projection of a convention", { convention = "vllm", project = "low64" }, '"project"' },
    { "an unknown fate", { convention = "vllm", unmatched = "lose" }, "pass or drop" },
  }) do
    it("refuses " .. case[1], function()
      local why = filter.mistake("keys_to_hashes.lua", case[2])
      assert.truthy(why and why:find(case[3], 1, true), why)
    end)
  end
end)

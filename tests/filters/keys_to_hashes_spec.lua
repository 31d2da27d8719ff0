local filter = require "kvgate.testing"
local relay = require "tests.support.relay"
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
    { "lmcache", "Qwen/Qwen3-8B@2@1@-4950f44fcb5fa1b6@half", 0xb6af0bb034a05e4aULL },
    { "lmcache-mp", "Qwen/Qwen3-8B@01000100@0@" .. H64 .. "@salt", LOW },
    { "vllm-ascend", "m@pcp0@dcp0@head_or_tp_rank:1@pp_rank:0@" .. H64, LOW },
    { "vllm", "m@store_pp:2@store_format:x@tp_rank:0@pcp0@dcp0@pp_rank:0@group:0@" .. H64, LOW },
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
    { "sglang", H64 .. "_tp_0" },
    { "lmcache", "Qwen/Qwen3-8B@2@1@1fa@quarter" },
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

  it("tries a list of conventions", function()
    local options = { convention = { "vllm", "sglang" } }
    assert.same({ LOW }, hashes(options, "m@tp_rank:0@pcp0@dcp0@pp_rank:0@" .. H64))
    assert.same({ HIGH }, hashes(options, H64 .. "_0_k"))
    assert.same({}, hashes(options, "m@2@1@1fa@half"))
  end)

  for _, case in ipairs({
    { "vllm", "m@tp_rank:0@pcp0@dcp0@pp_rank:0@" .. H64, H64 },
    { "vllm", "m@tp_rank:0@pcp0@dcp0@pp_rank:0@" .. ("0"):rep(64) .. H64, H64 },
    { "vllm", "m@tp_rank:0@pcp0@dcp0@pp_rank:0@abc", "0000000000000abc" },
    { "sglang", H64 .. "_0_k", H64 },
    { "lmcache", "m@2@1@-4950f44fcb5fa1b6@half", "b6af0bb034a05e4a" },
    { "lmcache", "vllm@m@2@1@12675106281628537544", "afe70601eeca92c8" },
    { "integer", "42", "000000000000002a" },
  }) do
    it(("gives Conductor the digest of %s"):format(case[2]), function()
      local event = { event_type = "stored", object_key = case[2] }
      local out = convert({ convention = case[1], connector = true }, event)
      assert.equal(case[3], out.connector_block_hash)
      assert.is_nil(convert({ convention = case[1] }, event).connector_block_hash)
    end)
  end

  it("gives Conductor the digest of a template of one's own", function()
    local options = { template = "{m}/{hash:hex}", connector = true }
    assert.equal(H64, convert(options, { object_key = "m/" .. H64 }).connector_block_hash)
  end)

  it("loses keys of another kind where that is asked for, and not cleared", function()
    local subject = relay.new([[
sources: [ { name: store, connect: "tcp://127.0.0.1:5557" } ]
filters: [ { script: keys_to_hashes.lua, options: { convention: vllm, unmatched: lose } } ]
streams: [ { name: out, bind: "tcp://127.0.0.1:6001" } ]
]])
    subject:send { relay.event("weights/layer.0"),
      relay.event(nil, { event_type = "cleared" }) }
    local status = subject.core:status()
    assert.truthy(status:find('"errors":1', 1, true), status)
    assert.equal(1, #subject.core:sent "out")
    assert.truthy(status:find('"reserved_numbers":1', 1, true), status)
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
    { "an unknown convention", { convention = "vlm" }, "known are integer, kvbm, lmcache, " },
    { "a template that is none", { template = "{hash:hex" }, "column 1: { is never closed" },
    { "a template without {hash:hex}", { template = "{hash}" }, "a template with {hash:hex}" },
    { "an int template for low64", { template = "{hash:int}" }, "a template with {hash:hex}" },
    { "an unknown projection", { template = "{hash:hex}", project = "mid64" },
      "low64, high64 or int" },
    { "a projection of a convention", { convention = "vllm", project = "low64" }, '"project"' },
    { "an unknown fate", { convention = "vllm", unmatched = "keep" },
      "pass, drop or lose" },
    { "an empty list of conventions", { convention = "" }, "a string or a list of strings" },
  }) do
    it("refuses " .. case[1], function()
      local why = filter.mistake("keys_to_hashes.lua", case[2])
      assert.truthy(why and why:find(case[3], 1, true), why)
    end)
  end

  for _, unmatched in ipairs { "pass", "drop", "lose" } do
    it("counts keys by convention, and those of none where they " .. unmatched, function()
      local chain = filter.filter("keys_to_hashes.lua",
        { convention = { "vllm", "sglang" }, unmatched = unmatched })
      local vllm = "m@tp_rank:0@pcp0@dcp0@pp_rank:0@" .. H64
      for _, key in ipairs { vllm, "none", H64 .. "_0_k", vllm, "" } do
        chain:send { object_key = key }
      end
      chain:keeps { event_type = "cleared" }
      local function counted(convention)
        return chain:metric("kvgate_filter_keys_total",
          { convention = convention })
      end
      assert.same({ 2, 1, 2, 5 },
        { counted "vllm", counted "sglang", counted "unmatched", counted() })
    end)
  end

  it("counts keys of a template", function()
    local chain = filter.filter("keys_to_hashes.lua", { template = "{a}/{hash:hex}" })
    chain:send { object_key = "m/2a" }
    assert.equal(1, chain:metric("kvgate_filter_keys_total", { convention = "template" }))
  end)
end)

--- kvgate.keys by name: every form of every convention, through the whole relay.
--
-- What a record should say is written beside each key; 64-bit projections are python's, in another
-- process.

local python = require "tests.support.python"
local relay = require "tests.support.relay"
local wire = require "tests.support.wire"

local YAML = [[
sources: [ { name: store, connect: "tcp://127.0.0.1:5557" } ]
filters: [ { script: probe.lua } ]
streams: [ { name: out, bind: "tcp://127.0.0.1:6001" } ]
]]

--- Writes the record of each key into lora_name, name=value, sorted; and what the hot path finds.
local PROBE = [[
local keys = require "kvgate.keys"
local u64 = require "kvgate.u64"

local function shown(value)
  if type(value) == "cdata" then return u64.tostring(value) end
  if type(value) ~= "table" then return tostring(value) end
  local parts = {}
  for name, item in pairs(value) do parts[#parts + 1] = name .. "%%" .. item end
  table.sort(parts)
  return table.concat(parts, ",")
end

return function()
  local reader = keys.reader(%s)
  return function(event)
    local record = %s
    local parts = {}
    for name, value in pairs(record or {}) do parts[#parts + 1] = name .. "=" .. shown(value) end
    table.sort(parts)
    event.lora_name = table.concat(parts, " ")
    event.seq_hashes = reader:hash(event)
    return event
  end
end
]]

--- The records of some keys, as text, and the hot path's hashes.
local function read(arguments, keys, expression)
  local script = PROBE:format(arguments, expression or "reader:read(event)")
  local subject = relay.new(YAML, { ["probe.lua"] = script })
  local records, hashes = {}, {}
  for _, key in ipairs(keys) do
    subject:send { relay.event(key) }
    local sent = subject.core:sent "out"
    local event = {}
    for _, pair in ipairs(wire.decode(sent[#sent].payload)[2][1]) do event[pair[1]] = pair[2] end
    records[#records + 1] = event.lora_name
    hashes[#hashes + 1] = event.seq_hashes[1] and wire.hex(wire.encode(event.seq_hashes[1])) or ""
  end
  return records, hashes
end

local function quoted(name) return ("%q"):format(name) end

local H = "6358e31578a64b75ebe28cdb99d3beae65de82a2087321dc6ec84ae048faaaa6"
local P = "cf97adeedb59e05bfd73a2b4c2a8885708c4f4f70c84c64b27120e72ab733b72"
local VLLM = "@tp_rank:2@pcp1@dcp0@pp_rank:3"
local ASCEND = "Qwen2.5-7B@pcp0@dcp1@head_or_tp_rank:2"
local ASCEND_RANKS = " dcp=1 head_or_tp=2 model=Qwen2.5-7B pcp=0"
local ROLE = "@group:4@cache_role:kv@cache_family:c128"

-- convention, key, the digest that python projects, how, and the rest of the record
local CASES = {
  { "vllm", "model-a" .. VLLM .. "@group:7@" .. H, H, "low",
    "dcp=0 group=7 model=model-a pcp=1 pp=3 tp=2 version=group" },
  { "vllm", "deployment-a@model-a" .. VLLM .. "@group:7@" .. H, H, "low",
    "dcp=0 group=7 model=model-a pcp=1 pp=3 prefix=deployment-a tp=2 version=group" },
  { "vllm", "model-a" .. VLLM .. "@" .. H, H, "low",
    "dcp=0 model=model-a pcp=1 pp=3 tp=2 version=no group" },
  { "vllm", "a@b@model-a" .. VLLM .. "@000000000000002b", "000000000000002b", "low",
    "dcp=0 model=model-a pcp=1 pp=3 prefix=a@b tp=2 version=no group" },
  { "vllm", "model-a" .. VLLM .. "@" .. P .. P .. H, H, "low",
    "dcp=0 digests=3 model=model-a pcp=1 pp=3 tp=2 version=concatenated" },
  { "vllm", "x@m@store_tp:4@store_pp:2@store_format:tp_shared_lbhnc" .. VLLM .. "@group:0@" .. H,
    H, "low", "dcp=0 group=0 model=m namespace=@store_tp:4@store_pp:2@store_format:tp_shared_lbhnc"
    .. " pcp=1 pp=3 prefix=x store_format=tp_shared_lbhnc store_pp=2 store_tp=4 tp=2"
    .. " version=namespace" },
  { "vllm", "m@store_pp:1@store_format:rank_local_tp2_layout_LBHNC" .. VLLM .. "@group:0@" .. H,
    H, "low", "dcp=0 group=0 model=m"
    .. " namespace=@store_pp:1@store_format:rank_local_tp2_layout_LBHNC pcp=1 pp=3"
    .. " store_format=rank_local_tp2_layout_LBHNC store_pp=1 tp=2 version=namespace" },
  { "vllm", "m@store_pp:2@store_format:attention_head_major@store_schema:0123456789abcdef" .. VLLM
    .. "@group:0@" .. H, H, "low", "dcp=0 group=0 model=m"
    .. " namespace=@store_pp:2@store_format:attention_head_major@store_schema:0123456789abcdef"
    .. " pcp=1 pp=3 store_format=attention_head_major store_pp=2 store_schema=0123456789abcdef"
    .. " tp=2 version=namespace" },

  { "vllm-ascend", "m@8@3@" .. H, H, "low", "model=m version=v0.11 worker=3 world=8" },
  { "vllm-ascend", "m@8@3@" .. H .. "@31", H, "low",
    "layer=31 model=m version=v0.11 layer worker=3 world=8" },
  { "vllm-ascend", ASCEND .. "@pp_rank:1@abcdef", "abcdef", "low",
    ASCEND_RANKS .. " pp=1 version=v0.13" },
  { "vllm-ascend", ASCEND .. "@" .. H .. "@7", H, "low",
    ASCEND_RANKS .. " layer=7 version=v0.13 layer" },
  { "vllm-ascend", ASCEND .. "@pp_rank:1" .. ROLE .. "@" .. H, H, "low",
    ASCEND_RANKS .. " family=c128 group=4 pp=1 role=kv version=v0.20" },
  { "vllm-ascend", ASCEND .. ROLE .. "@" .. H .. "@7", H, "low",
    ASCEND_RANKS .. " family=c128 group=4 layer=7 role=kv version=v0.20 layer" },
  { "vllm-ascend", ASCEND .. ROLE .. "@layer_id:9@" .. H, H, "low",
    ASCEND_RANKS .. " family=c128 group=4 layer=9 role=kv version=v0.21 layer" },
  { "vllm-ascend-gva", "m@" .. H .. "@3", H, "low", "model=m version=no group worker=3" },
  { "vllm-ascend-gva", "m@1@" .. H .. "@3", H, "low", "group=1 model=m version=group worker=3" },
  { "vllm-ascend-gva", "@" .. H .. "@3", H, "low", "version=no group worker=3" },

  { "lmdeploy", "p@m@tp_rank:1@group:0@" .. H, H, "low",
    "group=0 model=m prefix=p tp=1 version=1" },
  { "lmdeploy", "m@tp_rank:1@group:0@" .. H, H, "low", "group=0 model=m tp=1 version=1" },

  { "sglang", P, P, "high", "version=1" },
  { "sglang", P .. "_3_k", P, "high", "component=k suffix=3_k tp=3 version=1" },
  { "sglang", "tag_Qwen-Qwen3-8B_" .. P .. "_3_1_v", P, "high",
    "component=v pp=1 prefix=tag_Qwen-Qwen3-8B suffix=3_1_v tp=3 version=1" },
  { "sglang", P .. "__k", P, "high", "component=k suffix=_k version=1" },
  { "sglang", P .. "_0_draft_v", P, "high",
    "component=draft_v suffix=0_draft_v tp=0 version=1" },
  { "sglang", P .. "__draft_k", P, "high", "component=draft_k suffix=_draft_k version=1" },
  { "sglang", P .. "_2_k_layout7", P, "high",
    "component=k storage=layout7 suffix=2_k_layout7 tp=2 version=1" },
  { "sglang", P .. "__indexer", P, "high", "component=indexer suffix=_indexer version=1" },
  { "sglang", P .. "__swa", P, "high", "component=swa suffix=_swa version=1" },
  { "sglang", P .. "_1_deepseek_v4_c4", P, "high",
    "component=deepseek_v4_c4 pp=1 suffix=1_deepseek_v4_c4 version=1" },
  { "sglang", P .. "__deepseek_v4_c4_indexer", P, "high",
    "component=deepseek_v4_c4_indexer suffix=_deepseek_v4_c4_indexer version=1" },
  { "sglang", P .. "__deepseek_v4_c128", P, "high",
    "component=deepseek_v4_c128 suffix=_deepseek_v4_c128 version=1" },
  { "sglang", P .. "__deepseek_v4_c4_state", P, "high",
    "component=deepseek_v4_c4_state suffix=_deepseek_v4_c4_state version=1" },
  { "sglang", P .. "_5_temporal", P, "high",
    "component=temporal suffix=5_temporal tp=5 version=1" },
  { "sglang", P .. "_5_conv_2", P, "high", "component=conv_2 suffix=5_conv_2 tp=5 version=1" },
  { "sglang-mla", P .. "_1_k", P, "high", "component=k pp=1 suffix=1_k version=1" },
  { "sglang-old", H .. "_14958615928728313947_3", "cf97adeedb59e05b", "high",
    "parent=" .. H .. " tp=3 version=1", "14958615928728313947" },
  { "sglang-old", "_14958615928728313947_3", "cf97adeedb59e05b", "high", "tp=3 version=1",
    "14958615928728313947" },
  { "sglang-file", P .. "_Qwen-Qwen3-8B.bin", P, "high", "model=Qwen-Qwen3-8B version=page" },
  { "sglang-file", P .. "_my_model_1_4.bin", P, "high",
    "model=my_model tp=1 tp_size=4 version=page" },
  { "sglang-file", P .. "_m_2_1.bin", P, "high", "model=m pp=1 pp_size=2 version=page" },
  { "sglang-file", P .. "_m_1_4_2_0.bin", P, "high",
    "model=m pp=0 pp_size=2 tp=1 tp_size=4 version=page" },
  { "sglang-file", P .. "_m_1_4_cp1_2.bin", P, "high",
    "cp=1 cp_size=2 model=m tp=1 tp_size=4 version=page" },
  { "sglang-file", P .. ".deepseek_v4_c4_m_1_4.bin", P, "high",
    "component=deepseek_v4_c4 model=m tp=1 tp_size=4 version=component" },
  { "sglang-file", P .. ".swa_Qwen-Qwen3-8B.bin", P, "high",
    "component=swa model=Qwen-Qwen3-8B version=component" },

  { "lmcache", "vllm@/models/Qwen3@2@1@" .. H, H, "low",
    "format=vllm model=/models/Qwen3 version=a worker=1 world=2" },
  { "lmcache", "huggingface@q/w@2@1@12675106281628537544", "12675106281628537544", "decimal",
    "format=huggingface model=q/w version=a worker=1 world=2" },
  { "lmcache", "vllm@m@1@0@-5282990986457227702", "-5282990986457227702", "decimal",
    "format=vllm model=m version=a worker=0 world=1" },
  { "lmcache", "vllm@m@1@0@-4950f44fcb5fa1b6", "-4950f44fcb5fa1b6", "signed",
    "format=vllm model=m version=a worker=0 world=1" },
  { "lmcache", "vllm@m@1@0@1fa@user%a%b@k%", "1fa", "low",
    "format=vllm model=m tags=k%,user%a%b version=b worker=0 world=1" },
  { "lmcache", "vllm@m@1@0@1fa@half@k%v", "1fa", "low",
    "dtype=half format=vllm model=m tags=k%v version=c worker=0 world=1" },
  { "lmcache", "vllm@m@1@0@1fa@half@12", "1fa", "low",
    "dtype=half format=vllm layer=12 model=m version=c worker=0 world=1" },
  { "lmcache", "Qwen/Qwen3-8B@4@3@" .. H .. "@bfloat16", H, "low",
    "dtype=bfloat16 model=Qwen/Qwen3-8B version=d worker=3 world=4" },
  { "lmcache", "m@4@3@-4950f44fcb5fa1b6@fp8_e4m3fn@5@t%x", "-4950f44fcb5fa1b6", "signed",
    "dtype=fp8_e4m3fn layer=5 model=m tags=t%x version=d worker=3 world=4" },
  { "lmcache", "a@b@4@3@7@float@t%x", "7", "low",
    "dtype=float model=a@b tags=t%x version=d worker=3 world=4" },

  { "lmcache-mp", "q/w@01000100@0@" .. H, H, "low", "group=0 kv_rank=01000100 local_rank=0"
    .. " local_world=1 model=q/w version=group worker=0 world=1" },
  { "lmcache-mp", "q/w@10090801@1f@" .. H .. "@tenant-a", H, "low", "group=31 kv_rank=10090801"
    .. " local_rank=1 local_world=8 model=q/w salt=tenant-a version=group worker=9 world=16" },
  { "lmcache-mp", "q/w@01000100@" .. H, H, "low", "kv_rank=01000100 local_rank=0 local_world=1"
    .. " model=q/w version=no group worker=0 world=1" },
  { "lmcache-mp", "q/w@01000100@" .. H .. "@abcd", H, "low", "kv_rank=01000100 local_rank=0"
    .. " local_world=1 model=q/w salt=abcd version=no group worker=0 world=1" },
  { "lmcache-mp", "q-SEP-w@0x01000100@0@" .. H .. "@t.data", H, "low", "group=0 kv_rank=01000100"
    .. " local_rank=0 local_world=1 model=q/w salt=t version=file worker=0 world=1" },

  { "kvbm", "3/17:jpXCZedGfVQ", "jpXCZedGfVQ", "base58", "position=17 version=1 worker=3" },
  { "kvbm", "0:2g:abc", "2g", "base58", "parent=abc position=0 version=1" },
  { "integer", "18446744073709551615", "18446744073709551615", "decimal", "version=decimal" },
  { "integer", "0x2a", "2a", "low", "version=hex" },
  { "integer", "0XFFFFFFFFFFFFFFFF", "FFFFFFFFFFFFFFFF", "low", "version=hex" },
}

-- convention and a key that is not of it, though nearly
local STRANGERS = {
  { "vllm", "model-a@tp_rank:2@pcp1@dcp0@pp_rank:3@group:7@" }, { "vllm", "m" .. VLLM },
  { "vllm", "m@tp_rank:-1@pcp1@dcp0@pp_rank:3@" .. H }, { "vllm", H .. "_0_k" },
  { "vllm", "m@tp_rank:0@group:0@" .. H }, { "vllm", "m" .. VLLM .. "@" .. H .. ".meta" },
  { "vllm", "m" .. VLLM .. "@" .. H .. "_tp_0" },
  { "vllm-ascend", "m@8@3@" .. H:sub(2) }, { "vllm-ascend", "m@8@x@" .. H .. "@1" },
  { "vllm-ascend", ASCEND .. "@pp_rank:1@" }, { "vllm-ascend", ASCEND .. "@" .. H .. "@x" },
  { "vllm-ascend", ASCEND .. "@pp_rank:1@group:4@cache_role:tensor@cache_family:c4@" .. H },
  { "vllm-ascend", ASCEND .. "@group:4@cache_role:kv@cache_family:@" .. H .. "@7" },
  { "vllm-ascend", ASCEND .. ROLE .. "@layer_id:@" .. H },
  { "vllm-ascend-gva", "m@partial@request-1@0@5@64@3" }, { "vllm-ascend-gva", "m@7@3" },
  { "vllm-ascend-gva", "m@1@0123456789abcde@3" },
  { "lmdeploy", "m@tp_rank:1@group:0@abcdef" }, { "lmdeploy", "m" .. VLLM .. "@group:0@" .. H },
  { "sglang", "0" .. P .. "_0_k" }, { "sglang", P .. "0_k" }, { "sglang", P .. "_tp_0" },
  { "sglang", P .. "_k" }, { "sglang", P .. "_0_1_2_k" }, { "sglang", P .. "_0" },
  { "sglang", P .. "_0_k.meta" }, { "sglang", "model-" .. P .. "_0_k" },
  { "sglang-mla", P .. "_k" }, { "sglang-old", P .. "_0_k" }, { "sglang-old", "1_2" },
  { "sglang-old", "_18446744073709551616_0" },
  { "sglang-file", P .. "_m" }, { "sglang-file", P .. ".bin" }, { "sglang-file", "x.bin" },
  { "lmcache", "m@2@1@" .. H }, { "lmcache", "m@2@1@1fa@quarter" }, { "lmcache", "m@2@1@@half" },
  { "lmcache", "m@2@1@1fa@half@x" }, { "lmcache", "m@2@1@1fa@half@1@2" },
  { "lmcache", "m@2@1@1fa@t%v" }, { "lmcache", "m@2@1@--1@half" },
  { "lmcache", "vllm@m@2@1@" .. ("1"):rep(79) },
  { "lmcache-mp", "q/w@0100010@0@" .. H }, { "lmcache-mp", "q@w@01000100@0@" .. H },
  { "lmcache-mp", "m@01000100@0@abc" }, { "lmcache-mp", "m@01000100@0@" .. H .. "@a/b" },
  { "lmcache-mp", "m@01000100@0@" .. H .. "@" .. ("s"):rep(129) },
  { "kvbm", "3/17:jpXCZedGfVQ.meta" }, { "kvbm", "17:0OIl" }, { "kvbm", "x:abc" },
  { "kvbm", "17:jpXCZedGfVR" }, { "kvbm", "3/17:abc.lock" },
  { "integer", "" }, { "integer", "-1" }, { "integer", "18446744073709551616" },
  { "integer", "0x" }, { "integer", "123abc" }, { "integer", "0x10000000000000000" },
}

local NOISE = {
  "sglang_mooncake_store_warmup_key0123456789abcdef0123456789abcdef", "weights/layer.0",
  "model.layers.0.self_attn.q_proj_tp_3", "checkpoints/step-1200/rank_0.safetensors",
  "m@partial@request-1@0@5@64@3", "3/17:abc.meta", P .. "_tp_1", "hidden_states_42", "a@b", "@", "",
  "\0\1\255", ("ab"):rep(300), "m" .. VLLM .. "@" .. H .. ".lock",
}

--- What the engine's events say, and the same bits as unsigned msgpack: "decimal hex".
local PYTHON = [[
import sys
ALPHABET = "123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz"
for line in sys.stdin:
    how, text = line.split()
    if how == "low":
        value = int(text[-16:], 16)
    elif how == "high":
        value = int.from_bytes(bytes.fromhex(text[:16]), "big", signed=True)
    elif how == "signed":
        value = int(text, 16)
    elif how == "decimal":
        value = int(text)
    else:
        value = sum(ALPHABET.index(c) * 58 ** i for i, c in enumerate(reversed(text)))
    print(value, "%x" % (value % 2**64))
]]

local function projected()
  local lines = {}
  for i, case in ipairs(CASES) do lines[i] = case[4] .. " " .. case[3] end
  return python.lines(PYTHON, lines)
end

--- The record that a case expects, as the probe prints it.
local function expected(case, value)
  local parts = { "convention=" .. case[1], "digest=" .. (case[6] or case[3]), "hash=" .. value }
  local rest = case[5]:gsub("version=(.*)$", function(text)
    local version = text:match "^no group" or text:match "^v0%.%d+ layer" or text:match "^%S+"
    parts[#parts + 1] = "version=" .. version
    return text:sub(#version + 1)
  end)
  for part in rest:gmatch "%S+" do parts[#parts + 1] = part end
  table.sort(parts)
  return table.concat(parts, " ")
end

describe("key conventions", function()
  local answers = projected()

  for i, case in ipairs(CASES) do
    it(("read %s of %s"):format(case[1], case[2]), function()
      local value, bits = answers[i]:match "^(%S+) (%x+)$"
      local records, hashes = read(quoted(case[1]), { case[2] })
      assert.equal(expected(case, value), records[1])
      assert.equal(bits, (hashes[1]:gsub("^c[cdef]", ""):gsub("^0+(%x)", "%1")))
    end)
  end

  for _, case in ipairs(STRANGERS) do
    it(("find no %s in %s"):format(case[1], case[2]), function()
      local records, hashes = read(quoted(case[1]), { case[2] })
      assert.equal("", records[1])
      assert.equal("", hashes[1])
    end)
  end

  it("are detected, each as what it is", function()
    local keys, names = {}, {}
    for _, case in ipairs(CASES) do
      if case[1] ~= "sglang-old" and case[1] ~= "sglang-mla" then
        keys[#keys + 1], names[#names + 1] = case[2], case[1]
      end
    end
    for i, record in ipairs((read("nil", keys, "keys.detect(event)"))) do
      assert.equal(names[i], record:match "convention=(%S+)", keys[i])
    end
  end)

  it("are detected nowhere in noise", function()
    for i, record in ipairs((read("nil", NOISE, "keys.detect(event)"))) do
      assert.equal("", record, NOISE[i])
    end
  end)

  it("match no text that patterns could not run over", function()
    local long = ("x"):rep(100000)
    local keys = {
      P .. "_0_" .. long, P .. "_" .. long .. ".bin", "m@1@0@1fa@half@t%" .. long,
      "vllm@" .. long .. "@1@0@1fa", "1:" .. long,
      ASCEND .. "@pp_rank:1@group:0@cache_role:kv@cache_family:" .. long .. "@" .. H,
      "vllm@m@1@0@" .. ("1"):rep(100000), ("1"):rep(100000), "0x" .. ("1"):rep(100000),
    }
    for i, record in ipairs((read("nil", keys, "keys.detect(event)"))) do
      assert.equal("", record, keys[i]:sub(1, 80))
    end
    assert.equal("", read('"lmcache-mp"', { long .. "@01000100@0@" .. H })[1])
    local record = read('"vllm"', { long .. "@m" .. VLLM .. "@" .. H })[1]
    assert.truthy(record:find("prefix=" .. long, 1, true))
  end)

  it("are tried in the order of a configured list", function()
    local key = P .. "_1_k"
    local detect = "keys.detect(event, reader)"
    assert.truthy(read('{ "vllm", "sglang-mla" }', { key }, detect)[1]:find("pp=1", 1, true))
    assert.truthy(read('{ "sglang", "sglang-mla" }', { key }, detect)[1]:find("tp=1", 1, true))
    assert.equal("", read('{ "vllm", "kvbm" }', { key }, detect)[1])
  end)

  it("tell SGLang's model from its tag when the models are known", function()
    local records = read('"sglang", { "Qwen/Qwen3-8B", "a_b" }', {
      "tag_Qwen-Qwen3-8B_" .. P, "Qwen-Qwen3-8B_" .. P, "t_x_a_b_" .. P, "tag_other_" .. P,
    })
    assert.truthy(records[1]:find("model=Qwen/Qwen3-8B prefix=tag", 1, true), records[1])
    assert.truthy(records[2]:find("model=Qwen/Qwen3-8B version", 1, true), records[2])
    assert.truthy(records[3]:find("model=a_b prefix=t_x", 1, true), records[3])
    assert.truthy(records[4]:find(" prefix=tag_other version", 1, true), records[4])
  end)

  it("agree with python on pages that hashlib chains and on vLLM's vectors", function()
    local pages = python.lines([[
import hashlib, struct, sys
for line in sys.stdin:
    digest = b""
    for page in line.split(";"):
        tokens = [int(token) for token in page.split(",")]
        digest = hashlib.sha256(digest + struct.pack("<%dI" % len(tokens), *tokens)).digest()
    print(digest.hex(), int.from_bytes(digest[:8], "big", signed=True))
]], { "1,2,3,4", "1,2,3,4;5,6,7,8" })
    assert.equal(P, pages[1]:match "^%x+")
    for _, page in ipairs(pages) do
      local digest, hash = page:match "^(%x+) (%S+)$"
      local record = read('"sglang"', { digest .. "_0_k" })[1]
      assert.truthy(record:find("hash=" .. hash .. " ", 1, true), record)
    end
    local record = read('"vllm"', { "m" .. VLLM .. "@" .. H })[1]
    assert.truthy(record:find("hash=7982712666671721126 ", 1, true), record)
  end)

  for _, case in ipairs({
    { 'keys.reader "vlm"', '"vlm"; did you mean "vllm"? known are integer, kvbm, lmcache, ' },
    { "keys.reader {}", "at least one convention" }, { "keys.reader { 1 }", "convention is a str" },
    { 'keys.convention "kvbm"', "known are lmcache, sglang, vllm" },
    { "keys.reader().forms = 1", "cannot be changed" },
  }) do
    it("refuse " .. case[1], function()
      local script = ('local keys = require "kvgate.keys"\nreturn function() %s end\n')
        :format(case[1]:find "=" and case[1] or "local _ = " .. case[1])
      local ok, why = pcall(relay.new, YAML, { ["probe.lua"] = script })
      assert.is_false(ok)
      assert.truthy(tostring(why):find(case[2], 1, true), tostring(why))
    end)
  end
end)

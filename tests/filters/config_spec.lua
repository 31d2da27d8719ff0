--- The configurations that ship do what their comments say.

local environment = require "tests.support.environment"
local gateway = require "gateway"
local wire = require "tests.support.wire"

local function read(path)
  local file = assert(io.open(path))
  local text = file:read "*a"
  file:close()
  return text
end

local numbers -- last number by source

local function open(path)
  numbers = {}
  return gateway.relay(read(path), { path = path, installed = { "filters" } })
end

local H64 = "6358e31578a64b75ebe28cdb99d3beae65de82a2087321dc6ec84ae048faaaa6"
local KEY = "Qwen3-8B@tp_rank:0@pcp0@dcp0@pp_rank:0@group:0@" .. H64

local function send(relay, source, fields)
  local number = (numbers[source] or 0) + 1
  numbers[source], fields.event_id = number, number
  fields.object_key = fields.object_key or fields.event_type ~= "cleared" and KEY or nil
  relay:receive(source, number, wire.payload(nil, { wire.event(fields) }))
end

--- The events that a stream sent since the last call.
local function events(relay, stream)
  local list = {}
  for _, message in ipairs(relay:sent(stream)) do
    for _, event in ipairs(wire.decode(message.payload)[2]) do list[#list + 1] = event end
  end
  return list
end

describe("config/quickstart.yaml", function()
  it("splits the tenants of the simulator and gives everyone all of them", function()
    local relay = open "config/quickstart.yaml"
    for _, tenant in ipairs { "acme", "globex", "initech" } do
      send(relay, "store", { tenant_id = tenant })
    end
    local acme, globex = events(relay, "acme"), events(relay, "globex")
    assert.equal(1, #acme)
    assert.equal("acme", wire.get(acme[1], "tenant_id"))
    assert.equal(1, #globex)
    assert.equal("globex", wire.get(globex[1], "tenant_id"))
    assert.equal(3, #events(relay, "everyone"))
  end)

  it("turns keys into the low 64 bits of their hash", function()
    local relay = open "config/quickstart.yaml"
    send(relay, "store", { tenant_id = "acme" })
    local hashes = wire.get(events(relay, "acme")[1], "seq_hashes")
    assert.same({ kind = "array", 0x6ec84ae048faaaa6ULL }, hashes)
  end)

  it("sends a cleared to its tenant and to everyone", function()
    local relay = open "config/quickstart.yaml"
    send(relay, "store", { event_type = "cleared", tenant_id = "globex" })
    assert.equal(0, #events(relay, "acme"))
    assert.equal(1, #events(relay, "globex"))
    assert.equal(1, #events(relay, "everyone"))
  end)
end)

describe("config/fanout.yaml", function()
  it("sends the cpu tier of two tenants to tenants-eu", function()
    local relay = open "config/fanout.yaml"
    send(relay, "store-a", { tenant_id = "acme" })
    send(relay, "store-b", { tenant_id = "globex" })
    send(relay, "store-a", { tenant_id = "globex", medium = "disk" })
    send(relay, "store-a", { tenant_id = "initech" })
    send(relay, "store-a", { event_type = "cleared", tenant_id = "acme" })
    assert.equal(3, #events(relay, "tenants-eu"))
  end)

  it("completes events for Conductor and renames their backends", function()
    local relay = open "config/fanout.yaml"
    send(relay, "store-a", { backend_id = "store-a" })
    send(relay, "store-b", { backend_id = "store-b" })
    local list = events(relay, "conductor")
    local function context(event)
      return ("%s %s %s"):format(wire.get(event, "backend_id"), wire.get(event, "model_name"),
        wire.get(event, "block_size"))
    end
    assert.equal("pool-1 Qwen3-8B 64", context(list[1]))
    assert.equal("pool-2 Qwen3-32B 128", context(list[2]))
    assert.is_nil(wire.get(list[1], "type"))
    assert.equal(1, wire.get(list[1], "event_id"))
    assert.equal(2, wire.get(list[2], "event_id"))
  end)

  it("shows store-b alone to audit, and drops what is no KV cache without a gap", function()
    local relay = open "config/fanout.yaml"
    send(relay, "store-a", {})
    send(relay, "store-b", { object_key = "weights/layer.0" })
    send(relay, "store-b", {})
    local messages = relay:sent "audit"
    assert.equal(1, #messages)
    assert.equal(1, messages[1].sequence)
  end)
end)

describe("config/readers.yaml", function()
  local SGLANG = H64 .. "_0_k"
  local relay

  setup(function() environment.set("KVGATE_REDACTION_KEY", "0123456789abcdef") end)
  before_each(function() relay = open "config/readers.yaml" end)

  it("gives Conductor the context, the digest and no group of vLLM's blocks", function()
    send(relay, "store", { group_id = "store-group" })
    send(relay, "store", { object_key = SGLANG })
    local list = events(relay, "conductor-vllm")
    assert.equal(1, #list)
    assert.equal("Qwen3-8B", wire.get(list[1], "model_name"))
    assert.equal(16, wire.get(list[1], "block_size"))
    assert.equal(H64, wire.get(list[1], "connector_block_hash"))
    assert.equal(wire.null, wire.get(list[1], "group_id"))
  end)

  it("gives it SGLang's parts with the high 64 bits, of the tenant registered", function()
    send(relay, "store", { object_key = SGLANG, tenant_id = "default" })
    send(relay, "store", { object_key = SGLANG, tenant_id = "acme" })
    send(relay, "store", { tenant_id = "default" })
    local list = events(relay, "conductor-sglang")
    assert.equal(1, #list)
    assert.same({ kind = "array", 0x6358e31578a64b75ULL }, wire.get(list[1], "seq_hashes"))
  end)

  it("gives Dynamo keys as they are, of one tier, under the tenant that it looks at", function()
    send(relay, "store", { object_key = SGLANG, tenant_id = "acme" })
    send(relay, "store", { object_key = SGLANG, tenant_id = "acme", medium = "disk" })
    send(relay, "store", { object_key = SGLANG, tenant_id = "globex" })
    local list = events(relay, "dynamo-acme")
    assert.equal(1, #list)
    assert.equal(SGLANG, wire.get(list[1], "object_key"))
    assert.equal("default", wire.get(list[1], "tenant_id"))
  end)

  it("gives blocks one event when all ranks have stored, one when the first removes", function()
    local other = KEY:gsub("tp_rank:0", "tp_rank:1")
    send(relay, "store", {})
    assert.equal(0, #events(relay, "blocks"))
    send(relay, "store", { object_key = other })
    local stored = events(relay, "blocks")
    assert.equal(1, #stored)
    assert.same({ kind = "array", 0x6ec84ae048faaaa6ULL }, wire.get(stored[1], "seq_hashes"))
    send(relay, "store", { event_type = "removed" })
    send(relay, "store", { event_type = "removed", object_key = other })
    assert.equal(1, #events(relay, "blocks"))
  end)

  it("gives the canary whole blocks or nothing of them", function()
    for block = 1, 300 do
      for part = 0, 1 do
        send(relay, "store", { object_key = ("%016x%048x_%d_k"):format(block, block, part) })
      end
    end
    local parts, blocks = {}, 0
    for _, event in ipairs(events(relay, "canary")) do
      local hash = wire.get(event, "object_key"):sub(1, 64)
      parts[hash] = (parts[hash] or 0) + 1
    end
    for _, count in pairs(parts) do
      assert.equal(2, count)
      blocks = blocks + 1
    end
    assert.is_true(blocks > 0 and blocks < 30)
  end)

  it("gives analysts nothing that they can read", function()
    send(relay, "store", { tenant_id = "acme" })
    local payload = relay:sent("analysts")[1].payload
    for _, readable in ipairs { "acme", H64:sub(1, 16), "\x6e\xc8\x4a\xe0\x48\xfa\xaa\xa6" } do
      assert.is_nil(payload:find(readable, 1, true))
    end
  end)

  it("tells each of them of a cleared", function()
    send(relay, "store", { event_type = "cleared", tenant_id = "acme" })
    for _, stream in ipairs {
      "conductor-vllm", "dynamo-acme", "blocks", "canary", "analysts",
    } do
      assert.equal(1, #events(relay, stream), stream)
    end
  end)
end)

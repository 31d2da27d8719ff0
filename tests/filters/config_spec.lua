--- The configurations that ship do what their comments say.

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

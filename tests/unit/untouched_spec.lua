--- No filter that changes nothing changes a byte, whatever the bytes are: random payloads through
--- filters that keep, look, copy out and name streams; one, several, of all and of one stream.
---
---   KVGATE_PAYLOADS=20000 luajit /usr/bin/busted … tests/unit/untouched_spec.lua

local python = require "tests.support.python"
local relay = require "tests.support.relay"
local wire = require "tests.support.wire"

local COUNT = tonumber(os.getenv "KVGATE_PAYLOADS" or 80)
local SEED = tonumber(os.getenv "KVGATE_SEED" or os.time())

local FILTERS = {
  ["keep.lua"] = "return true",
  ["same.lua"] = "return event",
  ["list.lua"] = "return { event }",
  ["read.lua"] = [[
    for _, name in ipairs {
      "event_id", "timestamp", "event_type", "type", "model_name", "block_size", "additional_salt",
      "lora_name", "tenant_id", "backend_id", "medium", "dp_rank", "group_id", "object_key",
      "connector_block_hash", "cache_prefix", "tp_rank", "head_or_tp_rank", "pcp_rank", "dcp_rank",
      "pp_rank", "layer_id", "seq_hashes", "block_hashes", "base_block_idx", "parent_hash",
      "token_ids", "parent_block_hash", "unknown1", "deep", "twice", "nobody has it" } do
      local _ = event[name], event:has(name)
    end
    for name, item in pairs(event) do assert(type(name) == "string" and item ~= error) end
    return tostring(event) ~= ""]],
  ["table.lua"] = [[
    local fields = event:to_table()
    fields.tenant_id, fields.unknown1 = "another", nil
    return true]],
  ["copy.lua"] = [[
    local copy = event:copy()
    copy.tenant_id = "another"
    copy:remove "object_key"
    return event]],
  ["undone.lua"] = "local _ = event.object_key error 'no'", -- on_error: pass
  ["names.lua"] = [[return { "plain", "all", "each", "self" }]],
  -- The same value, in a form that need not be the same: what msgpack says it is stays.
  ["self.lua"] = [[
    for name, item in pairs(event) do
      if name ~= "event_id" and name ~= "twice" then event[name] = item end
    end
    return true]],
}

local function stream(name, ...)
  local filters = {}
  for index, script in ipairs { ... } do
    local policy = script == "undone.lua" and ", on_error: pass" or ""
    filters[index] = ("{ script: %s%s }"):format(script, policy)
  end
  return ('  - { name: %s, bind: "ipc:///tmp/%s", event_id: keep, filters: [%s] }\n')
    :format(name, name, table.concat(filters, ", "))
end

local function new(global)
  local files = {}
  for name, body in pairs(FILTERS) do
    files[name] = "return function() return function(event)\n" .. body .. "\nend end"
  end
  local streams = stream "plain" .. stream("self", "self.lua")
    .. stream("all", "keep.lua", "same.lua", "list.lua", "read.lua", "table.lua", "copy.lua",
      "undone.lua", "names.lua")
    .. stream("each", "read.lua")
  return relay.new(('sources: [ { name: store, connect: "ipc:///tmp/in", gap_guard: false } ]\n'
    .. "filters: [ %s ]\nstreams:\n%s"):format(global, streams), files)
end

local GLOBAL = "{ script: read.lua }, { script: same.lua }, { script: copy.lua }, "
  .. "{ script: undone.lua, on_error: pass }, { script: table.lua }"

local function payloads()
  local list = {}
  local file = assert(io.open "tests/support/random_payloads.py")
  local script = file:read "*a"
  file:close()
  for line in python.run(script, SEED .. " " .. COUNT):gmatch "%x+" do
    list[#list + 1] = wire.unhex(line)
  end
  assert.equal(COUNT, #list)
  return list
end

--- What python3-msgpack makes of each, with pairs for maps so that order and repetition show; a
--- payload may have become several.
local function seen_by_python(list)
  local lines = {}
  for index, payloads_of in ipairs(list) do
    local digits = {}
    for part, payload in ipairs(payloads_of) do digits[part] = wire.hex(payload) end
    lines[index] = table.concat(digits, " ")
  end
  return python.lines([[
import hashlib, sys
import msgpack
def unpack(digits):
    return msgpack.unpackb(bytes.fromhex(digits), raw=False, unicode_errors="surrogateescape",
                           strict_map_key=False, object_pairs_hook=tuple, use_list=False,
                           ext_hook=lambda kind, data: (kind, data))
for line in sys.stdin:
    parts = [unpack(digits) for digits in line.split()]
    told = repr(({(time, rank) for time, _, rank in parts},
                 [event for _, events, _ in parts for event in events]))
    print(hashlib.sha256(told.encode("utf-8", "surrogateescape")).hexdigest())]], lines)
end

--- Run all payloads through a relay: what each stream sent for each, as a list.
local function run(subject, list)
  local sent = { plain = {}, all = {}, each = {}, self = {} }
  for index, payload in ipairs(list) do
    subject.core:receive("store", index, payload)
    for name, into in pairs(sent) do
      into[index] = {}
      for part, message in ipairs(subject.core:sent(name)) do
        into[index][part] = message.payload
      end
    end
  end
  return sent
end

local function check_same(list, sent, name)
  for index, payload in ipairs(list) do
    local got = sent[name][index]
    if #got ~= 1 or got[1] ~= payload then
      error(("payload %d (seed %d), changed on %s, %d messages:\n%s\n%s"):format(index, SEED,
        name, #got, wire.hex(payload:sub(1, 2000)), wire.hex(got[1]:sub(1, 2000))))
    end
  end
end

describe("a filter that changes nothing", function()
  local list = payloads()

  for title, global in pairs { ["of one stream"] = "", ["of all, before those"] = GLOBAL } do
    it("changes no byte: " .. title, function()
      local sent = run(new(global), list)
      for _, name in ipairs { "plain", "all", "each" } do check_same(list, sent, name) end
    end)
  end

  it("changes no value where it assigns each field to itself", function()
    local sent = run(new "", list)
    local whole = {}
    for index, payload in ipairs(list) do whole[index] = { payload } end
    local expected, seen = seen_by_python(whole), seen_by_python(sent.self)
    for index in ipairs(list) do
      assert.equal(expected[index], seen[index], ("payload %d (seed %d)"):format(index, SEED))
    end
  end)
end)

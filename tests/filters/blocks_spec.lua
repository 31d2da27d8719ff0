local folder = require "tests.support.folder"
local testing = require "kvgate.testing"

local DIGEST = "6358e31578a64b75ebe28cdb99d3beae65de82a2087321dc6ec84ae048faaaa6"
local LOW, HIGH = 0x6ec84ae048faaaa6ULL, 0x6358e31578a64b75ULL

local function digest(number) return DIGEST:sub(1, -9) .. ("%08x"):format(number) end

local function vllm(tp, number, model)
  return ("%s@tp_rank:%d@pcp0@dcp0@pp_rank:0@group:0@%s"):format(model or "Qwen3-8B", tp,
    number and digest(number) or DIGEST)
end

local function stored(key, fields)
  local event = { event_type = "stored", object_key = key }
  for name, value in pairs(fields or {}) do event[name] = value end
  return event
end

local function removed(key, fields)
  local event = stored(key, fields)
  event.event_type = "removed"
  return event
end

local function chain(options) return testing.filter("blocks.lua", options) end

local function vllm_chain(options)
  local all = { convention = "vllm", tp = 2 }
  for name, value in pairs(options or {}) do all[name] = value end
  return chain(all)
end

describe("blocks", function()
  it("makes one event of a block's parts, once all are there", function()
    local subject = vllm_chain { connector = true }
    subject:drops(stored(vllm(0)))
    subject:keeps(stored(vllm(1)), {
      object_key = vllm(0), seq_hashes = { LOW }, block_hashes = { LOW },
      connector_block_hash = DIGEST,
    })
  end)

  it("retracts the block with its first part, by the key that it was announced by", function()
    local subject = vllm_chain()
    for tp = 0, 1 do subject:send(stored(vllm(tp))) end
    local hashes = { seq_hashes = { LOW }, block_hashes = { LOW } }
    hashes.object_key = vllm(0)
    subject:keeps(removed(vllm(1)), hashes)
    subject:drops(removed(vllm(0)))
  end)

  it("announces it again when the part that went is there again", function()
    local subject = vllm_chain()
    for tp = 0, 1 do subject:send(stored(vllm(tp))) end
    subject:send(removed(vllm(0)))
    subject:drops(stored(vllm(1)))
    assert.equal("kept", subject:send(stored(vllm(0))).verdict)
  end)

  it("says nothing of repeats", function()
    local subject = vllm_chain()
    for _ = 1, 3 do subject:drops(stored(vllm(0))) end
    subject:send(stored(vllm(1)))
    for tp = 0, 1 do subject:drops(stored(vllm(tp))) end
    subject:send(removed(vllm(1)))
    for tp = 0, 1 do subject:drops(removed(vllm(tp))) end
  end)

  it("says nothing of what nobody stored", function()
    vllm_chain():drops(removed(vllm(0)))
  end)

  for name, fields in pairs {
    medium = { medium = "disk" }, backend = { backend_id = "other" },
    tenant = { tenant_id = "other" },
  } do
    it("counts the parts of each " .. name .. " by themselves", function()
      local subject = vllm_chain()
      subject:drops(stored(vllm(0)))
      subject:drops(stored(vllm(1), fields))
      assert.equal("kept", subject:send(stored(vllm(0), fields)).verdict)
      assert.equal("kept", subject:send(stored(vllm(1))).verdict)
    end)
  end

  it("counts the parts of each source by themselves", function()
    local subject = testing.chain(
      { { script = "blocks.lua", options = { convention = "vllm", tp = 2 } } },
      { sources = { "a", "b" } })
    assert.equal("dropped", subject:send(stored(vllm(0)), "a").verdict)
    assert.equal("dropped", subject:send(stored(vllm(1)), "b").verdict)
    assert.equal("kept", subject:send(stored(vllm(1)), "a").verdict)
  end)

  it("counts the parts of each model and prefix by themselves", function()
    local subject = vllm_chain()
    subject:drops(stored(vllm(0)))
    subject:drops(stored(vllm(1, nil, "other")))
    subject:drops(stored(vllm(1, nil, "prefix@Qwen3-8B")))
  end)

  it("forgets what a cleared retracts, and passes it", function()
    local subject = vllm_chain()
    subject:drops(stored(vllm(0)))
    subject:keeps { event_type = "cleared" }
    subject:drops(stored(vllm(1)))
    subject:drops(removed(vllm(1)))
  end)

  it("forgets what one of another tenant does not retract not", function()
    local subject = vllm_chain()
    subject:drops(stored(vllm(0)))
    subject:keeps { event_type = "cleared", tenant_id = "other" }
    assert.equal("kept", subject:send(stored(vllm(1))).verdict)
  end)

  it("takes a cleared without backend and tenant for all of them", function()
    local subject = vllm_chain()
    subject:drops(stored(vllm(0)))
    subject:keeps { event_type = "cleared", tenant_id = testing.null,
      backend_id = testing.absent }
    subject:drops(stored(vllm(1)))
  end)

  it("makes a cleared of one medium one of all, as all were forgotten", function()
    vllm_chain():keeps({ event_type = "cleared", medium = "cpu" }, { medium = testing.null })
  end)

  it("tells readers of each backend and tenant that a loss left in doubt", function()
    local subject = vllm_chain()
    subject:send(stored(vllm(0)))
    subject:send(stored(vllm(0), { tenant_id = "acme" }))
    local told = {}
    for _, event in ipairs(subject:gap().streams.out) do
      assert.equal("cleared", event.event_type)
      assert.equal("mooncake", event.backend_id)
      told[event.tenant_id] = (told[event.tenant_id] or 0) + 1
    end
    assert.same({ acme = 1, default = 1 }, told)
    subject:drops(stored(vllm(1)))
  end)

  it("says nothing of a loss when nothing was known", function()
    assert.same({}, vllm_chain():gap().streams)
  end)

  it("keeps what it knows of other sources when one loses", function()
    local subject = testing.chain(
      { { script = "blocks.lua", options = { convention = "vllm", tp = 2 } } },
      { sources = { "a", "b" } })
    subject:send(stored(vllm(0), { backend_id = "pool-a" }), "a")
    subject:send(stored(vllm(0), { backend_id = "pool-b" }), "b")
    assert.equal("pool-a", subject:gap(1, "a").streams.out[1].backend_id)
    assert.equal("kept", subject:send(stored(vllm(1), { backend_id = "pool-b" }), "b").verdict)
  end)

  it("forgets what an event in front of it that was lost leaves in doubt", function()
    local fails = folder.file
      "return function() return function(event) return event.fail == nil or nil end end"
    local subject = testing.chain { { script = fails },
      { script = "blocks.lua", options = { convention = "vllm", tp = 2 } } }
    subject:send(stored(vllm(0)))
    assert.equal("cleared",
      subject:send(stored(vllm(1), { fail = true })).streams.out[1].event_type)
    subject:drops(stored(vllm(1)))
  end)

  -- ---- topology ----

  for name, case in pairs {
    ["k and v of SGLang"] = {
      { convention = "sglang", tp = 2, components = { "k", "v" } },
      { DIGEST .. "_0_k", DIGEST .. "_1_v", DIGEST .. "_0_v", DIGEST .. "_1_k" }, DIGEST, HIGH,
    },
    ["the stages of SGLang's latent attention"] = {
      { convention = "sglang-mla", pp = 2, components = "k" },
      { "tag_" .. DIGEST .. "_1_k", "tag_" .. DIGEST .. "_0_k" }, "tag_" .. DIGEST, HIGH,
    },
    ["the layers of vllm-ascend"] = {
      { convention = "vllm-ascend", tp = 1, layers = 3 },
      { "m@pcp0@dcp0@head_or_tp_rank:0@" .. DIGEST .. "@2",
        "m@pcp0@dcp0@head_or_tp_rank:0@" .. DIGEST .. "@0",
        "m@pcp0@dcp0@head_or_tp_rank:0@" .. DIGEST .. "@1" },
      "m@pcp0@dcp0@head_or_tp_rank:0@" .. DIGEST .. "@0", LOW,
    },
    ["the groups of vllm-ascend, with roles of their own"] = {
      { convention = "vllm-ascend", groups = 2 },
      { "m@pcp0@dcp0@head_or_tp_rank:0@pp_rank:0@group:0@cache_role:kv@cache_family:default@"
          .. DIGEST,
        "m@pcp0@dcp0@head_or_tp_rank:0@pp_rank:0@group:1@cache_role:state@cache_family:c4@"
          .. DIGEST },
      "m@pcp0@dcp0@head_or_tp_rank:0@pp_rank:0@group:0@cache_role:kv@cache_family:default@"
        .. DIGEST, LOW,
    },
    ["ranks of DCP, which are those of TP in vLLM's keys"] = {
      { convention = "vllm", tp = 4, dcp = 2 },
      { "m@tp_rank:0@pcp0@dcp0@pp_rank:0@" .. DIGEST, "m@tp_rank:1@pcp0@dcp1@pp_rank:0@" .. DIGEST,
        "m@tp_rank:2@pcp0@dcp0@pp_rank:0@" .. DIGEST,
        "m@tp_rank:3@pcp0@dcp1@pp_rank:0@" .. DIGEST },
      "m@tp_rank:0@pcp0@dcp0@pp_rank:0@" .. DIGEST, LOW,
    },
    ["layers and workers of LMCache"] = {
      { convention = "lmcache", tp = 2, layers = 2 },
      { "a/m@2@0@1fa@half@0", "a/m@2@1@1fa@half@1", "a/m@2@0@1fa@half@1", "a/m@2@1@1fa@half@0" },
      "a/m@2@0@1fa@half", 0x1fa,
    },
    ["workers and groups of LMCache's MP server, with a salt"] = {
      { convention = "lmcache-mp", tp = 2, groups = 2 },
      { "a/m@02000200@0@" .. DIGEST .. "@salt", "a/m@02010201@0@" .. DIGEST .. "@salt",
        "a/m@02000200@1@" .. DIGEST .. "@salt", "a/m@02010201@1@" .. DIGEST .. "@salt" },
      "a/m@02000200@0@" .. DIGEST .. "@salt", LOW,
    },
  } do
    it("knows " .. name, function()
      local options, parts, key, hash = unpack(case)
      local subject = chain(options)
      for index = 1, #parts - 1 do subject:drops(stored(parts[index])) end
      subject:keeps(stored(parts[#parts]),
        { object_key = key, seq_hashes = { hash }, block_hashes = { hash } })
      assert.equal(key, subject:send(removed(parts[2])).streams.out[1].object_key)
    end)
  end

  it("makes blocks without the components that are not named", function()
    local subject = chain { convention = "sglang", components = { "k", "v" } }
    subject:drops(stored(DIGEST .. "__indexer"))
    subject:drops(stored(DIGEST .. "_0_k"))
    assert.equal("kept", subject:send(stored(DIGEST .. "_0_v")).verdict)
    subject:drops(removed(DIGEST .. "__indexer"))
  end)

  it("tells salts apart", function()
    local subject = chain { convention = "lmcache-mp", tp = 2 }
    subject:drops(stored("m@02000200@0@" .. DIGEST .. "@acme"))
    subject:drops(stored("m@02010201@0@" .. DIGEST .. "@globex"))
    subject:drops(stored("m@02010201@0@" .. DIGEST))
  end)

  it("has a topology for each model that is named", function()
    local subject = chain {
      convention = "vllm", tp = 2, models = { big = { tp = 3 }, small = { pp = 1 } },
    }
    subject:drops(stored(vllm(0, nil, "big")))
    subject:drops(stored(vllm(1, nil, "big")))
    assert.equal("kept", subject:send(stored(vllm(2, nil, "big"))).verdict)
    assert.equal("kept", subject:send(stored(vllm(0, nil, "small"))).verdict)
    subject:drops(stored(vllm(0, nil, "other")))
    assert.equal("kept", subject:send(stored(vllm(1, nil, "other"))).verdict)
  end)

  it("has blocks of thousands of parts", function()
    local subject = chain { convention = "vllm", tp = 64, pp = 64 }
    local key = "m@tp_rank:%d@pcp0@dcp0@pp_rank:%d@" .. DIGEST
    local result
    for tp = 0, 63 do
      local events = {}
      for pp = 0, 63 do events[pp + 1] = stored(key:format(tp, pp)) end
      assert.is_nil(result and result.streams.out)
      result = subject:send_all(events)
    end
    assert.equal(key:format(0, 0), result.streams.out[1].object_key)
    assert.equal("kept", subject:send(removed(key:format(17, 33))).verdict)
  end)

  for key, mistake in pairs {
    [vllm(2)] = 'has tp rank 2, but option "tp" is 2: expected ranks from 0 to 1',
    ["m@tp_rank:0@pcp0@dcp0@pp_rank:1@" .. DIGEST] =
      'has pp rank 1, but option "pp" is not given: expected ranks from 0 to 0',
    ["m@tp_rank:0@pcp0@dcp0@pp_rank:0@group:1@" .. DIGEST] =
      'has group 1, but option "groups" is not given: expected groups from 0 to 0',
  } do
    it("loses a part that the options have no room for: it " .. mistake, function()
      local subject = vllm_chain()
      subject:drops(stored(vllm(0)))
      subject:loses(stored(key), "the object key " .. mistake)
      assert.equal("kept", subject:send(stored(vllm(1))).verdict)
    end)
  end

  it("loses a part that does not say what the options say it should", function()
    chain { convention = "vllm", groups = 2 }:loses(
      stored("m@tp_rank:0@pcp0@dcp0@pp_rank:0@" .. DIGEST),
      'option "groups" is 2, and the object key has none')
    chain { convention = "sglang", tp = 1 }:loses(stored(DIGEST .. "_0_k"),
      'has component "k", and option "components" is not given')
  end)

  -- ---- learning ----

  --- Send blocks of k and v, and return the keys that were announced.
  local function send_pages(subject, from, to, timestamp, parts)
    local keys = {}
    for number = from, to do
      for _, part in ipairs(parts or { "k", "v" }) do
        local result = subject:send(stored(digest(number) .. "_0_" .. part,
          { timestamp = timestamp }))
        for _, event in ipairs(result.streams.out or {}) do
          assert.equal("stored", event.event_type)
          keys[#keys + 1] = event.object_key
        end
      end
    end
    return keys
  end

  it("announces nothing while it learns, and then all that it held back", function()
    local subject = chain { convention = "sglang", settle = 10 }
    assert.same({}, send_pages(subject, 1, 30, 1000))
    assert.same({}, send_pages(subject, 31, 32, 10999))
    local keys = send_pages(subject, 33, 33, 11000)
    assert.equal(33, #keys)
    table.sort(keys)
    for number = 1, 33 do assert.equal(digest(number), keys[number]) end
    assert.same({ digest(34) }, send_pages(subject, 34, 34, 11000))
  end)

  it("takes 16 blocks to learn, however long that takes", function()
    local subject = chain { convention = "sglang", settle = 0 }
    assert.same({}, send_pages(subject, 1, 15, 1000))
    assert.equal(16, #send_pages(subject, 16, 16, 1000))
  end)

  it("does not announce what went while it learned", function()
    local subject = chain { convention = "sglang", settle = 0 }
    send_pages(subject, 1, 15, 1000)
    subject:drops(removed(digest(3) .. "_0_v"))
    subject:keeps({ event_type = "cleared", tenant_id = "other" })
    assert.equal(15, #send_pages(subject, 16, 16, 1000))
    subject:drops(removed(digest(3) .. "_0_k"))
  end)

  it("starts anew when a part comes that it had not learned, and says so", function()
    local subject = chain { convention = "sglang", settle = 0 }
    send_pages(subject, 1, 20, 1000)
    local result = subject:send(stored(digest(1) .. "__indexer"))
    assert.equal("cleared", result.streams.out[1].event_type)
    assert.equal(1, #result.streams.out)
    assert.same({}, send_pages(subject, 21, 35, 1000))
    assert.equal(16, #send_pages(subject, 36, 36, 1000))
  end)

  it("learns a part that all blocks turn out to have", function()
    local subject = chain { convention = "sglang", settle = 0 }
    send_pages(subject, 1, 20, 1000)
    subject:send(stored(digest(20) .. "_0_draft_k", { timestamp = 1000 }))
    assert.same({}, send_pages(subject, 22, 36, 1000, { "k", "v", "draft_k" }))
    assert.equal(16, #send_pages(subject, 37, 37, 1000, { "k", "v", "draft_k" }))
  end)

  it("is not taught by what is removed", function()
    local subject = chain { convention = "sglang", settle = 0 }
    send_pages(subject, 1, 16, 1000)
    subject:drops(removed(digest(1) .. "__indexer"))
    assert.same({ digest(17) }, send_pages(subject, 17, 17, 1000))
  end)

  it("learns each model by itself", function()
    local subject = chain { convention = "vllm", settle = 0 }
    for number = 1, 16 do
      for tp = 0, 1 do subject:send(stored(vllm(tp, number, "two"))) end
      subject:send(stored(vllm(0, number, "one")))
    end
    subject:drops(stored(vllm(0, 17, "two")))
    assert.equal("kept", subject:send(stored(vllm(0, 17, "one"))).verdict)
    assert.equal("kept", subject:send(stored(vllm(1, 17, "two"))).verdict)
  end)

  -- ---- bounds ----

  it("loses a part that there is no room for, by the name of the option", function()
    local subject = vllm_chain { blocks = 2 }
    subject:drops(stored(vllm(0, 1)))
    subject:drops(stored(vllm(0, 2)))
    subject:loses(stored(vllm(0, 3)), 'option "blocks": all 2 are taken')
    assert.equal(1, subject:lost())
    assert.equal("kept", subject:send(stored(vllm(1, 1))).verdict)
    assert.equal("kept", subject:send(removed(vllm(1, 1))).verdict)
    subject:drops(removed(vllm(0, 1)))
    subject:drops(stored(vllm(0, 3)))
  end)

  it("has room again for what was cleared", function()
    local subject = vllm_chain { blocks = 10 }
    for round = 1, 30 do
      for number = 1, 10 do subject:drops(stored(vllm(0, round * 10 + number))) end
      subject:keeps { event_type = "cleared" }
    end
  end)

  it("loses the event of a tenant too many, until others have no blocks", function()
    local subject = vllm_chain()
    local events = {}
    for tenant = 1, 1000 do events[tenant] = stored(vllm(0), { tenant_id = "t" .. tenant }) end
    subject:send_all(events)
    subject:loses(stored(vllm(0), { tenant_id = "one more" }), "more than 1000 pairs")
    subject:drops(removed(vllm(0), { tenant_id = "t7" }))
    subject:drops(stored(vllm(0), { tenant_id = "one more" }))
    subject:drops(stored(vllm(0), { tenant_id = "t999" }))
    assert.equal(1000, #subject:gap().streams.out)
  end)

  it("loses the event of a tenant whose name is no name", function()
    vllm_chain():loses(stored(vllm(0), { tenant_id = ("x"):rep(2000) }), "longer than 1024 bytes")
  end)

  it("learns so many models, and loses what is of another", function()
    local subject = chain { convention = "vllm" }
    for from = 1, 1024, 64 do
      local events = {}
      for number = from, from + 63 do
        events[#events + 1] = stored(vllm(0, nil, "model-" .. number))
      end
      assert.is_nil(subject:send_all(events).error)
    end
    subject:loses(stored(vllm(0, nil, "one more")), "more than 1024 models")
    subject:drops(stored(vllm(1, nil, "model-7")))
  end)

  it("learns so many parts, and loses others", function()
    local subject = chain { convention = "vllm" }
    for from = 0, 4095, 64 do
      local events = {}
      for tp = from, from + 63 do events[#events + 1] = stored(vllm(tp, 1)) end
      assert.is_nil(subject:send_all(events).error)
    end
    subject:loses(stored(vllm(4096, 1)), "more than 4096 parts")
  end)

  it("knows blocks whatever number of salts stands around their digests", function()
    local subject = chain { convention = "lmcache-mp", tp = 2 }
    local key = "m@020%d020%d@0@" .. DIGEST .. "@salt-%d"
    for from = 1, 20000, 500 do
      local events = {}
      for salt = from, from + 499 do events[#events + 1] = stored(key:format(0, 0, salt)) end
      assert.is_nil(subject:send_all(events).streams.out)
    end
    for salt = 1, 20000, 997 do
      assert.equal("kept", subject:send(stored(key:format(1, 1, salt))).verdict)
    end
  end)

  it("is not confused by keys that are made to be", function()
    local subject = chain { convention = "vllm", tp = 2 }
    for _, model in ipairs { "\0", "m\n0", "0:m", ("m"):rep(5000), "m@tp_rank:0", "é\255" } do
      subject:drops(stored(vllm(0, 1, model)))
      subject:drops(stored(vllm(0, 1, model .. "x")))
      assert.equal("kept", subject:send(stored(vllm(1, 1, model))).verdict)
    end
    subject:keeps(stored("m@tp_rank:18446744073709551616@pcp0@dcp0@pp_rank:0@" .. DIGEST))
    subject:loses(stored("m@tp_rank:18446744073709551615@pcp0@dcp0@pp_rank:0@" .. DIGEST),
      "tp rank 18446744073709551615")
  end)

  it("takes the parts of events that a filter emits in a tick, which have no source", function()
    local ticks = folder.file [[
      local emit = require "kvgate.emit"
      return function()
        local function tell(tp)
          emit { event_type = "stored", object_key =
            "m@tp_rank:" .. tp .. "@pcp0@dcp0@pp_rank:0@6358e31578a64b75" }
        end
        return { every = 1, on_tick = function() tell(0) tell(1) end }
      end
    ]]
    local subject = testing.chain { { script = ticks },
      { script = "blocks.lua", options = { convention = "vllm", tp = 2 } } }
    assert.equal("stored", subject:advance(1000).out[1].event_type)
  end)

  it("knows after a reload what it knew, as long as its options say the same", function()
    local subject = vllm_chain()
    local function reload(options)
      subject:reload { { script = "blocks.lua", options = options } }
    end
    subject:drops(stored(vllm(0)))
    reload { convention = "vllm", tp = 2, connector = true }
    assert.equal("kept", subject:send(stored(vllm(1))).verdict)
    reload { convention = "vllm", tp = 2, unmatched = "drop" }
    assert.equal("kept", subject:send(removed(vllm(1))).verdict)
    reload { convention = { "vllm" }, tp = 2 }
    assert.equal("kept", subject:send(stored(vllm(1))).verdict)
    reload { convention = "vllm", tp = 3 }
    subject:drops(removed(vllm(1)))
  end)

  it("knows a model after a reload that it learned before", function()
    local subject = chain { convention = "sglang", settle = 0 }
    send_pages(subject, 1, 16, 1000)
    subject:reload()
    assert.same({ digest(17) }, send_pages(subject, 17, 17, 1000))
  end)

  -- ---- what is of no block ----

  it("passes keys of another kind and events of another type untouched", function()
    local subject = vllm_chain()
    subject:keeps(stored "weights/layer.0")
    subject:keeps(stored(testing.absent))
    subject:keeps { event_type = "updated", object_key = vllm(0) }
  end)

  it("drops or loses keys of another kind where that is asked for, and cleared never", function()
    vllm_chain { unmatched = "drop" }:drops(stored "weights/layer.0")
    vllm_chain { unmatched = "drop" }:keeps { event_type = "cleared" }
    local subject = vllm_chain { unmatched = "lose" }
    subject:drops(stored(vllm(0)))
    subject:loses(stored "weights/layer.0", "of no convention given: weights/layer.0")
    assert.equal("kept", subject:send(stored(vllm(1))).verdict)
  end)

  it("reads the legacy types", function()
    local subject = vllm_chain()
    subject:drops { event_type = testing.null, type = "BlockStored", object_key = vllm(0) }
    local result = subject:send {
      event_type = testing.null, type = "BlockStored", object_key = vllm(1),
    }
    assert.equal("kept", result.verdict)
  end)

  for _, case in ipairs {
    { "no convention", {},
      'option "convention": expected a convention, such as vllm, not nil' },
    { "an unknown option", { convention = "vllm", ranks = 2 }, 'unknown option "ranks"' },
    { "an unknown convention", { convention = "vlm" }, "unknown key convention" },
    { "a convention without parts", { convention = "sglang-file" }, "sglang-file" },
    { "no convention that it knows by itself", { convention = 7 }, "a string or a list" },
    { "a rank of none", { convention = "vllm", tp = 0 }, 'option "tp": expected 1 or more' },
    { "too many parts", { convention = "vllm", tp = 100, pp = 100 }, "a block of 10000 parts" },
    { "a table of none", { convention = "vllm", blocks = 0 }, 'option "blocks": expected 1 to' },
    { "a wrong policy", { convention = "vllm", unmatched = "keep" }, "pass, drop or lose" },
    { "a model's mistake", { convention = "vllm", models = { m = { ranks = 2 } } },
      'unknown option "ranks"' },
  } do
    it("refuses " .. case[1], function()
      local mistake = testing.mistake("blocks.lua", case[2])
      assert.truthy(mistake and mistake:find(case[3], 1, true), mistake)
    end)
  end
end)

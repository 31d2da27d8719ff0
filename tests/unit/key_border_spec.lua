--- Key templates as scripts use them: require "kvgate.keys", through the whole relay.

local relay = require "tests.support.relay"
local wire = require "tests.support.wire"

local YAML = [[
sources: [ { name: store, connect: "tcp://127.0.0.1:5557" } ]
filters: [ { script: probe.lua, on_error: drop } ]
streams: [ { name: out, bind: "tcp://127.0.0.1:6001" } ]
]]

local VLLM = "m@tp_rank:2@pcp1@dcp0@pp_rank:3@0123456789abcdef000000000000002a"

--- A relay with one filter; `head` runs at load, `body` for each event.
local function probe(head, body)
  local text = ([[
    local keys = require "kvgate.keys"
    %s
    return function()
      return function(event)
        %s
        return event
      end
    end
  ]]):format(head, body)
  return relay.new(YAML, { ["probe.lua"] = text })
end

--- The one event that comes out for a key, field by field; nil if the filter raised.
local function run(head, body, key, fields)
  local subject = probe(head, body)
  subject:send { relay.event(key, fields) }
  local message = subject.core:sent("out")[1]
  if not message then return nil, subject end
  local event = {}
  for _, pair in ipairs(wire.decode(message.payload)[2][1]) do event[pair[1]] = pair[2] end
  return event, subject
end

--- Why a script raises: it catches the error and puts it into lora_name.
local function raised(head, body, key)
  local caught = "local ok, why = pcall(function() " .. body .. " end) "
    .. "event.lora_name = ok and 'nothing' or why"
  return run(head, caught, key or VLLM).lora_name
end

describe("a template in a filter", function()
  it("gives text as strings", function()
    local event = run('local t = keys.template "{a}@{b}"', [[
      local key = t:match(event, "object_key")
      event.lora_name = key:string "a" .. "|" .. key:string "b"
    ]], "x@\0\255@z")
    assert.equal("x@\0\255|z", event.lora_name)
  end)

  for _, case in ipairs({
    { "0", "number 0" }, { "007", "number 7" }, { "9007199254740992", "number 9007199254740992" },
    { "9007199254740993", "cdata 9007199254740993ULL" },
    { "18446744073709551615", "cdata 18446744073709551615ULL" },
  }) do
    it("gives the int " .. case[1] .. " exactly", function()
      local event = run('local t = keys.template "{n:int}"', [[
        local n = t:match(event, "object_key"):int "n"
        local digits = type(n) == "number" and ("%.0f"):format(n) or tostring(n)
        event.lora_name = type(n) .. " " .. digits
      ]], case[1])
      assert.equal(case[2], event.lora_name)
    end)
  end

  it("gives the first and the last 64 bits of a digest", function()
    local event = run('local t = keys.template "{h:hex}"', [[
      local key = t:match(event, "object_key")
      event.seq_hashes = { key:high64 "h", key:low64 "h" }
    ]], "fedcba98765432100123456789abcdef")
    assert.same({ kind = "array", 0xfedcba9876543210ULL, 0x0123456789abcdefULL }, event.seq_hashes)
  end)

  it("gives the sizes of captures, 0 for what is missing", function()
    local event = run('local t = keys.template "{a}[@{b:int}]"', [[
      local key = t:match(event, "object_key")
      event.lora_name = key:size "a" .. " " .. key:size "b"
    ]], "x\0yz")
    assert.equal("4 0", event.lora_name)
  end)

  it("gives nil for what is missing", function()
    local event = run("", [[
      local key = keys.vllm:match(event, "object_key")
      event.lora_name = tostring(key:int "group") .. tostring(key:string "cache_prefix")
        .. key:int "tp" .. key:int "pp"
    ]], VLLM)
    assert.equal("nilnil23", event.lora_name)
  end)

  it("matches any field as it is now, edited or unknown", function()
    local event = run('local t = keys.template "a{rest}"', [[
      event.group_id = "a-group"
      local edited = t:match(event, "group_id"):string "rest"
      local unknown = t:match(event, "vendor"):string "rest"
      event.vendor = "another"
      event.lora_name = edited .. unknown .. t:match(event, "vendor"):string "rest"
    ]], "k", { vendor = "a-vendor" })
    assert.equal("-group-vendornother", event.lora_name)
  end)

  it("matches bytes in a bin", function()
    local event = run('local t = keys.template "a{rest}"',
      'event.lora_name = t:match(event, "vendor"):string "rest"', "k", { vendor = wire.bin "ab" })
    assert.equal("b", event.lora_name)
  end)

  it("does not match what holds no string", function()
    local event = run('local t = keys.template "{any}"', [[
      local names = {}
      for _, name in ipairs { "block_size", "group_id", "seq_hashes", "nowhere", "object_key" } do
        names[#names + 1] = t:match(event, name) and name
      end
      event.lora_name = table.concat(names, " ")
    ]], "k", { block_size = 5 })
    assert.equal("object_key", event.lora_name)
  end)

  it("matches plain strings", function()
    local event = run('local t = keys.template "{a}@{n:int}"', [[
      local key = t:match_string("x@" .. event.block_size)
      event.lora_name = key:string "a" .. key:int "n" .. tostring(t:match_string "x@y")
    ]], "k", { block_size = 5 })
    assert.equal("x5nil", event.lora_name)
  end)

  it("keeps the string that a match is in alive", function()
    local event = run('local t = keys.template "{a}@{b}"', [[
      local key = t:match_string(("long"):rep(1000) .. "@" .. event.object_key)
      local waste = {}
      for i = 1, 100000 do waste[i % 100] = ("x"):rep(4000) .. i end
      event.lora_name = key:string "b"
    ]], "k")
    assert.equal("k", event.lora_name)
  end)

  it("tells what its captures hold", function()
    local event = run('local t = keys.template "{a}@{b:int}@{c:hex}@{d:hex64}"', [[
      event.lora_name = t:kind "a" .. t:kind "b" .. t:kind "c" .. t:kind "d" .. tostring(t:kind "e")
    ]], "k")
    assert.equal("textinthexhexnil", event.lora_name)
  end)

  it("matches thousands of events, compiled or not, as python does", function()
    local subject = probe("", [[
      local key = keys.vllm:match(event, "object_key")
      if key then
        event.seq_hashes = key:low64 "hash"
        event.block_size = key:int "tp"
        event.model_name = key:string "model"
      end
    ]])
    for batch = 1, 100 do
      local events = {}
      for i = 1, 64 do
        local hash = ("%016x%016x"):format(i * 7919, batch * 104729 + i)
        events[i] = relay.event(i % 9 == 0 and "other"
          or ("model-%d@tp_rank:%d@pcp0@dcp0@pp_rank:0@%s"):format(batch, i, hash))
      end
      subject:send(events)
      local out = wire.decode(subject.core:sent("out")[1].payload)[2]
      for i = 1, 64 do
        local hit = i % 9 ~= 0
        assert.equal(hit and batch * 104729 + i or nil, wire.get(out[i], "seq_hashes")[1])
        assert.equal(hit and i or wire.null, wire.get(out[i], "block_size"))
        assert.equal(hit and "model-" .. batch or wire.null, wire.get(out[i], "model_name"))
      end
    end
  end)
end)

describe("a match used too late raises", function()
  local T = 'local t = keys.template "{a}@{b}" '

  it("after a later match of its template", function()
    assert.truthy(raised(T, [[
      local first = t:match_string "x@y"
      t:match_string "v@w"
      first:string "a"
    ]]):find("a match used after its template matched again", 1, true))
  end)

  it("after a later try of its template that found nothing", function()
    assert.truthy(raised(T, [[
      local first = t:match_string "x@y"
      t:match(event, "lora_name")
      first:string "a"
    ]]):find("a match used after its template matched again", 1, true))
  end)

  it("but not after a match of another template", function()
    assert.equal("nothing", raised(T .. 'local u = keys.template "{a}@{b}"', [[
      local first = t:match_string "x@y"
      local second = u:match_string "v@w"
      assert(first:string "a" == "x" and second:string "a" == "v")
    ]]))
  end)

  it("after its batch", function()
    local subject = probe(T .. "local kept", [[
      if kept then event.lora_name = kept:string "a" else kept = t:match(event, "object_key") end
    ]])
    subject:send { relay.event "x@y" }
    assert.equal("1:x@y", subject:out "out")
    subject:send { relay.event "v@w" }
    assert.equal("", subject:out "out")
    assert.equal(1, subject:metric
      'kvgate_filter_errors_total{filter="probe.lua",stream="",position="1"}')
  end)
end)

describe("a mistake with a template is told:", function()
  local T = 'local t = keys.template "{a}@{b:int}" '

  for _, case in ipairs({
    { "an unknown capture", 't:match_string "x@1":string "c"', "the template has no {c}, but a" },
    { "text read as an int", 't:match_string "x@1":int "a"', "{a} is text, and this takes" },
    { "an int read as hex", 't:match_string "x@1":low64 "b"', "{b} is int, and this takes" },
    { "a name that is a number", 't:match_string "x@1":string(5)', "a capture's name is a string" },
    { "a field that is a number", "t:match(event, 5)", "a field's name is a string" },
    { "no event", 't:match("x@1", "object_key")', "not an event" },
    { "a number as string", "t:match_string(5)", "match_string takes a string, not the" },
    { "a dot for a colon", 't.match(event, "object_key")', "not a template" },
    { "a dot for a colon behind a match", 't:match_string "x@1".string "a"', "not a match" },
    { "another template for its own",
      't.match_string(keys.template "{a}", "x@1")', "not a template" },
    { "another's match for its own",
      't:match_string "x@1".string(keys.template "{a}":match_string "x", "a")', "not a match" },
    { "a template that is none", 'keys.template "{a"', 'key template "{a": column 1: { is never' },
    { "a template that is a number", "keys.template(5)", "a template is a string, not the" },
    { "an unknown convention", 'keys.convention "sgl"', "known are lmcache, sglang, vllm" },
    { "a method that a match lacks", 't:match_string "x@1":itn "n"',
      'a match has no method "itn"; did you mean "int"?' },
    { "a change of a template", "t.match = nil", "a template cannot be changed" },
    { "a change of a match", 't:match_string "x@1".string = nil', "a match cannot be changed" },
    { "templates without end", 'for _ = 1, 2000 do keys.template "x" end', "make them once" },
  }) do
    it(case[1], function()
      local why = raised(T, case[2])
      assert.truthy(why:find(case[3], 1, true), why)
    end)
  end

  it("at load, with the line of the script", function()
    local ok, why = pcall(probe, 'local t = keys.template "{a}{b}"', "")
    assert.is_false(ok)
    local expected = 'probe.lua:2: key template "{a}{b}": column 4: nothing tells'
    assert.truthy(why:find(expected, 1, true), why)
  end)
end)

describe("what scripts get of a template", function()
  it("holds no pointer that they could reach", function()
    assert.equal("nothing", raised('local t = keys.template "{a}"', [[
      local key = t:match_string "x"
      assert(getmetatable(t) == nil and getmetatable(key) == nil)
      assert(not pcall(function() key.__number = 5 end))
      assert(not pcall(function() t.__template = 5 end))
      assert(tostring(key) == "match of a key template", tostring(key))
      assert(tostring(t) == 'key template "{a}"', tostring(t))
    ]]))
  end)

  it("is theirs alone to change", function()
    local files = {
      ["probe.lua"] = [[
        local keys = require "kvgate.keys"
        keys.vllm = nil
        return function() return function() return true end end
      ]],
      ["second.lua"] = [[
        local keys = require "kvgate.keys"
        return function()
          return function(event) event.lora_name = tostring(keys.vllm:kind "hash") return event end
        end
      ]],
    }
    local yaml = YAML:gsub("on_error: drop }", "}, { script: second.lua }")
    local subject = relay.new(yaml, files)
    subject:send { relay.event(VLLM) }
    local events = wire.decode(subject.core:sent("out")[1].payload)[2]
    assert.equal("hex", wire.get(events[1], "lora_name"))
  end)
end)

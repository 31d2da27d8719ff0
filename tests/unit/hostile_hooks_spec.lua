--- Hooks that run on, and bombs through what hooks may do: only the hook at hand fails, events get
--- their verdicts, and the gateway goes on.

local relay = require "tests.support.relay"
local event = relay.event

local YAML = [[
sources: [ { name: store, connect: "ipc:///tmp/in", gap_guard: false } ]
filters: [ { script: f.lua } ]
streams: [ { name: out, bind: "ipc:///tmp/out" } ]
jit: %s
limits: { event: 20ms, stuck: 60s, memory: 64MiB }
]]
local ERRORS = 'kvgate_filter_errors_total{filter="f.lua",stream="",position="1"}'
local LOOP = "while true do pcall(function() while true do end end) end"

local function new(jit, hooks)
  return relay.new(YAML:format(jit), { ["f.lua"] =
    'local emit = require "kvgate.emit"\nreturn function()\nreturn {\n' .. hooks .. "\n}\nend" })
end

for _, jit in ipairs { "on", "off" } do
  describe("with jit: " .. jit .. ", time is up for", function()
    it("an on_batch that loops; the batch's events go on", function()
      local subject = new(jit, "on_batch = function() " .. LOOP .. " end")
      for index = 1, 3 do
        subject:send { event "a", event "b" }
        assert.equal(index .. ":a,b", subject:out "out")
        assert.equal(index, subject:metric(ERRORS))
      end
      subject:assert_identity "out"
    end)

    it("an on_loss that loops, also at its own failure", function()
      local subject = new(jit, "on_loss = function() " .. LOOP .. " end, "
        .. "on_event = function(event) if event.object_key == 'x' then " .. LOOP
        .. " end return true end")
      subject:send { event "a" }
      subject:send({ event "b", event "x", event "c" }, { seq = 4 })
      assert.equal("1:a 4:b 6:c", subject:out "out")
      assert.equal(3, subject:metric(ERRORS))
      subject:assert_identity "out"
    end)

    it("an on_tick that loops; it is called again when it is due", function()
      local subject = new(jit, "every = 1, on_tick = function() " .. LOOP .. " end")
      subject:send { event "a" }
      for index = 1, 3 do
        subject:at(index * 1500)
        assert.equal(index, subject:metric(ERRORS))
      end
      subject:send { event "b" }
      assert.equal("1:a 2:b", subject:out "out")
    end)

    it("an on_tick that fills memory", function()
      local subject = new(jit, "every = 1, on_tick = function() local s = 'x' "
        .. "while true do s = s .. s end end, on_event = function() return true end")
      for index = 1, 5 do subject:at(index * 1500) end
      subject:send { event "a" }
      assert.equal("1:a", subject:out "out")
      assert.equal(5, subject:metric(ERRORS))
    end)
  end)

  describe("with jit: " .. jit .. ", emit", function()
    local BOMB = "while true do pcall(emit, { event_type = 'stored', object_key = 'e' }) end"

    it("makes so many events at the most, and none of a call that failed", function()
      local subject = new(jit, "on_event = function(event) if event.object_key == 'x' then " .. BOMB
        .. " end return true end, every = 1, on_tick = function() " .. BOMB .. " end")
      subject:send { event "a", event "x", event "b" }
      assert.equal("1:a 3:b", subject:out "out")
      subject:at(1500)
      subject:send { event "c" }
      assert.equal("4:c", subject:out "out")
      assert.equal(2, subject:metric(ERRORS))
      subject:assert_identity "out"
    end)

    it("takes so much memory at the most", function()
      local subject = new(jit, "on_event = function(event) if event.object_key == 'x' then "
        .. "local big = ('x'):rep(2 ^ 20) for _ = 1, 1000 do "
        .. "pcall(emit, { event_type = 'stored', object_key = big }) end end return true end")
      subject:send { event "a", event "x", event "b" }
      assert.equal("1:a 3:b", subject:out "out")
      subject:send { event "c" }
      assert.equal("4:c", subject:out "out")
    end)

    it("is refused what is no event", function()
      local subject = new(jit, [[on_event = function(event)
        local t = setmetatable({}, { __index = function() return "stored" end })
        local itself = {}
        itself.event_type, itself.x = "stored", itself
        for _, bad in ipairs { t, {}, itself, event, 5ULL, { event_type = "stored", [1] = 2 },
          { event_type = "stored", event_id = 1 }, { event_type = "stored", x = emit } } do
          assert(not pcall(emit, bad))
        end
        assert(not pcall(emit) and not pcall(emit, nil, "out"))
        assert(not pcall(emit, { event_type = "stored" }, "nowhere"))
        assert(not pcall(emit, { event_type = "stored" }, { "out", {} }))
        return true
      end]])
      subject:send { event "a" }
      assert.equal("1:a", subject:out "out")
    end)
  end)
end

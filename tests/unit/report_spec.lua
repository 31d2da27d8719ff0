--- relay/report.c: /metrics and /status, checked by readers that are not ours.
local python = require "tests.support.python"
local relay = require "tests.support.relay"
local event = relay.event

local YAML = [[
sources: [ { name: "st\"ore", connect: "ipc:///tmp/in" } ]
filters: [ { script: f.lua } ]
streams:
  - { name: out, bind: "ipc:///tmp/out", topic: "kv@" }
  - { name: own, bind: "ipc:///tmp/own", filters: [ { script: f.lua } ] }
]]
local FILES = {
  ["f.lua"] = [[
return function()
  return function(event)
    if event.object_key == "d" then return false end
    if event.object_key == "x" then error "no" end
    if event.object_key == "r" then event.medium = "disk" end
    if event.object_key == "s" then return { event, event:copy() } end
    return true
  end
end]],
}

local function busy_subject()
  local subject = relay.new(YAML, FILES)
  local events = { event "a", event "d", event "x", event "r", event "s", 42 }
  subject:send(events, { source = 'st"ore' })
  return subject
end

describe("report", function()
  it("writes a status that another JSON reader understands", function()
    local program = [[
import json, sys
status = json.load(sys.stdin)
source, (out, own) = status["sources"][0], status["streams"]
print(source["name"], source["batches"], source["events"], source["malformed_events"]["not_a_map"])
print(source["losses"]["filter"], source["losses"]["event"], source["connected"])
print(out["name"], out["topic"], out["published_events"], out["last_sequence"])
for filter in status["filters"]:
    print(filter["script"], filter["stream"], filter["position"], *[filter[k] for k in
          ("kept", "dropped", "rewritten", "split", "errors")])
for stream in status["streams"]:
    assert stream["last_sequence"] == stream["published_batches"] + stream["reserved_numbers"]
]]
    assert.equal(
      'st"ore 1 6 1\n1 1 False\nout kv@ 4 4\nf.lua None 1 2 1 1 1 1\nf.lua own 1 2 0 0 2 0\n',
      python.run(program, busy_subject().core:status())
    )
  end)

  it("writes metrics in which every family is declared once and every label escaped", function()
    local program = [[
import re, sys
families, samples = [], 0
for line in sys.stdin.read().splitlines():
    if line.startswith("# TYPE "):
        families.append(line.split()[2])
    elif not line.startswith("#"):
        assert re.fullmatch(r"[a-z_]+(\{([a-z_]+=\"(\\.|[^\"\\])*\",?)*\})? [0-9.e+]+", line), line
        assert line.split("{")[0].split(" ")[0] == families[-1], line
        samples += 1
assert len(families) == len(set(families))
print(samples > 50)
]]
    assert.equal("True\n", python.run(program, busy_subject().core:metrics()))
  end)

  it("counts from 0 before anything has happened", function()
    local metrics = relay.new(YAML, FILES).core:metrics()
    for line in metrics:gmatch "[^\n]+" do
      if not line:find "^#" and not line:find "build_info" and not line:find "memory" then
        assert.truthy(line:find " 0$", line)
      end
    end
  end)
end)

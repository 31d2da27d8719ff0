--- script/metric.c and lua/kvgate/metrics.lua: counters and gauges of filters, and their bounds.
local python = require "tests.support.python"
local relay = require "tests.support.relay"
local event = relay.event

--- A filter that declares and, for each event, runs `body`.
local function filter(declarations, body)
  return ([[
    local metrics = require "kvgate.metrics"
    return function()
      %s
      return function(event)
        %s
        return true
      end
    end]]):format(declarations, body or "")
end

local BY_TENANT = 'local count = metrics.counter("seen_total", { labels = { "tenant_id" } })'
local ADD = "count:add(1, event.tenant_id)"
local PLACE = 'filter="f.lua",stream="",position="1"'

local function subject_of(declarations, body)
  return relay.new(relay.FILTERED, { ["f.lua"] = filter(declarations, body) })
end

local function send(subject, ...)
  for _, tenant in ipairs { ... } do subject:send { event("k", { tenant_id = tenant }) } end
end

--- What /metrics says of one family: the labels of its own and the value of each sample, sorted.
local function samples(subject, name)
  local list = {}
  for labels, number in subject.core:metrics()
    :gmatch("\nkvgate_filter_" .. name .. "{" .. PLACE .. ",?([^\n]*)} ([^\n]+)") do
    list[#list + 1] = labels .. " " .. number
  end
  table.sort(list)
  return list
end

--- What the call to a metric raises.
local function failure(declarations, body)
  local subject = subject_of(declarations, body)
  send(subject, "t")
  return subject.core:failure()
end

--- Why a declaration is refused.
local function refusal(declaration)
  local ok, message = pcall(subject_of, declaration)
  assert(not ok, "it loaded: " .. declaration)
  return message
end

local function assert_has(text, part)
  assert.truthy(text:find(part, 1, true), ("no %q in %s"):format(part, text))
end

describe("metrics of filters", function()
  it("are counters and gauges with labels of their own", function()
    local subject = subject_of(BY_TENANT .. [[
      local rank = metrics.gauge("rank", { labels = { "tenant_id", "medium" } })
      local all = metrics.counter "all_total" ]],
      ADD .. [[ count:add(2, "fixed") all:add(0) all:add(3)
        rank:set(2.5, event.tenant_id, "cpu") rank:add(-4, event.tenant_id, "cpu") ]])
    send(subject, "a", "b", "a")
    assert.same({ 'tenant_id="a" 2', 'tenant_id="b" 1', 'tenant_id="fixed" 6' },
      samples(subject, "seen_total"))
    assert.same({ 'tenant_id="a",medium="cpu" -1.5', 'tenant_id="b",medium="cpu" -1.5' },
      samples(subject, "rank"))
    assert.same({ " 9" }, samples(subject, "all_total"))
  end)

  it("are declared once a name, with the text that the first filter gave", function()
    local subject = relay.new([[
sources: [ { name: store, connect: "ipc:///tmp/in" } ]
filters: [ { script: f.lua }, { script: f.lua } ]
streams: [ { name: out, bind: "ipc:///tmp/out", filters: [ { script: f.lua } ] } ]
]], { ["f.lua"] = filter('local count = metrics.counter("all_total", { help = "All\\n." })',
      "count:add(1)") })
    send(subject, "a")
    assert_has(subject.core:metrics(), [[
# HELP kvgate_filter_all_total All\n.
# TYPE kvgate_filter_all_total counter
kvgate_filter_all_total{filter="f.lua",stream="",position="1"} 1
kvgate_filter_all_total{filter="f.lua",stream="",position="2"} 1
kvgate_filter_all_total{filter="f.lua",stream="out",position="1"} 1
]])
  end)

  it("begin at 0 with each reload", function()
    local subject = subject_of(BY_TENANT .. " count:add(0, 'known')", ADD)
    send(subject, "a")
    assert(subject.core:reload(relay.FILTERED))
    assert.same({ 'tenant_id="known" 0' }, samples(subject, "seen_total"))
  end)

  it("take texts, numbers, booleans, 64-bit integers and nil for labels", function()
    local subject = subject_of(BY_TENANT, [[
      for _ = 1, 2 do
        count:add(1, "5") count:add(1, 5) count:add(1, true) count:add(1, false)
        count:add(1, 0.5) count:add(1, event.event_id + (2ULL ^ 0)) count:add(1) count:add(1, "")
        count:add(1, 18446744073709551615ULL) count:add(1, -5LL)
      end]])
    subject:send { event("k", { event_id = 41 }) }
    assert.same({ 'tenant_id="" 4', 'tenant_id="-5" 2', 'tenant_id="0.5" 2',
      'tenant_id="18446744073709551615" 2', 'tenant_id="42" 2', 'tenant_id="5" 4',
      'tenant_id="false" 2', 'tenant_id="true" 2' }, samples(subject, "seen_total"))
  end)

  it("count above 2^53 to the last unit", function()
    local subject = subject_of('local all = metrics.counter "all_total"',
      "all:add(2 ^ 53) all:add(1) all:add(2 ^ 53)")
    send(subject, "a")
    assert.same({ " 18014398509481985" }, samples(subject, "all_total"))
  end)

  it("count a million label values within their limit, the rest as _other", function()
    local subject = subject_of(BY_TENANT, "for i = 1, 1000000 do count:add(1, 't' .. i) end")
    send(subject, "a")
    local list = samples(subject, "seen_total")
    assert.equal(1001, #list)
    assert_has(table.concat(list, "\n"), 'tenant_id="_other" 999000')
  end)

  it("have a limit of their own if the filter says so", function()
    local subject = subject_of([[local count = metrics.counter("seen_total",
      { labels = { "tenant_id", "medium" }, limit = 2 })]],
      "count:add(1, event.tenant_id, event.medium)")
    send(subject, "a", "b", "c", "d", "a")
    assert.same({ 'tenant_id="_other",medium="_other" 2', 'tenant_id="a",medium="cpu" 2',
      'tenant_id="b",medium="cpu" 1' }, samples(subject, "seen_total"))
  end)

  it("have 4 MiB for all label values together", function()
    local subject = subject_of([[
      local all = {}
      for i = 1, 5 do
        all[i] = metrics.counter("m" .. i, { labels = { "a", "b" }, limit = 10000 })
      end]],
      [[ for _, count in ipairs(all) do
        for i = 1, 10000 do count:add(1, ("x"):rep(122) .. 100000 + i, "") end
      end]])
    send(subject, "a")
    local series, rest = 0, 0
    for i = 1, 5 do
      for _, line in ipairs(samples(subject, "m" .. i)) do
        if line:find "_other" then rest = rest + tonumber(line:match "%d+$")
        else series = series + 1 end
      end
    end
    assert.equal(math.floor(2 ^ 22 / (64 + 128 + 2)), series)
    assert.equal(50000, series + rest)
  end)

  it("count as _other what is no text of up to 128 bytes, or _other itself", function()
    local subject = subject_of(BY_TENANT, [[
      for _, text in ipairs { ("x"):rep(2^20), ("x"):rep(129), "\255", "a\0b", "_other" } do
        count:add(1, text)
      end
      count:add(1, ("x"):rep(128))]])
    send(subject, "a")
    assert.same({ 'tenant_id="_other" 5', ('tenant_id="%s" 1'):format(("x"):rep(128)) },
      samples(subject, "seen_total"))
  end)

  it("escape what a label may hold, so that another reader gets every value back", function()
    local program = [[
import re, sys
values = []
for line in sys.stdin.buffer.read().decode().split("\n"):
    if line.startswith("kvgate_filter_seen_total{"):
        found = re.fullmatch(r'[a-z_]+\{(?:[a-z_]+="(?:\\[n"\\]|[^"\\\n])*",)*'
                             r'tenant_id="((?:\\[n"\\]|[^"\\\n])*)"\} 1', line)
        values.append(re.sub(r"\\(.)", lambda m: {"n": "\n"}.get(m[1], m[1]), found[1]))
expected = ['a"b', "a\nb", "a\\b", "a\\nb", 'a"} 7\nx{', "\\xff", "ä\u2028", ""]
print(sorted(values) == sorted(expected))
]]
    local subject = subject_of(BY_TENANT, [[
      for _, text in ipairs { 'a"b', "a\nb", "a\\b", "a\\nb", 'a"} 7\nx{', "\\xff",
        "\195\164\226\128\168", "" } do
        count:add(1, text)
      end]])
    send(subject, "a")
    assert.equal("True\n", python.run(program, subject.core:metrics()))
  end)

  it("refuse amounts that are none, and say what was found", function()
    local declared = [[
      local count, level = metrics.counter "all_total", metrics.gauge "level"]]
    local expected = "counter:add takes a whole number from 0 to 2^53, not "
    for amount, found in pairs {
      ["-1"] = "the number -1", ["0/0"] = "the number ", ["1/0"] = "the number inf",
      ["1.5"] = "the number 1.5", ['"1"'] = 'the string "1"', ["nil"] = "nil",
      ["2 ^ 54"] = "the number 1.8", ["1ULL"] = "a 64-bit integer",
    } do
      assert_has(failure(declared, ("count:add(%s)"):format(amount)), expected .. found)
    end
    assert_has(failure(declared, "level:set()"), "gauge:set takes a number, not nil")
    assert_has(failure(declared, "level:add {}"), "gauge:add takes a number, not a table")
  end)

  it("refuse labels that are none, and more of them than were declared", function()
    assert_has(failure(BY_TENANT, "count:add(1, {})"),
      "a label's value is a text, a number, a boolean or nil, not a table")
    assert_has(failure(BY_TENANT, "count:add(1, event)"), "a label's value is a text")
    assert_has(failure(BY_TENANT, 'count:add(1, "a", "b")'),
      "the metric has 1 labels, and there is a value for number 2")
    assert_has(failure(BY_TENANT, "count.total = 1"), "a metric cannot be changed so")
  end)

  it("show a gauge that is no number as Prometheus has it", function()
    local subject = subject_of([[local level = metrics.gauge("level", { labels = { "of" } })
      level:set(0/0, "nan") level:set(1/0, "more") level:set(-1/0, "less") ]])
    assert.same({ 'of="less" -Inf', 'of="more" +Inf', 'of="nan" NaN' }, samples(subject, "level"))
  end)

  it("are declared while the filter loads, and not later", function()
    assert_has(failure("", 'metrics.counter "late_total"'),
      'metrics.counter "late_total": declare it while the filter loads')
  end)

  it("are refused with a reason where the declaration is wrong", function()
    for declaration, expected in pairs {
      ['metrics.counter()'] = "metrics.counter: a name is a text of up to 64 bytes, lower-case",
      ['metrics.gauge "A"'] = 'lower-case letters, digits and _, not the string "A"',
      ['metrics.counter "a\\n"'] = "lower-case letters, digits and _",
      ['metrics.gauge(("a"):rep(65))'] = "a text of up to 64 bytes",
      ['metrics.counter "a" metrics.counter "a"'] = 'counter "a": this filter has it already',
      ['metrics.counter("a", 5)'] = "expected options such as",
      ['metrics.counter("a", { label = {} })'] = "unknown option 'label'; did you mean \"labels\"?",
      ['metrics.counter("a", { help = 5 })'] =
        "help is a text of up to 256 bytes, not the number 5",
      ['metrics.counter("a", { limit = 0 })'] =
        "limit is a whole number of series, 1 to 10000, not the number 0",
      ['metrics.counter("a", { limit = 10001 })'] = "not the number 10001",
      ['metrics.counter("a", { labels = "a" })'] =
        'labels is a list of up to 4 names, not the string "a"',
      ['metrics.counter("a", { labels = { "a", "b", "c", "d", "e" } })'] = "not of 5",
      ['metrics.counter("a", { labels = { "a-b" } })'] = 'not the string "a-b"',
      ['metrics.counter("a", { labels = { "__a" } })'] = 'not the string "__a"',
      ['metrics.counter("a", { labels = { "a", "a" } })'] = 'the label "a" is there already',
      ['metrics.counter("a", { labels = { "stream" } })'] = 'the label "stream" is there already',
      ['for i = 1, 65 do metrics.counter("a" .. i) end'] =
        'metrics.counter "a65": all filters together may have 64 metrics',
    } do
      assert_has(refusal(declaration), expected)
    end
    local ok, message = pcall(relay.new, [[
sources: [ { name: store, connect: "ipc:///tmp/in" } ]
filters: [ { script: f.lua }, { script: g.lua } ]
streams: [ { name: out, bind: "ipc:///tmp/out" } ]
]], { ["f.lua"] = filter 'metrics.counter "a"', ["g.lua"] = filter 'metrics.gauge "a"' })
    assert.is_false(ok)
    assert_has(message, "a filter in front has a metric of this name and the other kind")
  end)

  it("of a filter that does not load are not taken for those of the next", function()
    local ok, message = pcall(relay.new, [[
sources: [ { name: store, connect: "ipc:///tmp/in" } ]
filters: [ { script: f.lua }, { script: f.lua }, { script: f.lua } ]
streams: [ { name: out, bind: "ipc:///tmp/out" } ]
]], { ["f.lua"] = filter [[
      metrics.counter "a"
      require("kvgate.state").table("a", { version = 1 })
      error "on purpose"]] })
    assert.is_false(ok)
    assert.equal(3, select(2, message:gsub("on purpose", "")), message)
    assert.is_nil(message:find("has it already", 1, true))
  end)

  it("cannot take a name that each filter has anyway", function()
    local count = 0
    for name in subject_of("").core:metrics():gmatch "# TYPE kvgate_filter_([%w_]+)" do
      assert_has(refusal(("metrics.counter %q"):format(name)), "each filter has that anyway")
      count = count + 1
    end
    assert(count >= 6, count)
  end)
end)

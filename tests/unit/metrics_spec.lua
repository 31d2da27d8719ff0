--- base/metrics.c: Prometheus' text format, version 0.0.4.
local gateway = require "gateway"

local function sample(...)
  return (gateway.metrics("m", "counter", "h", ...):gsub("^.-\n.-\n", ""))
end

describe("metrics", function()
  it("writes a family and a sample", function()
    assert.equal(
      "# HELP kvgate_events_total Events received.\n# TYPE kvgate_events_total counter\n"
        .. 'kvgate_events_total{source="store",cause="gap"} 18446744073709551615\n',
      gateway.metrics("kvgate_events_total", "counter", "Events received.", "u64",
        "18446744073709551615", "source", "store", "cause", "gap")
    )
  end)

  it("writes a sample without labels", function()
    assert.equal("m 1\n", sample("u64", "1"))
  end)

  it("escapes what a help text may not hold", function()
    assert.equal("# HELP m a\\\\b\\nc\"\n# TYPE m gauge\nm 0\n",
      gateway.metrics("m", "gauge", 'a\\b\nc"', "u64", "0"))
  end)

  local labels = {
    { "quotes, backslashes and newlines", 'a"b\\c\nd', 'a\\"b\\\\c\\nd' },
    { "nothing", "", "" },
    { "UTF-8", "é€", "é€" },
    { "stray bytes so that two names stay two", "a\255", "a\\\\xff" },
  }
  for _, case in ipairs(labels) do
    it("writes a label with " .. case[1], function()
      assert.equal('m{l="' .. case[3] .. '"} 1\n', sample("u64", "1", "l", case[2]))
    end)
  end

  for text, expected in pairs {
    ["0.1"] = "0.1",
    ["3"] = "3",
    ["nan"] = "NaN",
    ["inf"] = "+Inf",
    ["-inf"] = "-Inf",
    ["1e300"] = "1e+300",
  } do
    it("writes the double " .. text .. " as " .. expected, function()
      assert.equal("m " .. expected .. "\n", sample("double", text))
    end)
  end
end)

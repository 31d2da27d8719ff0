--- base/config_field.c: spans of time, sizes.
local subject = require "tests.support.config"
local stream = subject.stream
local read = subject.read
local mistakes_of = subject.mistakes_of
local unmark = subject.unmark

describe("config_field", function()
  describe("spans of time", function()
    for text, ms in pairs {
      ["10ms"] = 10,
      ["500ms"] = 500,
      ["1s"] = 1000,
      ["1.5s"] = 1500,
      ["2m"] = 120000,
      ["1440m"] = 86400000,
      ["24h"] = 86400000,
      ["3"] = 3000,
      ["0.25"] = 250,
    } do
      it("can be " .. text, function()
        assert.equal(ms, read(stream("announce_after: " .. text)).streams[1].announce_after_ms)
        assert.equal(ms, read(stream("heartbeat: " .. text)).streams[1].heartbeat_ms)
      end)
    end

    for _, text in ipairs {
      "0.009", "9ms", "-1", "-1s", "1d", "25h", "1 s", "s", "1.2.3s", "0x10s", "1441m", "86401",
      ".inf", ".nan", '"5"', "true", "[ ]",
    } do
      it("cannot be " .. text, function()
        local yaml, places = unmark(stream("heartbeat: §" .. text))
        local lines = mistakes_of(yaml)
        assert.equal(1, #lines)
        assert.is_truthy(lines[1]:find(places[1] .. ": heartbeat: expected 0", 1, true))
        assert.equal(1, #mistakes_of(stream("announce_after: " .. text)))
      end)
    end

    it("can be 0 for a heartbeat, which is off, but not for an announcement", function()
      assert.equal(0, read(stream "heartbeat: 0").streams[1].heartbeat_ms)
      assert.equal(0, read(stream "heartbeat: 0s").streams[1].heartbeat_ms)
      assert.equal(1, #mistakes_of(stream "announce_after: 0"))
    end)
  end)

  describe("sizes of queues", function()
    for text, bytes in pairs {
      ["1MiB"] = 1048576,
      ["1048576"] = 1048576,
      ["1024KiB"] = 1048576,
      ["1.5GiB"] = 1610612736,
      ["64GiB"] = 68719476736,
    } do
      it("can be " .. text, function()
        assert.equal(bytes, read(stream("queue_bytes: " .. text)).streams[1].queue_bytes)
      end)
    end

    for _, text in ipairs {
      "0", "1048575", "1023KiB", "65GiB", "1MB", "1 MiB", "-1", "true", "[ ]",
    } do
      it("cannot be " .. text, function()
        local yaml, places = unmark(stream("queue_bytes: §" .. text))
        local lines = mistakes_of(yaml)
        assert.equal(1, #lines)
        assert.is_truthy(lines[1]:find(places[1]
          .. ": queue_bytes: expected a size like 16MiB or 1GiB, from 1MiB to 64GiB", 1, true))
      end)
    end
  end)
end)

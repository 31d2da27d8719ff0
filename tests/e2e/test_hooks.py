"""What filters are called for besides events, with a clock and sockets that are real."""

import time
import unittest

from support.case import GatewayCase
from support.deadline import SLOWNESS
from support.gateway import Gateway

HEARTBEAT = """
local emit = require "kvgate.emit"

return function(options)
  local beats = 0
  return {
    on_tick = function(now)
      beats = beats + 1
      emit { event_type = "heartbeat", object_key = options.name .. beats, now = now }
    end,
    every = options.every,
  }
end
"""

RETRACT = """
local emit = require "kvgate.emit"

return function()
  local tenants = {}
  return {
    on_event = function(event)
      if event.event_type == "stored" then tenants[event.tenant_id] = true end
      return true
    end,
    on_loss = function(source, reach, cause, count)
      local names = {}
      for name in pairs(tenants) do names[#names + 1] = name end
      table.sort(names)
      for _, name in ipairs(names) do
        emit { event_type = "cleared", tenant_id = name, backend_id = "b",
          object_key = ("cleared %s %s %s %d"):format(name, source, cause, count) }
      end
      tenants = {}
    end,
  }
end
"""


class Ticks(GatewayCase):
    """A stream that beats, and one beside it that nobody must disturb."""

    config = {
        "sources": [{"name": "store"}],
        "streams": [
            {"name": "beats", "event_id": "restamp",
             "filters": [{"script": "beat.lua", "options": {"name": "t", "every": 0.05}}]},
            {"name": "plain"},
        ],
    }
    scripts = {"beat.lua": HEARTBEAT}

    def beats(self, name):
        return [event for event in self.subscriber.events()
                if event["event_type"] == "heartbeat" and event["object_key"].startswith(name)]

    def test_an_idle_gateway_calls_on_tick_as_often_as_it_says(self):
        before = time.time() * 1000
        self.subscriber.wait(lambda: len(self.beats("t")) >= 20, "20 beats")
        beats = self.beats("t")
        times = [beat["now"] for beat in beats]
        self.assertEqual([beat["timestamp"] for beat in beats], times)
        self.assertEqual(times, sorted(times))
        self.assertGreaterEqual(times[0], before - 100)
        self.assertLessEqual(times[-1], time.time() * 1000 + 100)
        self.assertGreaterEqual(times[-1] - times[0], (len(beats) - 2) * 50)
        self.assertEqual(self.subscriber.gaps(), [])

    def test_beats_come_between_events_and_to_no_other_stream(self):
        plain = self.subscribers["plain"]
        for number in range(20):
            self.publisher.put(f"e{number}")
            seen = len(self.beats("t"))
            self.subscriber.wait(lambda: len(self.beats("t")) > seen, "one more beat")
        self.subscriber.wait_label("e19")
        plain.wait_label("e19")
        self.assertEqual(plain.labels(), [f"e{number}" for number in range(20)])
        ids = [event["event_id"] for event in self.subscriber.events()]
        self.assertEqual(ids, list(range(ids[0], ids[0] + len(ids))))
        self.assertEqual(self.subscriber.gaps(), [])

    def load(self, name, every):
        """Reload with such a filter; returns when."""
        self.config["streams"][0]["filters"][0]["options"] = {"name": name, "every": every}
        self.gateway.configure(self.config)
        before = time.time() * 1000
        self.assertEqual(self.gateway.post("/reload")[0], 200)
        return before

    def test_a_reload_has_the_new_filter_called_at_its_times(self):
        # The loop sleeps for as long as the old one lets it, up to a second.
        waits = []
        for number in range(4):
            self.load("slow", 86400)
            before = self.load(f"fast{number}-", 0.02)
            self.subscriber.wait(lambda: self.beats(f"fast{number}-"), "a beat")
            waits.append(self.beats(f"fast{number}-")[0]["now"] - before)
        self.load("t", 0.05)
        self.subscriber.wait(lambda: self.beats("t"), "a beat")
        self.assertEqual(self.beats("slow"), [])
        self.assertLess(sum(waits) / len(waits), 300 * SLOWNESS)


class Losses(GatewayCase):
    config = {
        "sources": [{"name": "store"}],
        "filters": [{"script": "retract.lua"}],
        "streams": [{"name": "all"}, {"name": "acme", "accept": {"tenant_id": ["acme"]}}],
    }
    scripts = {"retract.lua": RETRACT}

    def test_what_on_loss_emits_comes_behind_the_gap_and_before_the_next_event(self):
        self.publisher.put("a", tenant_id="acme")
        self.publisher.put("b", tenant_id="globex")
        self.publisher.skip(3)
        self.publisher.put("c", tenant_id="acme")
        self.publisher.put("d", tenant_id="acme")
        self.subscriber.wait_story([
            ["a"], ["b"], 3, ["cleared acme store gap 3", "cleared globex store gap 3"], ["c"],
            1, ["cleared acme store guard 1"], ["d"]])
        self.subscribers["acme"].wait_story([
            ["a"], 3, ["cleared acme store gap 3"], ["c"],
            1, ["cleared acme store guard 1"], ["d"]])

    def test_a_guard_that_no_message_follows_is_told_in_time(self):
        self.publisher.put("a", tenant_id="acme")
        self.publisher.skip()
        self.publisher.put("b", tenant_id="acme")
        self.subscriber.wait_story([
            ["a"], 1, ["cleared acme store gap 1"], ["b"], 1, ["cleared acme store guard 1"]])


class Stuck(unittest.TestCase):
    def test_a_hook_that_no_error_stops_is_named_when_the_process_ends(self):
        gateway = Gateway(
            {"sources": [{"name": "store"}], "filters": [{"script": "stuck.lua"}],
             "limits": {"event": "20ms", "stuck": "300ms"}, "streams": [{"name": "all"}]},
            {"stuck.lua": """
return function()
  return { on_tick = function()
    return ("a"):rep(60):find(("a?"):rep(60) .. ("a"):rep(60) .. "b")
  end, every = 0.1 }
end
"""})
        self.addCleanup(gateway.directory.remove)
        self.addCleanup(gateway.kill)
        gateway.start()
        self.assertEqual(gateway.process.wait(20 * SLOWNESS), 70)
        gateway.reader.join(5)
        gateway.process.stderr.close()
        self.assertRegex(gateway.log[-1],
                         r"^kvgate: filter \S+/stuck\.lua does not come back from its on_tick, and "
                         r"no error stops it: the process ends$")


if __name__ == "__main__":
    unittest.main()

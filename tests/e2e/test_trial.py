"""New behaviour is tried on recent events before it is in force."""

import json
import os
import signal
import threading
import time
import unittest

from support.case import GatewayCase
from support.deadline import SLOWNESS, until

KEEP = "return function() return function() return true end end\n"
FAIL = "return function()\n  return function()\n    error 'no'\n  end\nend\n"
HANG = "return function()\n  return function()\n    while true do end\n  end\nend\n"
TAG = "return function() return function(event) event.backend_id = 'new' return true end end\n"
SLOW = """
return function()
  return function() for i = 1, 2e6 do i = i + %d end return true end
end
"""


CHATTY = """
local log = require "kvgate.log"
local seen = require "kvgate.metrics".counter("seen", { help = "events that were seen" })
return function()
  return function()
    seen:add(1)
    log.info "an event"
    return true
  end
end
"""


class Trial(GatewayCase):
    config = {
        "sources": [{"name": "store", "gap_guard": False}],
        "filters": [{"script": "f.lua"}],
        "streams": [{"name": "out", "announce_after": "60m"}],
        "limits": {"event": "200ms"},
    }
    scripts = {"f.lua": KEEP}

    def setUp(self):
        """What the class's start sent is recent; each test starts from KEEP."""
        self.write(KEEP)
        code, text = self.gateway.post("/reload?force=true")
        self.assertEqual(code, 200, text)
        self.see()
        super().setUp()

    def see(self):
        """Let the gateway have something recent to try things on."""
        def seen():
            self.send_probe(self.publishers["store"], "probe")
            return self.reload()[1]["trial"]["tried_messages"] > 0
        until(seen, "a recent message")

    def write(self, text):
        self.gateway.directory.write("f.lua", text)

    def reload(self, query=""):
        code, text = self.gateway.get("/reload" + query, "POST", accept="application/json")
        return code, json.loads(text)

    def check_in_force(self, backend):
        """The stream goes on without a gap, and this is what its filter does."""
        key = f"k{self.publisher.next}"
        self.publisher.put(key)
        self.subscriber.wait_label(key)
        self.assertEqual(self.subscriber.events()[-1]["backend_id"], backend)

    def test_a_filter_that_fails_on_a_recent_event_is_refused_and_the_old_one_goes_on(self):
        generation = self.reload()[1]["generation"]
        self.write(FAIL)
        code, text = self.gateway.post("/reload")
        self.assertEqual(code, 409, text)
        self.assertRegex(text, r'f\.lua:3: no; filter f\.lua raised an error on event \d+ of '
                               r'source "store" \(recently seen\)\n')
        self.assertIn(f"nothing changed, generation {generation} stays in force", text)
        self.check_in_force("mooncake")
        self.assertEqual(self.subscriber.gaps(), [])

    def test_so_it_is_with_sighup(self):
        start = len(self.gateway.log)
        self.write(FAIL)
        self.gateway.send_signal(signal.SIGHUP)
        self.gateway.wait_log(r"error reload: .*f\.lua:3: no; filter f\.lua", start)
        self.gateway.wait_log(r"nothing changed", start)
        self.check_in_force("mooncake")

    def test_force_puts_it_into_force_untried_and_the_log_says_so(self):
        start = len(self.gateway.log)
        self.write(FAIL)
        code, text = self.gateway.post("/reload?force=true")
        self.assertEqual(code, 200, text)
        self.gateway.wait_log(r"reload: forced: not tried on recent events", start)
        self.publisher.put("a")
        self.gateway.wait_log(r"filter f\.lua: raised an error.*f\.lua:3: no", start)
        self.write(KEEP)  # what was seen before was handled by nothing that is in force: no trial
        self.assertEqual(self.reload()[0], 200)

    def test_a_query_that_means_nothing_changes_nothing(self):
        generation = self.reload()[1]["generation"]
        for query in ("?force=yes", "?force", "?froce=true", "?force=true&x=1"):
            code, text = self.gateway.post("/reload" + query)
            self.assertEqual(code, 400, text)
            self.assertIn("expected force=true or no query", text)
        self.assertEqual(self.reload()[1]["generation"], generation + 1)

    def test_the_answer_comes_as_json_for_those_who_accept_it(self):
        code, before = self.reload()
        self.assertEqual(code, 200)
        self.assertEqual(before["result"], "done")
        self.assertEqual(before["mistakes"], [])
        self.assertGreater(before["trial"]["tried_events"], 0)
        self.write(FAIL)
        code, after = self.reload()
        self.assertEqual((code, after["result"]), (409, "refused"))
        self.assertEqual(after["generation"], before["generation"])
        self.assertRegex(after["mistakes"][0], r"f\.lua:3: no; ")
        self.write("return 1 +\n")
        code, after = self.reload()
        self.assertEqual((code, after["result"]), (422, "wrong"))
        self.assertRegex(after["mistakes"][0], r"kvgate\.yaml:\d+:\d+: .*f\.lua:\d+: ")

    def test_nothing_of_a_trial_is_in_the_log_or_the_metrics(self):
        start, before = len(self.gateway.log), self.gateway.metrics()
        self.write(FAIL)
        self.assertEqual(self.reload()[0], 409)
        self.gateway.wait_log("nothing changed", start)
        lines = [line for line in self.gateway.log[start:] if " reload: " not in line]
        self.assertEqual(lines, [])
        after = self.gateway.metrics()
        self.assertEqual([name for name in after if after[name] != before[name]], [])

    def test_what_a_filter_counts_and_logs_in_a_trial_is_nowhere(self):
        self.write(CHATTY)
        start = len(self.gateway.log)
        code, answer = self.reload()
        self.assertEqual(code, 200)
        self.assertGreater(answer["trial"]["tried_events"], 0)
        self.gateway.wait_log("in force", start)
        self.assertIsNone(self.gateway.find_log("an event", start))
        counted = [value for name, value in self.gateway.metrics().items()
                   if name.startswith("kvgate_filter_seen")]
        self.assertEqual(counted, [0])
        self.publisher.put("a")
        self.gateway.wait_log("an event", start)

    def test_a_filter_that_hangs_is_stopped_and_refused(self):
        self.write(HANG)
        began = time.monotonic()
        code, text = self.gateway.post("/reload")
        self.assertLess(time.monotonic() - began, 2 * SLOWNESS)
        self.assertEqual(code, 409, text)
        self.assertRegex(text, r"f\.lua:3: ran for more than 200 ms; filter f\.lua ran out of time")
        self.check_in_force("mooncake")

    def test_a_script_that_changes_while_it_is_tried_is_not_put_into_force(self):
        """Or what is in force might be what nobody tried."""
        stop = threading.Event()

        def change():
            turn = 0
            while not stop.wait(0.005):
                turn += 1
                self.gateway.directory.write("f.new", SLOW % (turn % 2))
                os.replace(self.gateway.directory.path / "f.new",
                           self.gateway.directory.path / "f.lua")
        thread = threading.Thread(target=change)
        thread.start()
        self.addCleanup(thread.join)
        self.addCleanup(stop.set)

        def noticed():
            self.send_probe(self.publisher, "probe")
            code, answer = self.reload()
            return code == 409 and "changed while it was tried" in answer["mistakes"][0]
        until(noticed, "a script that changed between trial and load")

    def test_what_passes_is_in_force(self):
        self.write(TAG)
        code, text = self.gateway.post("/reload")
        self.assertEqual(code, 200, text)
        self.assertRegex(text, r"^tried on \d+ recent events in \d+ messages\n"
                               r"events were held for \d+\.\d ms\ngeneration \d+ is in force\n$")
        self.check_in_force("new")


if __name__ == "__main__":
    unittest.main()

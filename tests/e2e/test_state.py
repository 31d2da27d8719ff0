"""What filters declare to keep survives a reload of the program, or the answer says why not."""

import signal
import unittest

from support.case import GatewayCase

COUNTING = """
local state = require "kvgate.state"
return function(options)
  local counts = state.table("counts", { version = VERSION, max = 1000 })
  return function(event)
    if event.event_type ~= "stored" or event.object_key == nil then return true end
    counts.events = (counts.events or 0) + 1
    event.backend_id = tostring(counts.events)
    MORE
    return event
  end
end
"""


def counting(version=1, more=""):
    return COUNTING.replace("VERSION", str(version)).replace("MORE", more)


class State(GatewayCase):
    config = {
        "sources": [{"name": "store", "gap_guard": False}],
        "filters": [{"script": "counting.lua"}],
        "streams": [{"name": "out"}],
    }
    scripts = {"counting.lua": "return function() return function() return true end end"}

    def setUp(self):
        """Each test starts with nothing kept."""
        self.gateway.directory.write("counting.lua", self.scripts["counting.lua"])
        self.reload()
        self.gateway.directory.write("counting.lua", counting())
        self.reload()
        super().setUp()

    def reload(self):
        code, text = self.gateway.post("/reload")
        self.assertEqual(code, 200, text)
        return text

    def count(self, label):
        """The count that the event comes out with."""
        self.publisher.put(label)
        self.subscriber.wait_label(label)
        return int(self.subscriber.events()[-1]["backend_id"])

    def test_a_declared_table_survives_reloads(self):
        first = self.count("a")
        for index in range(5):
            self.assertNotIn("state", self.reload())
            self.assertEqual(self.count(f"b{index}"), first + 1 + index)

    def test_a_declared_table_survives_sighup(self):
        first = self.count("a")
        start = len(self.gateway.log)
        self.gateway.send_signal(signal.SIGHUP)
        self.gateway.wait_log(r"generation \d+ is in force", start)
        self.assertEqual(self.count("b"), first + 1)

    def test_another_version_starts_anew_and_the_answer_says_so(self):
        self.count("a")
        start = len(self.gateway.log)
        self.gateway.directory.write("counting.lua", counting(version=2))
        told = 'state "counts" of filter counting.lua starts anew: it has version 2 instead of 1'
        self.assertIn(told, self.reload())
        self.gateway.wait_log("starts anew: it has version 2 instead of 1", start)
        self.assertEqual(self.count("b"), 1)

    def test_what_cannot_be_kept_starts_anew_and_the_answer_says_why(self):
        for more, why in ((r"counts.hook = function() end", ".hook is a function"),
                          (r"counts.me = counts", ".me is a table that contains itself"),
                          (r"counts.text = ('x'):rep(2000)", "it takes more than 1000 bytes")):
            with self.subTest(why):
                self.gateway.directory.write("counting.lua", counting(more=more))
                self.reload()
                self.count("a" + why)
                self.gateway.directory.write("counting.lua", counting())
                self.assertIn("starts anew: " + why, self.reload())
                self.assertEqual(self.count("b" + why), 1)

    def test_a_refused_reload_leaves_it_as_it_is(self):
        first = self.count("a")
        self.gateway.directory.write("counting.lua", counting(more="counts.events = 100 end"))
        code, text = self.gateway.post("/reload")
        self.assertEqual(code, 422, text)
        self.assertEqual(self.count("b"), first + 1)


if __name__ == "__main__":
    unittest.main()

"""kvgate try tells what the gateway would do with each event of a file."""

import json
import unittest

from support import recording
from support.event import generation_c, pack_batch
from support.gateway import Directory, run

EXIT_FINE, EXIT_FAILED, EXIT_USAGE, EXIT_CONFIG = 0, 1, 2, 3
FILTER = """return function(options)
  return function(event)
    local key = event.object_key
    if key == "drop" then return false end
    if key == "fail" then error "on purpose" end
    if key == "split" then return { event, event:copy() } end
    event.tenant_id = options.tenant
    event.lora_name = nil
    event.extra = 7
    return event
  end
end
"""


class Try(unittest.TestCase):
    def setUp(self):
        self.directory = Directory()
        self.addCleanup(self.directory.remove)
        self.filter = self.directory.write("sample.lua", FILTER)

    def lines(self, *events):
        text = "\n".join(e if isinstance(e, str) else json.dumps(e) for e in events) + "\n"
        return self.directory.write("events", text)

    def run_try(self, subject, file, *options, code=EXIT_FINE):
        result = run("try", subject, file, *options)
        self.assertEqual(result.returncode, code, result.stderr)
        self.said = result.stderr
        return [json.loads(line) for line in result.stdout.splitlines()]

    def test_each_verdict_is_told_and_counted(self):
        keys = ["k", "drop", "fail", "split"]
        file = self.lines(*[generation_c("stored", i, key) for i, key in enumerate(keys, 1)])
        *told, last = self.run_try(self.filter, file, code=EXIT_FAILED)
        self.assertEqual([line["verdict"] for line in told], ["kept", "dropped", "lost", "split"])
        self.assertEqual(last["summary"], {"events": 4, "kept": 1, "dropped": 1, "split": 1,
                                           "lost": 1})
        self.assertRegex(told[2]["error"], r"sample\.lua:5: on purpose")
        self.assertEqual(len(told[3]["out"]), 2)

    def test_changed_fields_are_told_old_and_new(self):
        file = self.lines(generation_c("stored", (1 << 64) - 1, lora_name="l", tenant_id="a"))
        told = self.run_try(self.filter, file, "--options", "{ tenant: acme }")[0]
        changes = told["out"][0]["changes"]
        self.assertEqual(changes["tenant_id"], {"old": "a", "new": "acme"})
        self.assertEqual(changes["extra"], {"new": 7})
        self.assertNotIn("event_id", changes)

    def test_a_configuration_tells_the_route(self):
        config = {"sources": [{"name": "s", "connect": "ipc://s"}],
                  "streams": [{"name": name, "bind": f"ipc://{name}",
                               "accept": {"tenant_id": [name]}} for name in ("a", "b")]}
        path = self.directory.write("kvgate.yaml", json.dumps(config))
        file = self.lines(*[generation_c("stored", i, tenant_id=t) for i, t in
                            enumerate("abc", 1)])
        told = self.run_try(path, file)[:3]
        self.assertEqual([[out["stream"] for out in line["out"]] for line in told],
                         [["a"], ["b"], []])

    def test_lines_of_tap_and_recordings_are_read(self):
        event = generation_c("stored", 1, "k")
        file = self.lines('{"gap":{"after":1,"before":3,"missing":1}}', "",
                          {"stream": "x", "seq": 3, "position": 0, **event})
        want = self.run_try(self.filter, file)
        self.assertEqual(want[-1]["summary"]["events"], 1)
        frames = [b"", b"\0" * 8, pack_batch([event])]
        path = recording.write(self.directory.path / "r", ["one"], [(0, 0, frames)])
        self.assertEqual(self.run_try(self.filter, path), want)

    def test_what_cannot_be_read_is_told_with_its_place(self):
        event = generation_c("stored", 1)
        for text, words in (("[]", ":2: an event is an object"), ("{", ":2: column")):
            told = self.run_try(self.filter, self.lines(event, text), code=EXIT_FAILED)
            self.assertIn(words, self.said)
            self.assertEqual(told[-1]["summary"]["kept"], 1)
        self.run_try(self.filter, "/no/such/file", code=EXIT_FAILED)
        self.run_try(self.filter, self.directory.path, code=EXIT_FAILED)
        self.run_try("/no/such.lua", self.lines(event), code=EXIT_CONFIG)
        self.assertEqual(run("try", self.filter).returncode, EXIT_USAGE)

    def test_what_is_no_event_is_lost(self):
        told = self.run_try(self.filter, self.lines({"x": 1}), code=EXIT_FAILED)
        self.assertEqual(told[0]["verdict"], "lost")
        self.assertIn("no event", told[0]["error"])


if __name__ == "__main__":
    unittest.main()

"""Reload after reload while events flow: each event comes once, each change is one number.

    KVGATE_RELOADS=1000 /usr/bin/python3 -m unittest -v e2e.test_reloads
"""

import os
import random
import signal
import statistics
import time
import unittest

from support.deadline import SLOWNESS, until
from support.gateway import Gateway
from support.publisher import Process
from support.subscriber import Subscriber

RELOADS = int(os.environ.get("KVGATE_RELOADS", "40"))
LOOK = max(10, RELOADS // 50)  # reloads between two looks at memory and descriptors
IN_FLIGHT = 300                # messages that wait when a reload is asked for
MEGABYTE = 1 << 20

SETS = "return function(options) return function(event) event.%s = %s return true end end\n"
FAILS = "return function() return function() error 'no' end end\n"
COUNTS = """
local state = require "kvgate.state"
return function()
  local seen = state.table("seen", { version = 1 })
  return function(event)
    seen.count = (seen.count or 0) + 1
    event.base_block_idx = seen.count
    return true
  end
end
"""
# What a reload may change, and the field of an event that shows it.
PARTS = {"script": "backend_id", "module": "tenant_id", "link": "model_name",
         "options": "additional_salt"}


class Stream:
    """What one stream sent, judged as it comes; nothing of it is kept."""

    def __init__(self, endpoint):
        self.subscriber = Subscriber(endpoint)
        self.number = None  # of the last message
        self.event = None   # of the last event: keys are "p-1", "p-2", ...
        self.gaps = 0       # numbers left out
        self.seen = None    # what the filters wrote in the last event

    def take(self, judge):
        """Take in what is there; `judge(event, seen, gap)` looks at each event."""
        self.subscriber.pump()
        for message in self.subscriber.messages:
            gap = 0 if self.number is None else message.number - self.number - 1
            assert gap >= 0, f"number {message.number} follows {self.number}"
            self.number = message.number
            self.gaps += gap
            for event in message.events:
                index = int(event["object_key"].split("-")[1])
                assert self.event in (None, index - 1), f"event {index} follows {self.event}"
                self.event = index
                self.seen = tuple(event[field] for field in PARTS.values())
                judge(event, self.seen, gap)
                gap = 0
        self.subscriber.forget()


class Reloads(unittest.TestCase):
    def setUp(self):
        self.random = random.Random(RELOADS)
        self.version = dict.fromkeys(PARTS, "0")
        self.states = [self.state()]  # what the filters wrote, generation by generation
        self.at = 0                   # the state of the last event seen
        self.count = None             # that the filters had reached there
        self.asked = 0                # reloads
        self.changes = 0
        self.took = []
        self.gateway = Gateway(self.config())
        self.addCleanup(self.gateway.directory.remove)
        for part in PARTS:
            self.put(part)
        self.write("counts.lua", COUNTS)
        self.write("uses.lua", 'local tag = require "the_tag"\n' + SETS % ("tenant_id", "tag"))
        self.gateway.start()
        self.addCleanup(self.gateway.kill)
        self.publisher = Process(self.gateway.config["sources"][0]["connect"], "p")
        self.addCleanup(self.publisher.kill)
        self.tagged = self.open_stream("tagged")
        self.plain = self.open_stream("plain")
        until(self.both_see, "a first message on both streams")

    def open_stream(self, name):
        stream = Stream(self.gateway.stream(name)["endpoint"])
        self.addCleanup(stream.subscriber.close)
        return stream

    # ---- what is reloaded ----

    def config(self):
        return {
            "sources": [{"name": "store", "gap_guard": False, "hwm": 100000}],
            "streams": [
                {"name": "tagged", "hwm": 100000, "filters": [
                    {"script": "script.lua"}, {"script": "uses.lua"}, {"script": "link.lua"},
                    {"script": "counts.lua"},
                    {"script": "options.lua", "options": {"tag": self.version["options"]}}]},
                {"name": "plain", "hwm": 100000}],
        }

    def write(self, name, text):
        """As careful deployments do: nobody reads half a file."""
        directory = self.gateway.directory
        os.replace(directory.write("unfinished", text), directory.path / name)

    def put(self, part):
        """What makes the part's version."""
        text = f"'{self.version[part]}'"
        if part == "script":
            self.write("script.lua", SETS % (PARTS[part], text))
        elif part == "module":
            self.write("the_tag.lua", f"return {text}\n")
        elif part == "link":
            self.write(f"link-{self.version[part]}", SETS % (PARTS[part], text))
            self.link(f"link-{self.version[part]}")
        else:
            self.write("options.lua", SETS % (PARTS[part], "options.tag"))
            self.gateway.configure(self.config())

    def link(self, target):
        path = self.gateway.directory.path / "link.lua"
        old = path.resolve()
        path.with_name("unfinished").symlink_to(target)
        os.replace(path.with_name("unfinished"), path)
        if old.name not in (target, "link.lua"):
            old.unlink()

    def state(self):
        return tuple(self.version.values())

    # ---- what streams get ----

    def judge_tagged(self, event, seen, gap):
        """The states come in their order, and none begins without a gap."""
        before = self.at
        while self.states[self.at] != seen:
            self.at += 1
            self.assertLess(self.at, len(self.states), f"nobody asked for {seen}")
        self.assertEqual(gap, self.at - before, "a change is one number, all else none")
        count = event["base_block_idx"]
        self.assertIn(self.count, (None, count - 1), "what filters hold goes on, untouched by trials")
        self.count = count

    def judge_plain(self, event, seen, gap):
        self.assertEqual(gap, 0, "nothing that feeds this stream was changed")
        self.assertEqual(seen, ("mooncake", "default", None, None))
        self.assertIsNone(event["base_block_idx"])

    def take(self):
        self.tagged.take(self.judge_tagged)
        self.plain.take(self.judge_plain)

    def both_see(self):
        self.publisher.send(1)
        self.take()
        return self.tagged.event and self.plain.event

    def drained(self):
        self.take()
        return self.tagged.event == self.plain.event == self.publisher.sent

    # ---- reloads ----

    def ask(self):
        """Reload, one way or the other; True if something new is in force."""
        self.publisher.send(max(0, self.tagged.event + IN_FLIGHT - self.publisher.sent))
        start, began = len(self.gateway.log), time.monotonic()
        self.asked += 1
        if self.asked % 2:
            text = self.gateway.post("/reload")[1]
        else:
            self.gateway.send_signal(signal.SIGHUP)
        self.gateway.wait_log(r"reload: .*in force", start)
        self.took.append(time.monotonic() - began)
        said = "\n".join(self.gateway.log[start:])
        self.assertIn(text.splitlines()[-1] if self.asked % 2 else "in force", said)
        done = "nothing changed" not in said
        self.take()
        return done, said

    def change(self, part):
        self.version[part] = str(self.asked + 1)
        self.states.append(self.state())  # before the first event of it can be seen
        self.put(part)
        done, text = self.ask()
        self.assertTrue(done, text)
        self.changes += 1

    def change_nothing(self):
        for part in PARTS:
            self.put(part)
        done, text = self.ask()
        self.assertTrue(done, text)

    def refuse(self, name, text):
        """Something that must not come into force; then all is as before."""
        self.write(name, text)
        done, answer = self.ask()
        self.assertFalse(done, answer)
        if name == "kvgate.yaml":
            self.gateway.configure(self.config())
        else:
            self.put(next(p for p in PARTS if p in name or name == "the_tag.lua" and p == "module"))

    def once(self):
        broken = self.random.choice(["return 1 +\n", "error 'no'\n", "return 7\n", FAILS])
        turns = [lambda part=part: self.change(part) for part in PARTS]
        turns += [self.change_nothing,
                  lambda: self.refuse("script.lua", broken),
                  lambda: self.refuse("the_tag.lua", "return function( end\n"),
                  lambda: self.refuse("kvgate.yaml", "sources: [\n")]
        self.random.choice(turns)()

    # ---- what it costs ----

    def descriptors(self):
        return len(os.listdir(f"/proc/{self.gateway.process.pid}/fd"))

    def test_no_event_is_lost_or_doubled_and_nothing_grows(self):
        looks = []
        for index in range(RELOADS):
            self.once()
            if index % LOOK == LOOK - 1:
                until(self.drained, "all events on both streams", 60 * SLOWNESS)
                looks.append((self.gateway.memory(), self.descriptors()))
        self.publisher.send(1)  # to see the last change
        until(self.drained, "all events on both streams", 60 * SLOWNESS)
        self.assertEqual((self.tagged.gaps, self.plain.gaps), (self.changes, 0))
        self.assertEqual(self.tagged.seen, self.state())
        self.gateway.check_identity()
        self.assertEqual(self.gateway.source("store")["gaps"], 0)
        self.check_flat(looks)
        self.gateway.stop()

    def check_flat(self, looks):
        early, late = looks[:len(looks) // 2], looks[len(looks) // 2:]
        memory = [max(memory for memory, _ in half) for half in (early, late)]
        self.assertLess(memory[1] - memory[0], 8 * MEGABYTE, looks)
        self.assertEqual(max(count for _, count in late), max(count for _, count in early), looks)
        if "KVGATE_RELOADS" in os.environ:
            took = sorted(1000 * seconds for seconds in self.took)
            print(f"\n{RELOADS} reloads, {self.changes} of them changes, {self.publisher.sent} "
                  f"messages; asked to answered: {statistics.median(took):.1f} ms in the median, "
                  f"{took[-1]:.1f} at the most; memory {memory[0] >> 20} then {memory[1] >> 20} "
                  f"MiB, {looks[-1][1]} descriptors")


if __name__ == "__main__":
    unittest.main()

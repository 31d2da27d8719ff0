"""Events that a filter failed on are lost on their streams, and arrive whole on one of their own."""

import json
import subprocess
import time
import unittest

import msgpack

from support.case import GatewayCase
from support.deadline import Deadline, until
from support.event import pack, pack_batch, unpack
from support.gateway import PROGRAM, Directory, Gateway, run
from support.publisher import Publisher
from support.subscriber import Subscriber

# Fails on keys that begin with a word, in the way that they name.
PICKY = """return function(options)
  return function(event)
    local key = event.object_key
    if not key or key:sub(1, 3) ~= options.word then return true end
    if key == "bad-verdict" then return 7 end
    if key == "bad-loop" then while true do end end
    event.tenant_id = "half done"
    error("no " .. key)
  end
end
"""

# Makes two of those whose key begins with "twice"; the copy fails in the filter behind.
SPLIT = """return function()
  return function(event)
    local key = event.object_key
    if not key or key:sub(1, 5) ~= "twice" then return true end
    local copy = event:copy()
    copy.object_key = "bad-copy"
    event.medium = "disk"
    return { copy, event }
  end
end
"""


def letters_of(payload):
    """The letters of a message, each with `event` as the bytes on the wire."""
    unpacker = msgpack.Unpacker(strict_map_key=False)
    unpacker.feed(payload)
    assert unpacker.read_array_header() == 3
    unpacker.skip()
    letters = []
    for _ in range(unpacker.read_array_header()):
        letter = {}
        for _ in range(unpacker.read_map_header()):
            name, start = unpacker.unpack(), unpacker.tell()
            unpacker.skip()
            value = payload[start:unpacker.tell()]
            letter[name] = value if name == "event" else unpack(value)
        letters.append(letter)
    return letters


class Letters(GatewayCase):
    config = {
        "sources": [{"name": "store", "gap_guard": False}],
        "limits": {"event": "100ms"},
        "dead_letters": {"topic": "failed"},
        "filters": [{"script": "split.lua"},
                    {"script": "picky.lua", "options": {"word": "bad"}, "on_error": "dead_letter"}],
        "streams": [
            {"name": "left"},
            {"name": "right", "accept": {"tenant_id": "acme"}},
            {"name": "own", "filters": [{"script": "picky.lua", "options": {"word": "own"},
                                         "on_error": "dead_letter"}]},
        ],
    }
    scripts = {"split.lua": SPLIT, "picky.lua": PICKY}

    @classmethod
    def warm_up(cls):
        super().warm_up()
        cls.letters = cls.open(Subscriber(cls.gateway.config["dead_letters"]["bind"]))
        publisher = cls.publishers["store"]
        deadline = Deadline("a first letter")
        while not cls.letters.messages:  # its subscription stands
            publisher.put("bad-probe")
            cls.letters.pump(50)
            deadline.left()

    def setUp(self):
        """A last letter before the test: all count from there."""
        super().setUp()
        name = f"bad-{self.publisher.next}"
        self.publisher.put(name)
        self.wait_letters(lambda letters: any(name in letter["error"] for letter in letters))
        self.letters.forget()
        self.settle()

    def read_letters(self):
        return [letter for message in self.letters.messages
                for letter in letters_of(message.payload)]

    def wait_letters(self, condition):
        self.letters.wait(lambda: condition(self.read_letters()), "letters")
        return self.read_letters()

    def wait_count(self, count):
        letters = self.wait_letters(lambda letters: len(letters) >= count)
        self.assertEqual(len(letters), count)
        return letters

    def send_bytes(self, *events):
        self.publisher.send_payload(pack_batch(events))

    # ---- what a letter says ----

    def test_a_letter_has_the_event_byte_for_byte_and_says_what_went_wrong(self):
        """Unknown fields, odd widths, nil and absent, str and bin: as the publisher sent them."""
        event = b"\xde\x00\x08" + b"".join([
            pack("event_type"), pack("stored"),
            pack("object_key"), b"\xd9\x05bad-1",               # a str8 where a fixstr would do
            pack("event_id"), b"\xcf" + (5).to_bytes(8, "big"),  # 5 in eight bytes
            pack("tenant_id"), b"\xc0",                          # nil; the medium is absent
            pack("unknown"), b"\xdd\x00\x00\x00\x01\xd3" + (-1).to_bytes(8, "big", signed=True),
            pack("bytes"), b"\xc4\x02\xff\x00",
            pack("ext"), b"\xd4\x2a\x07",
            pack(7 * "long-name-"), pack(2**64 - 1)])
        number = self.publisher.next
        self.publisher.send_payload(pack_batch([pack(self.publisher.stored("a")), event]))
        letter, = self.wait_count(1)
        self.assertEqual(letter.pop("event"), event)
        self.assertRegex(letter.pop("error"), r"picky\.lua:\d+: no bad-1")
        self.assertEqual(letter, {
            "source": "store", "sequence": number, "position": 1, "stream": None,
            "filter": "picky.lua", "result": "raised an error", "event_size": len(event)})

    def test_a_message_of_letters_is_framed_as_any_with_a_time_and_no_rank(self):
        before = time.time() * 1000
        self.publisher.put("bad-1")
        self.wait_count(1)
        message, = self.letters.messages
        self.assertEqual(message.topic, b"failed")
        self.assertEqual(message.number, self.letters.base + 1)
        self.assertIsNone(message.rank)
        self.assertLess(abs(message.timestamp - before), 60_000)

    def test_every_event_that_failed_of_a_large_message_has_its_place(self):
        events = [self.publisher.stored("bad-event" if i % 61 == 7 else "a") for i in range(300)]
        events[3] = b"\x2a"  # no event, but in its place
        packed = [e if isinstance(e, bytes) else pack(e) for e in events]
        self.send_bytes(*packed)
        letters = self.wait_count(5)
        self.assertEqual([letter["position"] for letter in letters], [7, 68, 129, 190, 251])
        for letter in letters:
            self.assertEqual(letter["event"], packed[letter["position"]])

    def test_a_split_copy_has_the_bytes_and_the_place_of_the_received_event(self):
        events = [pack(self.publisher.stored(key)) for key in ("a", "twice-1")]
        self.send_bytes(*events)
        letter, = self.wait_count(1)
        self.assertEqual((letter["position"], letter["event"]), (1, events[1]))

    def test_each_way_to_fail_is_told(self):
        self.publisher.put("bad-verdict", "bad-loop")
        verdict, loop = self.wait_count(2)
        self.assertEqual(verdict["result"], "returned no verdict")
        self.assertIn("returned the number 7", verdict["error"])
        self.assertEqual(loop["result"], "ran out of time")
        self.assertRegex(loop["error"], r"picky\.lua:\d+: ran for more than 100 ms")

    def test_an_event_of_more_than_a_mebibyte_leaves_its_size_behind(self):
        event = pack(self.publisher.stored("bad-1", model_name="x" * (1 << 20)))
        self.send_bytes(event)
        letter, = self.wait_count(1)
        self.assertEqual(letter["event_size"], len(event))
        self.assertEqual(letter["event"], pack(None))

    # ---- what it costs whom ----

    def test_the_loss_shows_on_every_stream_in_reach_and_never_among_the_letters(self):
        self.publisher.put("a", "bad-1", "b", tenant_id="acme")
        self.publisher.skip(3)
        self.publisher.put("bad-2", tenant_id="acme")
        self.publisher.put("c", tenant_id="acme")
        for name in ("left", "right", "own"):
            self.subscribers[name].wait_story([["a"], 1, ["b"], 4, ["c"]])
        self.wait_count(2)
        self.assertEqual(self.letters.gaps(), [])

    def test_a_streams_own_filter_costs_that_stream_alone(self):
        self.publisher.put("a", "own-1", "b")
        self.subscribers["own"].wait_story([["a"], 1, ["b"]])
        self.subscribers["left"].wait_story([["a", "own-1", "b"]])
        letter, = self.wait_count(1)
        self.assertEqual((letter["stream"], letter["position"]), ("own", 1))

    def test_letters_are_a_stream_of_the_reports(self):
        self.publisher.put("bad-1")
        self.wait_count(1)
        stream = self.gateway.stream("dead_letters")
        self.assertEqual(stream["topic"], "failed")
        self.assertEqual(stream["endpoint"], self.gateway.config["dead_letters"]["bind"])
        self.assertEqual(stream["last_sequence"], self.letters.last())
        self.assertEqual(stream["reserved_numbers"], 0)
        name = 'kvgate_stream_last_sequence{stream="dead_letters"}'
        self.assertEqual(self.gateway.metrics()[name], self.letters.last())

    def test_tap_prints_letters(self):
        endpoint = self.gateway.config["dead_letters"]["bind"]
        tap = subprocess.Popen([PROGRAM, "tap", f"letters={endpoint}", "--count", "1"],
                               stdout=subprocess.PIPE, text=True)
        self.addCleanup(tap.stdout.close)
        self.addCleanup(tap.kill)
        deadline = Deadline("kvgate tap to print a letter")
        while tap.poll() is None:
            self.publisher.put("bad-tapped")
            self.letters.pump(50)
            deadline.left()
        letter = json.loads(tap.stdout.read().splitlines()[0])
        self.assertEqual((letter["source"], letter["stream"]), ("store", None))
        self.assertEqual(letter["event"]["object_key"], "bad-tapped")
        self.assertIn("no bad-tapped", letter["error"])


class Reload(unittest.TestCase):
    """The section comes, moves and goes with a reload; the numbers go on."""

    def setUp(self):
        self.plain = {"sources": [{"name": "store", "gap_guard": False}],
                      "filters": [{"script": "picky.lua", "options": {"word": "bad"}}],
                      "streams": [{"name": "all"}]}
        self.gateway = Gateway(self.plain, {"picky.lua": PICKY})
        self.addCleanup(self.gateway.directory.remove)
        self.addCleanup(self.gateway.kill)
        self.publisher = Publisher(self.gateway.config["sources"][0]["connect"])
        self.addCleanup(self.publisher.close)
        self.gateway.start()
        self.publisher.wait_subscribed()

    def reload(self, name):
        config = json.loads(json.dumps(self.plain))
        if name is not None:
            config["filters"][0]["on_error"] = "dead_letter"
            config["dead_letters"] = {"bind": self.gateway.directory.ipc(name)}
        self.gateway.configure(config)
        code, text = self.gateway.post("/reload")
        self.assertEqual(code, 200, text)

    def wait_letter(self, name):
        """Numbers of the letters from one on that a new subscriber saw."""
        subscriber = Subscriber(self.gateway.directory.ipc(name))
        self.addCleanup(subscriber.close)
        deadline = Deadline("a letter")
        while not subscriber.messages:
            self.publisher.put("bad-1")
            subscriber.pump(50)
            deadline.left()
        return subscriber

    def test_the_section_comes_moves_goes_and_comes_back_and_numbers_go_on(self):
        self.reload("one")
        first = self.wait_letter("one")
        last = self.gateway.stream("dead_letters")["last_sequence"]
        self.assertEqual(first.messages[0].number, first.last() - len(first.messages) + 1)
        self.reload("two")
        self.assertGreater(self.wait_letter("two").last(), last)
        self.assertEqual(self.gateway.stream("dead_letters")["reserved_numbers"], 0)
        last = self.gateway.stream("dead_letters")["last_sequence"]
        self.reload(None)
        self.assertNotIn("dead_letters", [s["name"] for s in self.gateway.status()["streams"]])
        self.reload("two")
        stream = self.gateway.stream("dead_letters")
        self.assertEqual((stream["last_sequence"], stream["reserved_numbers"]), (last + 1, 1))
        self.gateway.check_identity()
        self.gateway.stop()

    def test_turning_letters_on_costs_the_streams_no_number(self):
        self.publisher.put("a")
        until(lambda: self.gateway.stream("all")["published_events"] == 1, "the event")
        self.reload("one")
        self.assertEqual(self.gateway.stream("all")["reserved_numbers"], 0)
        self.gateway.stop()


class Check(unittest.TestCase):
    def check(self, filter_more, more):
        directory = Directory()
        self.addCleanup(directory.remove)
        directory.write("f.lua", PICKY)
        return run("check", directory.write("c.yaml", f"""
sources: [ {{ name: store, connect: "ipc:///tmp/in" }} ]
filters: [ {{ script: f.lua, options: {{ word: x }} {filter_more} }} ]
streams: [ {{ name: out, bind: "ipc:///tmp/out" }} ]
{more}
"""))

    def test_check_shows_where_letters_go(self):
        result = self.check(", on_error: dead_letter", 'dead_letters: { bind: "tcp://*:6009" }')
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertIn("dead letters  bind tcp://*:6009\n", result.stdout)
        self.assertNotIn("of no filter", result.stdout)

    def test_check_says_that_no_filter_uses_them(self):
        result = self.check("", 'dead_letters: { bind: "tcp://*:6009" }')
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertIn('of no filter: none has "on_error: dead_letter"', result.stdout)

    def test_check_refuses_a_filter_without_a_stream_for_its_letters(self):
        result = self.check(", on_error: dead_letter", "")
        self.assertEqual(result.returncode, 3)
        self.assertIn("c.yaml:3:", result.stderr)
        self.assertIn("there is no stream for them", result.stderr)


if __name__ == "__main__":
    unittest.main()

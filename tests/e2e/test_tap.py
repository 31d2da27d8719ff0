"""kvgate tap shows what a subscriber of a stream would see: every field, and every loss."""

import array
import fcntl
import json
import os
import pty
import signal
import subprocess
import termios
import threading
import unittest

from support.deadline import SLOWNESS, until
from support.event import pack, pack_batch
from support.gateway import PROGRAM, Directory, run
from support.publisher import Publisher

EXIT_FAILURE, EXIT_USAGE = 1, 2
U64_MAX = (1 << 64) - 1


class Tap:
    """A running tap; `lines` are what it has printed so far, as JSON."""

    def __init__(self, *arguments, read=True):
        self.process = subprocess.Popen([PROGRAM, "tap", *map(str, arguments)],
                                        stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                        stderr=subprocess.PIPE)
        self.lines, self.log = [], []
        self.readers = [threading.Thread(target=self.read_log, daemon=True)]
        if read:
            self.readers.append(threading.Thread(target=self.read_lines, daemon=True))
        for reader in self.readers:
            reader.start()

    def read_lines(self):
        for line in self.process.stdout:
            self.lines.append(json.loads(line, object_pairs_hook=Pairs))

    def read_log(self):
        for line in self.process.stderr:
            self.log.append(line.decode("utf-8", "replace"))

    def wait_lines(self, count):
        until(lambda: len(self.lines) >= count, lambda: f"{count} lines, got {self.lines}")
        return self.lines

    def wait_end(self):
        code = self.process.wait(10 * SLOWNESS)
        for reader in self.readers:
            reader.join(10 * SLOWNESS)
        return code

    def stop(self, number=signal.SIGINT):
        self.process.send_signal(number)
        return self.wait_end()

    def close(self):
        self.process.kill()
        self.process.wait()
        for reader in self.readers:
            reader.join(10)
        self.process.stdout.close()
        self.process.stderr.close()


class Pairs(dict):
    """A JSON object that remembers names that came twice."""

    def __init__(self, pairs):
        super().__init__(pairs)
        self.pairs = pairs


class TapCase(unittest.TestCase):
    options = ()

    def setUp(self):
        self.directory = Directory()
        self.addCleanup(self.directory.remove)
        self.publisher = self.open(Publisher(self.directory.ipc("stream")))

    def open(self, thing):
        self.addCleanup(thing.close)
        return thing

    def start(self, *options, publisher=None):
        publisher = publisher or self.publisher
        tap = self.open(Tap(publisher.endpoint, *options))
        publisher.wait_subscribed()
        return tap

    def send_event(self, packed):
        self.publisher.send_payload(pack_batch([packed]))


class Events(TapCase):
    def test_an_event_is_a_line_with_its_place_and_all_its_fields_in_their_order(self):
        tap = self.start()
        events = [self.publisher.stored("k", tenant_id="acme"), self.publisher.removed("k"),
                  self.publisher.cleared()]
        self.publisher.send(*events)
        lines = tap.wait_lines(3)
        for position, (line, event) in enumerate(zip(lines, events)):
            self.assertEqual(line.pairs,
                             [("seq", 1), ("position", position), *event.items()])
        self.assertEqual(tap.stop(), 0)

    def test_integers_keep_all_their_digits(self):
        tap = self.start()
        values = [U64_MAX, 1 << 63, (1 << 53) + 1, -(1 << 63), -1, 0]
        self.send_event(pack({"event_type": "stored", "seq_hashes": values}))
        self.publisher.next = U64_MAX
        self.send_event(pack({"event_type": "stored"}))
        first, gap, second = tap.wait_lines(3)
        self.assertEqual(first["seq_hashes"], values)
        self.assertEqual(second["seq"], U64_MAX)
        self.assertEqual(gap, {"gap": {"after": 1, "before": U64_MAX, "missing": U64_MAX - 2}})

    def test_nil_absent_and_empty_stay_three_things(self):
        tap = self.start()
        self.send_event(pack({"nil": None, "list": [], "map": {}, "text": ""}))
        line, = tap.wait_lines(1)
        self.assertEqual(line, {"seq": 1, "position": 0,
                                "nil": None, "list": [], "map": {}, "text": ""})

    def test_what_json_has_no_word_for_is_spelt(self):
        tap = self.start()
        self.send_event(b"\x88" b"\xa3bin\xc4\x03\x00\xff\x10" b"\xa3ext\xd5\x07\xab\xcd"
                        b"\x05\xa4five" b"\xc0\xa3nil"
                        b"\xa5float\xcb\x3f\xb9\x99\x99\x99\x99\x99\x9a"
                        b"\xa4true\xc3" b"\xa3odd\xa3a\xffb" b"\xa3nan\xcb\x7f\xf8" + bytes(6))
        line, = tap.wait_lines(1)
        self.assertEqual(line, {
            "seq": 1, "position": 0, "bin": {"$bin": "00ff10"},
            "ext": {"$ext": 7, "data": "abcd"}, "5": "five", "null": "nil", "float": 0.1,
            "true": True, "odd": "a\ufffd\u00ffb", "nan": None})

    def test_a_field_that_comes_twice_is_shown_twice(self):
        tap = self.start()
        self.send_event(b"\x82\xa1a\x01\xa1a\x02")
        line, = tap.wait_lines(1)
        self.assertEqual(line.pairs[2:], [("a", 1), ("a", 2)])

    def test_nothing_that_a_peer_sends_can_move_the_terminals_cursor(self):
        tap = self.open(Tap(self.publisher.endpoint, read=False))
        self.publisher.wait_subscribed()
        self.publisher.put("\x1b[2J\r\n\u202e\u0085")
        line = tap.process.stdout.readline()
        self.assertEqual(json.loads(line)["object_key"], "\x1b[2J\r\n\u202e\u0085")
        self.assertFalse({0x1b, 0x0d} & set(line))
        self.assertTrue(line.endswith(b"}\n") and line.isascii(), line)

    def test_events_that_are_arrays_are_shown_too(self):
        tap = self.start()
        self.publisher.send_payload(pack([1.5, [["BlockRemoved", [1, 2]]]]))
        line, = tap.wait_lines(1)
        self.assertEqual(line, {"seq": 1, "position": 0, "event": ["BlockRemoved", [1, 2]]})

    def test_only_the_fields_that_were_asked_for_are_shown(self):
        tap = self.start("--fields", "tenant_id,event_type")
        self.publisher.put("a", tenant_id="acme")
        self.publisher.send(self.publisher.cleared(tenant_id="b"))
        self.assertEqual([line.pairs for line in tap.wait_lines(2)], [
            [("seq", 1), ("position", 0), ("event_type", "stored"), ("tenant_id", "acme")],
            [("seq", 2), ("position", 0), ("event_type", "cleared"), ("tenant_id", "b")]])

    def test_a_message_is_one_line_when_asked_for(self):
        tap = self.start("--batches", "--fields", "object_key", "--count", 2)
        self.publisher.rank = 3
        self.publisher.put("a", "b")
        self.publisher.put("c")
        self.assertEqual(tap.wait_end(), 0)
        times = [self.publisher.timestamp - 2, self.publisher.timestamp - 1]
        self.assertEqual([line.pairs for line in tap.lines], [
            [("seq", 1), ("timestamp", times[0]), ("dp_rank", 3),
             ("events", [{"object_key": "a"}, {"object_key": "b"}])],
            [("seq", 2), ("timestamp", times[1]), ("dp_rank", 3),
             ("events", [{"object_key": "c"}])]])

    def test_it_ends_after_as_many_events_as_it_was_asked_for(self):
        tap = self.start("--count", 3)
        self.publisher.put("a", "b")
        self.publisher.put("c", "d")
        self.assertEqual(tap.wait_end(), 0)
        self.assertEqual([line["object_key"] for line in tap.lines], ["a", "b", "c"])


class Marks(TapCase):
    def story(self, tap, count):
        """Keys of events, and marks as they are."""
        return [line.get("object_key", line) for line in tap.wait_lines(count)]

    def test_missing_numbers_are_a_gap(self):
        tap = self.start()
        self.publisher.skip(4)
        self.publisher.put("a")
        self.publisher.skip(3)
        self.publisher.put("b")
        self.publisher.put("c")
        self.assertEqual(self.story(tap, 4), [
            "a", {"gap": {"after": 5, "before": 9, "missing": 3}}, "b", "c"])

    def test_a_number_that_goes_back_or_repeats_is_a_restart(self):
        tap = self.start()
        self.publisher.put("a")
        self.publisher.put("b")
        self.publisher.next = 1
        self.publisher.put("c")
        self.publisher.next = 1
        self.publisher.put("d")
        self.assertEqual(self.story(tap, 6), [
            "a", "b", {"restart": {"last": 2, "now": 1}}, "c",
            {"restart": {"last": 1, "now": 1}}, "d"])

    def test_an_event_id_that_goes_back_is_a_restart_and_hides_no_gap(self):
        tap = self.start()
        self.publisher.put("a", "b")
        self.publisher.skip(5)
        self.publisher.next_id = 1
        self.publisher.put("c")
        self.publisher.next_id = 1
        self.publisher.put("d")
        self.assertEqual(self.story(tap, 7), [
            "a", "b", {"gap": {"after": 1, "before": 7, "missing": 5}},
            {"restart": {"last": 1, "now": 7, "event_id": {"last": 2, "now": 1}}}, "c",
            {"restart": {"last": 7, "now": 8, "event_id": {"last": 1, "now": 1}}}, "d"])

    def test_a_message_without_events_is_an_announcement(self):
        tap = self.start()
        self.publisher.rank = 2
        self.publisher.put("a")
        self.publisher.skip(2)
        self.publisher.send()
        self.assertEqual(self.story(tap, 3), [
            "a", {"gap": {"after": 1, "before": 4, "missing": 2}},
            {"announcement": {"seq": 4, "timestamp": self.publisher.timestamp - 1,
                              "dp_rank": 2}}])

    def test_a_message_that_is_none_is_malformed_and_its_number_counts_if_it_has_one(self):
        tap = self.start()
        payload = pack_batch([self.publisher.stored("never")])
        self.publisher.put("a")
        self.publisher.send_frames(b"", b"\0" * 8)
        self.publisher.send_frames(b"", b"\0" * 8, payload, b"")
        self.publisher.send_frames(b"", b"\0" * 7, payload)
        for broken in (b"", payload[:-1], payload + b"\0", b"\xc1", b"\x91\x01", b"\x80",
                       b"\x93\x01\x02\x03"):
            self.publisher.send_payload(broken)
        self.publisher.put("b")
        story = self.story(tap, 12)
        self.assertEqual((story[0], story[-1]), ("a", "b"))
        marks = [mark["malformed"] for mark in story[1:-1]]
        self.assertEqual([mark.get("seq") for mark in marks], [None] * 3 + list(range(2, 9)))
        self.assertEqual([mark["reason"] for mark in marks], [
            "frames: 2 instead of 3", "frames: 4 instead of 3",
            "bytes of the sequence: 7, not 8",
            *["the payload is not one msgpack value"] * 4,
            "the payload has less than two members", "the payload is not an array",
            "the payload's second member is not an array"])

    def test_an_event_that_is_none_is_malformed_and_those_beside_it_are_shown(self):
        tap = self.start()
        events = [pack(self.publisher.stored(key)) for key in "ab"]
        self.publisher.send_payload(pack_batch([events[0], b"\xa3odd", events[1]]))
        self.assertEqual(self.story(tap, 3), [
            "a", {"malformed": {"seq": 1, "position": 1,
                                "reason": "the event is neither a map nor an array"}}, "b"])

    def test_marks_stand_between_the_lines_of_messages_too(self):
        tap = self.start("--batches")
        self.publisher.put("a")
        self.publisher.skip()
        self.publisher.send_payload(pack_batch([b"\x01"]))
        lines = tap.wait_lines(3)
        self.assertEqual(lines[1], {"gap": {"after": 1, "before": 3, "missing": 1}})
        self.assertEqual(lines[2]["events"],
                         [{"reason": "the event is neither a map nor an array"}])


class Hostile(TapCase):
    def test_no_size_that_a_header_claims_is_believed(self):
        tap = self.start()
        head = b"\x93\x01"
        for claim in (b"\xdd\xff\xff\xff\xff", b"\x91\xdf\xff\xff\xff\xff",
                      b"\x91\xdb\xff\xff\xff\xff", b"\x91\xc6\xff\xff\xff\xff",
                      b"\x91" * 100000):
            self.publisher.send_payload(head + claim + b"\x00")
        self.publisher.put("after")
        lines = tap.wait_lines(6)
        self.assertEqual([line.get("malformed", {}).get("seq") for line in lines[:5]],
                         [1, 2, 3, 4, 5])
        self.assertEqual(lines[5]["object_key"], "after")

    def test_an_event_too_large_or_too_deep_is_told_and_the_next_one_shown(self):
        tap = self.start()
        deep = b"\x81\xa1a" * 60 + b"\xc0"
        large = pack({"event_type": "stored", "object_key": "x" * (5 << 20)})
        self.publisher.send_payload(pack_batch([deep, large, pack({"object_key": "after"})]))
        lines = tap.wait_lines(3)
        self.assertEqual([line.get("malformed", {}).get("reason") for line in lines],
                         ["nested too deep to be shown", "too large to be shown", None])
        self.assertEqual(lines[2]["object_key"], "after")

    def test_a_long_key_and_a_long_list_are_shown_whole(self):
        tap = self.start()
        self.send_event(pack({"object_key": "x" * (1 << 20), "token_ids": [1 << 31] * 100000}))
        line, = tap.wait_lines(1)
        self.assertEqual((len(line["object_key"]), len(line["token_ids"])), (1 << 20, 100000))


class Streams(TapCase):
    def test_each_of_several_streams_has_its_name_and_its_numbers(self):
        other = self.open(Publisher(self.directory.ipc("other")))
        tap = self.open(Tap(f"left={self.publisher.endpoint}", f"right={other.endpoint}"))
        self.publisher.wait_subscribed()
        other.wait_subscribed()
        self.publisher.put("a")
        tap.wait_lines(1)
        other.skip(8)
        other.put("b")
        tap.wait_lines(2)
        other.skip()
        other.put("c")
        lines = tap.wait_lines(4)
        self.assertEqual([line.pairs[0] for line in lines],
                         [("stream", name) for name in ("left", "right", "right", "right")])
        self.assertEqual([line.get("seq") for line in lines], [1, 9, None, 11])
        self.assertEqual(lines[2], {"stream": "right",
                                    "gap": {"after": 9, "before": 11, "missing": 1}})

    def test_an_equals_sign_in_the_path_makes_no_name(self):
        publisher = self.open(Publisher(self.directory.ipc("a=b")))
        tap = self.start(publisher=publisher)
        publisher.put("a")
        self.assertNotIn("stream", tap.wait_lines(1)[0])

    def test_several_streams_without_a_name_are_called_by_their_endpoints(self):
        other = self.open(Publisher(self.directory.ipc("other")))
        tap = self.open(Tap(self.publisher.endpoint, other.endpoint))
        self.publisher.wait_subscribed()
        other.wait_subscribed()
        self.publisher.put("a")
        other.put("b")
        self.assertEqual({line["object_key"]: line["stream"] for line in tap.wait_lines(2)},
                         {"a": self.publisher.endpoint, "b": other.endpoint})

    def test_its_words_stay_whole_for_those_who_list_processes(self):
        words = [f"left={self.publisher.endpoint}", "--fields", "object_key,medium"]
        tap = self.open(Tap(*words))
        self.publisher.wait_subscribed()
        with open(f"/proc/{tap.process.pid}/cmdline", encoding="utf-8") as file:
            self.assertEqual(file.read().split("\0")[-4:-1], words)

    def test_a_topic_is_told_and_chosen_by_its_prefix(self):
        publisher = self.open(Publisher(self.directory.ipc("topics"), topic=b"kv@acme"))
        tap = self.start("--topic", "kv@a", publisher=publisher)
        publisher.put("a")
        publisher.topic = b"kv@globex"
        publisher.put("b")
        publisher.topic = b"kv@a"
        publisher.put("c")
        lines = tap.wait_lines(3)
        self.assertEqual([line.get("topic") for line in lines], ["kv@acme", None, "kv@a"])
        self.assertEqual([line.get("object_key") for line in lines], ["a", None, "c"])

    def test_it_binds_when_told_so(self):
        endpoint = self.directory.ipc("bound")
        tap = self.open(Tap(endpoint, "--bind"))
        publisher = self.open(Publisher(endpoint, bind=False))
        publisher.wait_subscribed()
        publisher.put("a")
        self.assertEqual(tap.wait_lines(1)[0]["object_key"], "a")

    def test_it_tells_that_it_waits_for_a_publisher_that_is_not_there(self):
        absent = self.directory.ipc("absent")
        tap = self.open(Tap(f"here={self.publisher.endpoint}", f"there={absent}"))
        until(lambda: any("waiting for" in line for line in tap.log), "word of who is absent")
        self.assertEqual([line.split()[-1] for line in tap.log if "waiting for" in line],
                         [absent])

    def test_it_tells_when_a_publisher_comes_and_goes(self):
        tap = self.start()
        until(lambda: any("connected to" in line for line in tap.log), "word of a connection")
        self.publisher.kill()
        until(lambda: any("lost" in line for line in tap.log), "word of its loss")
        self.publisher.open()
        self.publisher.wait_subscribed()
        self.publisher.put("again")
        self.assertEqual(tap.wait_lines(1)[0]["object_key"], "again")


class Ends(TapCase):
    def test_it_ends_cleanly_on_a_signal_while_nothing_comes(self):
        for number in (signal.SIGINT, signal.SIGTERM):
            with self.subTest(number):
                tap = self.start()
                self.assertEqual(tap.stop(number), 0)
                self.assertEqual(tap.lines, [])

    def test_it_ends_when_its_reader_goes_while_nothing_comes(self):
        tap = self.open(Tap(self.publisher.endpoint, read=False))
        self.publisher.wait_subscribed()
        tap.process.stdout.close()
        self.assertEqual(tap.wait_end(), 0)

    def test_it_ends_when_its_reader_goes_while_lines_wait(self):
        tap = self.fill_pipe()
        tap.process.stdout.close()
        self.assertEqual(tap.wait_end(), 0)
        self.assertFalse([line for line in tap.log if "error" in line])

    def test_a_reader_that_sleeps_does_not_keep_a_signal_from_ending_it(self):
        self.assertEqual(self.fill_pipe().stop(), 0)

    def fill_pipe(self):
        """A tap that nobody reads from, stuck in the middle of a line."""
        tap = self.open(Tap(self.publisher.endpoint, read=False))
        self.publisher.wait_subscribed()
        for _ in range(10):
            self.publisher.put("x" * 100000)
        room = fcntl.fcntl(tap.process.stdout, fcntl.F_GETPIPE_SZ)

        def waiting():
            count = array.array("i", [0])
            fcntl.ioctl(tap.process.stdout, termios.FIONREAD, count)
            return count[0]
        until(lambda: waiting() > room - 4096, "a pipe that is full")
        return tap

    def test_a_full_disk_is_an_error(self):
        with open("/dev/full", "wb") as full:
            process = subprocess.Popen([PROGRAM, "tap", self.publisher.endpoint], stdout=full,
                                       stderr=subprocess.PIPE)
        self.addCleanup(process.stderr.close)
        self.addCleanup(process.kill)
        self.publisher.wait_subscribed()
        self.publisher.put("a")
        self.assertEqual(process.wait(10 * SLOWNESS), EXIT_FAILURE)
        self.assertIn(b"cannot write: No space left", process.stderr.read())

    def test_wrong_arguments_are_named(self):
        cases = (
            ([], EXIT_USAGE, "no ENDPOINT"),
            (["ipc://x"] * 65, EXIT_USAGE, "more than 64 endpoints"),
            (["a=ipc://x", "a=ipc://y"], EXIT_USAGE, 'two streams are called "a"'),
            (["ipc://x", "ipc://x"], EXIT_USAGE, 'two streams are called "ipc://x"'),
            (["=ipc://x"], EXIT_USAGE, 'the name before "=ipc://x" is empty'),
            (["ipc://x", "--fields", "a,,b"], EXIT_USAGE, "--fields: a word of the list is empty"),
            (["ipc://x", "--count", "many"], EXIT_USAGE, '--count: "many" is not'),
            (["ipc://x", "--follow"], EXIT_USAGE, "unknown option --follow"),
            (["ipc://x", "--feilds", "a"], EXIT_USAGE, "did you mean --fields?"),
            (["ipc://x", "--batch"], EXIT_USAGE, "say --batches"),
            (["nowhere"], EXIT_FAILURE, "cannot connect to nowhere"),
            (["acme=nowhere://x"], EXIT_FAILURE, "acme: cannot connect to nowhere://x"),
        )
        for arguments, code, text in cases:
            with self.subTest(arguments):
                result = run("tap", *arguments)
                self.assertEqual(result.returncode, code, result.stderr)
                self.assertIn(text, result.stderr)

    def test_a_misspelt_field_is_told(self):
        result = run("tap", "nowhere", "--fields", "tenent_id,medium,mine")
        self.assertIn('--fields: "tenent_id" is no field that publishers write; '
                      'did you mean "tenant_id"?', result.stderr)
        self.assertEqual(result.stderr.count("--fields"), 1, result.stderr)

    def test_help_names_every_option(self):
        result = run("tap", "--help")
        self.assertEqual((result.returncode, result.stderr), (0, ""))
        for option in ("bind", "topic", "count", "batches", "fields"):
            self.assertIn(f"--{option}", result.stdout)


class Terminal(TapCase):
    """On a terminal each of several streams has its colour."""

    def start_on_terminal(self, *names, environment=None):
        controller, terminal = pty.openpty()
        self.addCleanup(os.close, controller)
        variables = {**os.environ, **(environment or {})}
        if environment is None:
            variables.pop("NO_COLOR", None)
        process = subprocess.Popen(
            [PROGRAM, "tap", *(f"{name}={self.publisher.endpoint}" for name in names)],
            stdout=terminal, stderr=subprocess.DEVNULL, env=variables)
        os.close(terminal)
        self.addCleanup(process.wait)
        self.addCleanup(process.kill)
        for _ in names:
            self.publisher.wait_subscribed()
        self.publisher.put("a")
        text = b""
        while text.count(b"\n") < len(names):
            text += os.read(controller, 65536)
        return text

    def test_several_streams_are_coloured_on_a_terminal(self):
        text = self.start_on_terminal("one", "two")
        self.assertIn(b"\x1b[31m{\"stream\":\"one\"", text)
        self.assertIn(b"\x1b[32m{\"stream\":\"two\"", text)
        self.assertEqual(text.count(b"}\x1b[0m"), 2)

    def test_one_stream_or_an_unwilling_user_gets_no_colours(self):
        self.assertNotIn(b"\x1b", self.start_on_terminal("one"))
        self.assertNotIn(b"\x1b", self.start_on_terminal("one", "two",
                                                         environment={"NO_COLOR": "1"}))


if __name__ == "__main__":
    unittest.main()

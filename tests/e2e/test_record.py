"""kvgate tap --record writes what came, kvgate sim --from sends it again, bit for bit.

Recordings are read and written here by a reader of their own.
"""

import os
import subprocess
import time
import unittest

import zmq

from support import recording
from support.deadline import SLOWNESS, Deadline, until
from support.gateway import PROGRAM, Directory, run
from support.publisher import Publisher

EXIT_FAILURE, EXIT_USAGE = 1, 2
ODD = [[b"only"], [b"", b"7 bytes"], [b"", b"\0" * 7, b"x"], [b"", b"\0" * 8, b""],
       [b"topic", b"\xff" * 8, b"\xc1\xff", b"more", b""], [bytes([n]) for n in range(16)]]


class RecordCase(unittest.TestCase):
    def setUp(self):
        self.directory = Directory()
        self.addCleanup(self.directory.remove)
        self.path = self.directory.path / "recording"

    def open(self, thing):
        self.addCleanup(thing.close)
        return thing

    def publisher(self, name):
        return self.open(Publisher(self.directory.ipc(name)))

    def start(self, *arguments):
        process = subprocess.Popen([PROGRAM, *map(str, arguments)], stdin=subprocess.DEVNULL,
                                   stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
        self.addCleanup(process.stderr.close)
        self.addCleanup(process.wait)
        self.addCleanup(process.kill)
        return process

    def record(self, *operands):
        return self.start("tap", "--record", self.path, *operands)

    def recorded(self, count, process):
        """What the file holds once it has so many messages."""
        def look():
            self.assertIsNone(process.poll())
            try:
                return len(recording.read(self.path)[2]) >= count
            except (AssertionError, ValueError, IndexError, recording.struct.error):
                return False  # it is in the middle of a write
        until(look, f"{count} messages in the recording")
        process.terminate()
        self.assertEqual(process.wait(10 * SLOWNESS), 0)
        return recording.read(self.path)

    def replay(self, count, *options):
        """What a subscriber gets: pairs of arrival time and frames, and the process."""
        with zmq.Context() as context, context.socket(zmq.SUB) as socket:
            socket.setsockopt(zmq.RCVHWM, 0)
            socket.setsockopt(zmq.RECONNECT_IVL, 5)
            socket.setsockopt(zmq.SUBSCRIBE, b"")
            socket.connect(self.directory.ipc("replay"))
            process = self.start("sim", "--from", self.path, "--bind",
                                 self.directory.ipc("replay"), "--wait-subscribers", 1, *options)
            deadline = Deadline(f"{count} messages")
            came = []
            while len(came) < count:
                if socket.poll(int(deadline.left() * 1000) + 1):
                    came.append((time.monotonic(), socket.recv_multipart()))
            return came, process

    def write(self, *messages, names=("one",)):
        return recording.write(self.path, names, messages)


class Recording(RecordCase):
    def test_every_frame_is_there_right_or_wrong(self):
        publisher = self.publisher("one")
        process = self.record(publisher.endpoint)
        publisher.wait_subscribed()
        began = time.time()
        publisher.put("k")
        for frames in ODD:
            publisher.send_frames(*frames)
        wall, names, messages = self.recorded(1 + len(ODD), process)
        self.assertEqual(names, [publisher.endpoint])
        self.assertEqual([message.frames for message in messages[1:]], ODD)
        self.assertEqual(messages[0].frames[1], (1).to_bytes(8, "big"))
        self.assertAlmostEqual(wall / 1000, began, delta=60)
        times = [message.time for message in messages]
        self.assertEqual(times, sorted(times))

    def test_streams_are_told_apart_by_their_names(self):
        first, second = self.publisher("one"), self.publisher("two")
        process = self.record(f"a={first.endpoint}", f"b={second.endpoint}")
        for publisher in (first, second):
            publisher.wait_subscribed()
        first.send_frames(b"1")
        second.send_frames(b"2")
        _, names, messages = self.recorded(2, process)
        self.assertEqual(names, ["a", "b"])
        self.assertEqual({(message.stream, *message.frames) for message in messages},
                         {("a", b"1"), ("b", b"2")})

    def test_a_file_that_cannot_be_written_is_an_error(self):
        result = run("tap", "--record", "/no/such/place", self.directory.ipc("one"))
        self.assertEqual(result.returncode, EXIT_FAILURE)
        self.assertIn("--record /no/such/place: No such file", result.stderr)

    @unittest.skipUnless(os.path.exists("/dev/full"), "no /dev/full")
    def test_a_full_disk_ends_it_with_the_reason(self):
        publisher = self.publisher("one")
        process = self.start("tap", "--record", "/dev/full", publisher.endpoint)
        self.assertEqual(process.wait(10 * SLOWNESS), EXIT_FAILURE)
        self.assertIn(b"No space left", process.stderr.read())


class Replay(RecordCase):
    def test_every_frame_comes_again(self):
        self.write(*[(0, 0, frames) for frames in ODD])
        came, process = self.replay(len(ODD))
        self.assertEqual([frames for _, frames in came], ODD)
        self.assertEqual(process.wait(10 * SLOWNESS), 0)

    def test_what_tap_wrote_is_what_sim_sends(self):
        publisher = self.publisher("one")
        process = self.record(publisher.endpoint)
        publisher.wait_subscribed()
        for number in range(50):
            publisher.put(f"k{number}", tenant_id="t" * number)
        publisher.skip(3)
        publisher.put("after")
        messages = self.recorded(51, process)[2]
        came, _ = self.replay(51, "--speed", 0)
        self.assertEqual([frames for _, frames in came], [message.frames for message in messages])

    def test_the_time_between_messages_is_the_recorded_one_or_its_fraction(self):
        self.write((10, 0, [b"a"]), (10.4, 0, [b"b"]))
        for options, least in (([], 0.35), (["--speed", "2"], 0.15), (["--speed", "0"], 0)):
            with self.subTest(options):
                (before, _), (after, _) = self.replay(2, *options)[0]
                self.assertGreater(after - before, least)
                if options == ["--speed", "0"]:
                    self.assertLess(after - before, 0.3 * SLOWNESS)

    def test_a_loop_begins_again_with_the_same_bytes(self):
        self.write((0, 0, [b"a"]), (0.001, 0, [b"b"]))
        came, process = self.replay(5, "--loop")
        self.assertEqual([frames[0] for _, frames in came], [b"a", b"b", b"a", b"b", b"a"])
        process.terminate()
        self.assertEqual(process.wait(10 * SLOWNESS), 0)

    def test_one_of_several_streams_is_named(self):
        self.write((0, 0, [b"a"]), (0, 1, [b"b"]), names=("one", "two"))
        came, process = self.replay(1, "--stream", "two")
        self.assertEqual(came[0][1], [b"b"])
        self.assertEqual(process.wait(10 * SLOWNESS), 0)
        for options in ([], ["--stream", "three"]):
            result = run("sim", "--from", self.path, "--bind", self.directory.ipc("x"), *options)
            self.assertEqual(result.returncode, EXIT_FAILURE)
            self.assertIn("--stream must name one of its streams: one, two", result.stderr)

    def test_a_recording_that_was_cut_off_is_replayed_to_there_and_fails(self):
        self.write((0, 0, [b"a"]), (0, 0, [b"b"]))
        self.path.write_bytes(self.path.read_bytes()[:-1])
        came, process = self.replay(1)
        self.assertEqual(came[0][1], [b"a"])
        self.assertEqual(process.wait(10 * SLOWNESS), EXIT_FAILURE)
        self.assertIn(b"message 2: the file ends in it", process.stderr.read())

    def test_what_is_no_recording_or_empty_is_refused(self):
        self.path.write_text('{"seq":1}\n', encoding="ascii")
        address = self.directory.ipc("x")
        result = run("sim", "--from", self.path, "--bind", address)
        self.assertEqual(result.returncode, EXIT_FAILURE)
        self.assertIn("this is no recording of kvgate tap --record", result.stderr)
        self.write()
        result = run("sim", "--from", self.path, "--bind", address, "--loop")
        self.assertEqual(result.returncode, EXIT_FAILURE)
        self.assertIn("no message of the stream", result.stderr)

    def test_wrong_options_are_named(self):
        for options, words in ((["--loop"], "need --from"), (["--speed", "2"], "need --from"),
                               (["--from", "x", "--speed", "-1"], '--speed: "-1" is not 0 or'),
                               (["--from", "x", "--speed", "nan"], '--speed: "nan" is not')):
            result = run("sim", *options)
            self.assertEqual(result.returncode, EXIT_USAGE)
            self.assertIn(words, result.stderr)


if __name__ == "__main__":
    unittest.main()

"""kvgate sim speaks as a Mooncake Store master does, byte for byte, and fails as one.

The oracle is python3-msgpack: whatever fields a payload decodes to, packed again in the
publisher's order they must be the same bytes; the golden payloads vouch for that order.
"""

import re
import subprocess
import time
import unittest

import zmq

from support.deadline import SLOWNESS, Deadline
from support.event import generation_c, golden, pack_batch, unpack
from support.gateway import PROGRAM, Directory, run

FIXED_TIME = 1_700_000_000_123
EXIT_FAILURE, EXIT_USAGE = 1, 2

VLLM = r"Qwen3-8B@tp_rank:[01]@pcp0@dcp0@pp_rank:0@group:0@([0-9a-f]{64})"
SGLANG = r"([0-9a-f]{64})_0_[kv]"
LMCACHE = r"Qwen/Qwen3-8B@2@[01]@([1-9a-f][0-9a-f]{0,63})@bfloat16"


class Simulation:
    """One run of the simulator to its end, and all that a subscriber got of it."""

    def __init__(self, *options, binds=False):
        directory = Directory()
        context = zmq.Context()
        try:
            self.socket = context.socket(zmq.SUB)
            self.socket.setsockopt(zmq.RCVHWM, 0)
            self.socket.setsockopt(zmq.RECONNECT_IVL, 5)
            self.socket.setsockopt(zmq.SUBSCRIBE, b"")
            endpoint = directory.ipc("sim")
            (self.socket.bind if binds else self.socket.connect)(endpoint)
            self.messages = []
            stderr = self.run("--connect" if binds else "--bind", endpoint, "--rate", 0,
                              "--wait-subscribers", 1, "--hwm", 0, *options)
            self.summary = stderr.splitlines()[-1]
            self.counts = [int(word) for word in re.findall(r"\b\d+(?= [a-z])", self.summary)]
            deadline = Deadline(lambda: f"{self.counts[0]} messages, got {len(self.messages)}")
            while len(self.messages) < self.counts[0]:
                self.receive(int(deadline.left() * 1000) + 1)
            assert not self.socket.poll(0), "more messages than it says"
        finally:
            context.destroy(linger=0)
            directory.remove()

    def run(self, *options):
        """Receive all the while: a SUB socket that binds greets its peers only then."""
        process = subprocess.Popen([PROGRAM, "sim", *map(str, options)], stderr=subprocess.PIPE,
                                   text=True)
        with process:
            deadline = Deadline("the simulator's end")
            try:
                while process.poll() is None:
                    self.receive(min(20, int(deadline.left() * 1000) + 1))
            finally:
                process.kill()
            stderr = process.stderr.read()
        assert process.returncode == 0, stderr
        return stderr

    def receive(self, milliseconds):
        if self.socket.poll(milliseconds):
            self.messages.append(self.socket.recv_multipart())

    def numbers(self):
        return [int.from_bytes(number, "big") for _, number, _ in self.messages]

    def batches(self):
        return [unpack(payload) for _, _, payload in self.messages]

    def events(self):
        return [event for _, events, _ in self.batches() for event in events]

    def ids(self):
        return [event["event_id"] for event in self.events()]


def pack_again(payload, legacy=True):
    """The payload as the publisher's fields in the publisher's order pack it."""
    timestamp, events, rank = unpack(payload)
    made = []
    for event in events:
        context = {name: event[name] for name in
                   ("model_name", "block_size", "additional_salt", "lora_name", "tenant_id",
                    "backend_id", "medium", "dp_rank", "group_id") if name in event}
        made.append(generation_c(event["event_type"], event["event_id"], event.get("object_key"),
                                 timestamp=event["timestamp"], legacy=legacy, **context))
    return pack_batch(made, timestamp, rank)


class Bytes(unittest.TestCase):
    def test_every_payload_is_what_python3_msgpack_makes_of_its_fields(self):
        for keys in ("vllm", "sglang", "lmcache"):
            for options, legacy in (([], True), (["--no-legacy"], False)):
                with self.subTest(keys=keys, legacy=legacy):
                    simulation = Simulation("--keys", keys, "--count", 300, "--mix", "6:3:1",
                                            *options)
                    kinds = {event["event_type"] for event in simulation.events()}
                    self.assertEqual(kinds, {"stored", "removed", "cleared"})
                    for _, _, payload in simulation.messages:
                        self.assertEqual(payload, pack_again(payload, legacy))

    def test_the_golden_events_come_out_of_its_fields(self):
        options = ["--keys", "sglang", "--model", "configured-model", "--block-size", 128,
                   "--salt", "salt-a", "--lora", "adapter-a", "--tenants", "tenant-a",
                   "--backend", "mooncake-test", "--medium", "cpu", "--dp-rank", 5,
                   "--timestamp", FIXED_TIME, "--batch", 1, "--count", 40, "--mix", "5:4:1"]
        found = {}
        for _, events, _ in Simulation(*options).batches():
            found.setdefault(events[0]["event_type"], events[0])
        for name, kind in (("C1", "stored"), ("C2", "removed"), ("C3", "cleared")):
            with self.subTest(kind):
                expected = unpack(golden()[name])[1][0]
                event = dict(found[kind])
                for own in ("event_id", "object_key", "group_id"):
                    if own in event:
                        event[own] = expected[own]
                self.assertEqual(list(event.items()), list(expected.items()))

    def test_what_is_not_configured_is_nil(self):
        simulation = Simulation("--count", 40, "--model", "", "--block-size", 0)
        for event in simulation.events():
            self.assertEqual([event[name] for name in ("model_name", "block_size",
                                                       "additional_salt", "lora_name")],
                             [None] * 4)
        for _, _, payload in simulation.messages:
            self.assertEqual(payload, pack_again(payload))

    def test_a_message_is_an_empty_topic_a_number_from_1_and_a_batch(self):
        simulation = Simulation("--count", 100, "--batch", 7, "--dp-rank", 3)
        self.assertEqual({topic for topic, _, _ in simulation.messages}, {b""})
        self.assertEqual(simulation.numbers(), list(range(1, 16)))
        self.assertEqual([len(events) for _, events, _ in simulation.batches()],
                         [7] * 14 + [2])
        self.assertEqual({rank for _, _, rank in simulation.batches()}, {3})
        self.assertEqual({event["dp_rank"] for event in simulation.events()}, {3})
        self.assertEqual(simulation.ids(), list(range(1, 101)))

    def test_all_events_of_a_message_carry_its_time_and_that_is_the_clocks(self):
        before = time.time_ns() // 1_000_000
        simulation = Simulation("--count", 200, "--batch", 64)
        after = time.time_ns() // 1_000_000
        for timestamp, events, _ in simulation.batches():
            self.assertEqual({event["timestamp"] for event in events}, {timestamp})
            self.assertTrue(before <= timestamp <= after, timestamp)

    def test_the_keys_are_those_of_the_engine_and_two_objects_share_a_blocks_hash(self):
        for keys, pattern in (("vllm", VLLM), ("sglang", SGLANG), ("lmcache", LMCACHE)):
            with self.subTest(keys):
                events = Simulation("--keys", keys, "--count", 200, "--mix", "1:0:0",
                                    "--medium", "cpu", "--tenants", "acme").events()
                matches = [re.fullmatch(pattern, event["object_key"]) for event in events]
                self.assertNotIn(None, matches)
                hashes = [match[1] for match in matches]
                self.assertEqual(hashes[0::2], hashes[1::2])
                self.assertEqual(len(set(hashes)), 100)
                self.assertEqual(len({event["object_key"] for event in events}), 200)
                self.assertEqual({event["group_id"] is None for event in events},
                                 {keys != "sglang"})
                for event, match in zip(events, matches):
                    if event["group_id"] is not None:
                        self.assertEqual(event["group_id"], "sglang-hicache:" + match[1])


class Story(unittest.TestCase):
    def check_story(self, events, limit, media):
        """What is removed was stored and still is; what is cleared is gone."""
        tenants = {}
        for event in events:
            objects = tenants.setdefault(event["tenant_id"], {})
            key, medium = event.get("object_key"), event["medium"]
            if event["event_type"] == "stored":
                self.assertIn(medium, media)
                self.assertNotIn(medium, objects.setdefault(key, set()))
                objects[key].add(medium)
                self.assertLessEqual(len(objects), limit)
            elif event["event_type"] == "removed":
                objects[key].remove(medium)
                if not objects[key]:
                    del objects[key]
            else:
                self.assertIsNone(medium)
                self.assertTrue(objects, "cleared, but had nothing")
                objects.clear()
        return tenants

    def test_only_what_is_stored_is_removed_or_cleared_and_there_is_a_bound(self):
        events = Simulation("--count", 20000, "--batch", 64, "--mix", "700:290:10",
                            "--objects", 50, "--tenants", "a,b,c,d").events()
        tenants = self.check_story(events, 50, {"cpu", "disk"})
        self.assertEqual(set(tenants), set("abcd"))

    def test_one_medium_and_one_object_are_enough(self):
        events = Simulation("--count", 300, "--mix", "1:1:0", "--objects", 1,
                            "--tenants", "a", "--medium", "disk").events()
        self.check_story(events, 1, {"disk"})
        self.assertEqual({event["event_type"] for event in events}, {"stored", "removed"})

    def test_the_kinds_come_as_often_as_they_were_weighted(self):
        events = Simulation("--count", 20000, "--batch", 64, "--mix", "60:39:1").events()
        share = sum(event["event_type"] == "removed" for event in events) / len(events)
        self.assertTrue(0.35 < share < 0.40, share)

    def test_a_seed_makes_the_same_bytes_again_and_another_one_others(self):
        def payloads(seed):
            simulation = Simulation("--count", 500, "--seed", seed, "--timestamp", FIXED_TIME,
                                    "--malformed", 7, "--drop-every", 5, "--restart-at", 30)
            return simulation.messages
        self.assertEqual(payloads(7), payloads(7))
        self.assertNotEqual(payloads(7), payloads(8))


class Faults(unittest.TestCase):
    def test_a_full_queue_leaves_out_a_number_an_event_and_no_event_id(self):
        simulation = Simulation("--count", 40, "--batch", 4, "--drop-every", 5)
        # Turns 5 and 10 of 10 are lost: four numbers each; nothing follows the second.
        self.assertEqual(simulation.numbers(), [1, 2, 3, 4, 9, 10, 11, 12])
        self.assertEqual(simulation.ids(), list(range(1, 33)))
        self.assertRegex(simulation.summary, "; faults: 2 drops, 8 dropped events$")

    def test_a_restart_begins_with_1_and_knows_nothing_of_before(self):
        simulation = Simulation("--count", 80, "--batch", 4, "--restart-at", 8,
                                "--mix", "1:1:0")
        self.assertEqual(simulation.numbers(), list(range(1, 9)) + list(range(1, 13)))
        self.assertEqual(simulation.ids(), list(range(1, 33)) + list(range(1, 49)))
        before, after = simulation.events()[:32], simulation.events()[32:]
        Story.check_story(self, after, 10000, {"cpu", "disk"})
        self.assertFalse({event["object_key"] for event in before} &
                         {event["object_key"] for event in after})
        self.assertRegex(simulation.summary, "; faults: 1 restart$")

    def test_malformed_messages_come_in_four_kinds_in_turns(self):
        simulation = Simulation("--count", 160, "--batch", 8, "--malformed", 5)
        frames = [[len(frame) for frame in message] for message in simulation.messages]
        odd = {turn: frames[turn - 1] for turn in (5, 10, 15, 20)}
        self.assertEqual(len(frames), 20)
        self.assertEqual(odd[5], [0, 8])
        self.assertEqual(odd[10][:2], [0, 7])
        with self.assertRaises(ValueError):
            unpack(simulation.messages[14][2])
        last = unpack(simulation.messages[19][2])[1]
        self.assertEqual([isinstance(event, dict) for event in last],
                         [True] * 4 + [False] + [True] * 3)
        for turn in set(range(1, 21)) - set(odd):
            payload = simulation.messages[turn - 1][2]
            self.assertEqual(payload, pack_again(payload))
        # Each takes its number, though not each shows it.
        shown = [int.from_bytes(message[1], "big") for message in simulation.messages]
        self.assertEqual(shown, list(range(1, 21)))
        self.assertRegex(simulation.summary,
                         "; faults: 1 message of two frames, 1 short sequence, 1 cut payload, "
                         "1 malformed event$")

    def test_the_last_line_counts_what_was_sent(self):
        simulation = Simulation("--count", 100, "--batch", 8, "--malformed", 4)
        # 13 messages; 4 (two frames), 8 (short sequence) and 12 (cut) cannot be read.
        self.assertEqual(simulation.counts[:2], [13, 76])

    def test_the_last_line_names_no_fault_that_did_not_come_about(self):
        simulation = Simulation("--count", 1, "--batch", 1)
        self.assertRegex(simulation.summary, "sim: 1 message, 1 event$")


class Ends(unittest.TestCase):
    def setUp(self):
        self.directory = Directory()
        self.addCleanup(self.directory.remove)

    def start(self, *options):
        process = subprocess.Popen([PROGRAM, "sim", "--bind", self.directory.ipc("sim"),
                                    *map(str, options)], stderr=subprocess.PIPE, text=True)
        self.addCleanup(process.stderr.close)
        self.addCleanup(process.kill)
        self.assertIn("publishing on ipc://", process.stderr.readline())
        return process

    def check_end(self, process, *patterns):
        process.terminate()
        self.assertEqual(process.wait(10 * SLOWNESS), 0)
        line = process.stderr.read()
        for pattern in patterns:
            self.assertRegex(line, pattern)

    def test_it_ends_on_a_signal_while_it_waits_for_subscribers(self):
        self.check_end(self.start("--wait-subscribers", 3), r"sim: 0 messages, 0 events")

    def test_it_ends_on_a_signal_while_it_waits_for_the_next_event_to_be_due(self):
        self.check_end(self.start("--rate", 1, "--batch", 64), r"sim: [01] messages?, \d+ events?$")

    def test_it_ends_on_a_signal_while_it_is_busy(self):
        self.check_end(self.start("--rate", 0), r"sim: \d+ messages?, \d+ events?")

    def test_it_is_not_faster_than_it_was_told(self):
        began = time.monotonic()
        simulation = Simulation("--count", 200, "--batch", 1, "--rate", 1000)
        # The last of 200 events is due 199 ms after the first.
        self.assertGreaterEqual(time.monotonic() - began, 0.199)
        self.assertEqual(simulation.numbers(), list(range(1, 201)))

    def test_it_publishes_to_a_subscriber_that_binds(self):
        simulation = Simulation("--count", 100, binds=True)
        self.assertEqual(simulation.ids(), list(range(1, 101)))

    def test_a_free_port_is_told(self):
        process = subprocess.Popen([PROGRAM, "sim", "--bind", "tcp://127.0.0.1:*", "--rate", "1"],
                                   stderr=subprocess.PIPE, text=True)
        self.addCleanup(process.stderr.close)
        self.addCleanup(process.kill)
        self.assertRegex(process.stderr.readline(), r"publishing on tcp://127\.0\.0\.1:\d+$")
        process.terminate()
        self.assertEqual(process.wait(10 * SLOWNESS), 0)

    def test_an_address_in_use_is_named(self):
        process = self.start("--rate", 1)
        endpoint = self.directory.ipc("sim")
        result = run("sim", "--bind", endpoint)
        self.assertEqual(result.returncode, EXIT_FAILURE)
        self.assertRegex(result.stderr, f"cannot bind {endpoint}")
        self.check_end(process)

    def test_wrong_options_are_named_with_what_was_expected(self):
        cases = (
            (["--batch", "65"], r'--batch: "65" is not a whole number from 1 to 64'),
            (["--batch", "0"], r'--batch: "0" is not'),
            (["--count", "-1"], r'--count: "-1" is not a whole number'),
            (["--count", "18446744073709551616"], r"--count: .* is not a whole number"),
            (["--rate", "fast"], r'--rate: "fast" is not'),
            (["--mix", "1:2"], r"--mix: expected STORED:REMOVED:CLEARED"),
            (["--mix", "1:2:3:4"], r"--mix: expected STORED:REMOVED:CLEARED"),
            (["--mix", "0:1:1"], r'--mix: "0" is not a whole number from 1'),
            (["--medium", "cpu,gpu"], r'--medium: "gpu" is not cpu or disk'),
            (["--keys", "tgi"], r'--keys: "tgi" is not vllm, sglang or lmcache'),
            (["--tenants", "a,,b"], r"--tenants: a word of the list is empty"),
            (["--backend", ""], r"--backend"),
            (["--model", "m" * 201], r"--model: longer than 200 bytes"),
            (["--bind", "ipc://a", "--connect", "ipc://b"], r"exclude each other"),
            (["--tempo", "1"], r"unknown option --tempo"),
            (["--drop-evry=9"], r"unknown option --drop-evry, did you mean --drop-every\?"),
            (["--no-legacy=1"], r"option --no-legacy takes no value"),
            (["--tenant", "a"], r"options are not abbreviated, say --tenants"),
            (["--tenant=a"], r"options are not abbreviated, say --tenants"),
            (["-q"], r"unknown option -q"),
            (["--seed"], r"option --seed needs a value"),
            (["now"], r'unexpected argument "now"'),
        )
        for options, pattern in cases:
            with self.subTest(options):
                result = run("sim", *options)
                self.assertEqual(result.returncode, EXIT_USAGE, result.stderr)
                self.assertRegex(result.stderr, pattern)
                self.assertEqual(result.stdout, "")

    def test_help_names_every_option(self):
        result = run("sim", "--help")
        self.assertEqual((result.returncode, result.stderr), (0, ""))
        for option in ("bind", "connect", "rate", "count", "batch", "tenants", "keys", "mix",
                       "medium", "model", "block-size", "backend", "dp-rank", "seed",
                       "no-legacy", "drop-every", "restart-at", "malformed",
                       "wait-subscribers", "timestamp", "from", "stream", "speed", "loop"):
            self.assertIn(f"--{option}", result.stdout)


if __name__ == "__main__":
    unittest.main()

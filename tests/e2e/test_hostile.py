"""Whatever a publisher sends, the gateway stays up, says what it saw, and goes on."""

import re
import struct
import unittest

from support.case import GatewayCase
from support.deadline import until
from support.event import array_header, pack, pack_batch

MEGABYTE = 1 << 20


class Hostile(GatewayCase):
    config = {
        "sources": [{"name": "store", "gap_guard": False}],
        "streams": [{"name": "all", "event_id": "keep", "hwm": 100000}],
    }

    def setUp(self):
        super().setUp()
        self.before = self.gateway.source("store")

    def gained(self, *path):
        after, before = self.gateway.source("store"), self.before
        for name in path:
            after, before = after[name], before[name]
        return after - before

    def check_lost(self, payload, cause="payload"):
        """The payload costs one number between its neighbours and is counted."""
        self.publisher.put("a")
        self.publisher.send_payload(payload)
        self.publisher.put("b")
        self.subscriber.wait_story([["a"], 1, ["b"]], 60)
        self.assertEqual(self.gained("losses", cause), 1)

    def test_every_truncation_of_a_batch_is_lost(self):
        whole = pack_batch([self.publisher.stored("never")])
        self.publisher.put("a")
        for size in range(len(whole)):
            self.publisher.send_payload(whole[:size])
        self.publisher.put("b")
        self.subscriber.wait_story([["a"], len(whole), ["b"]])
        self.assertEqual(self.gained("losses", "payload"), len(whole))

    def test_an_array32_that_claims_2_to_the_32_members_takes_no_memory(self):
        event = pack(self.publisher.stored("never"))
        before = self.gateway.memory()
        self.check_lost(b"\x93\x01\xdd\xff\xff\xff\xff" + event + b"\x00")
        self.assertLess(self.gateway.memory() - before, 16 * MEGABYTE)

    def test_other_headers_that_claim_more_than_there_is(self):
        event = pack(self.publisher.stored("never"))
        claims = {
            "a payload of 2^32 members": b"\xdd\xff\xff\xff\xff" + event,
            "a map of 2^32 pairs": b"\x93\x01\x91\xdf\xff\xff\xff\xff" + event[3:] + b"\x00",
            "a text of 4 GiB": b"\x93\x01\x91\x81\xdb\xff\xff\xff\xff" + event,
            "a bin of 4 GiB": b"\x93\x01\x91\x81\xa1a\xc6\xff\xff\xff\xff" + event,
            "an extension of 4 GiB": b"\x93\x01\x91\x81\xa1a\xc9\xff\xff\xff\xff\x01" + event,
            "a text of 65535 bytes": b"\x93\x01\x91\x81\xa1a\xda\xff\xff" + event,
        }
        for name, payload in claims.items():
            with self.subTest(name):
                self.settle()
                self.before = self.gateway.source("store")
                self.check_lost(payload)

    def test_nesting_without_end_does_not_reach_the_end_of_the_stack(self):
        nested = b"\x91" * 1_000_000 + b"\xc0"
        event = b"\x82\xaaevent_type\xa6stored\xa1x" + nested
        self.check_lost(b"\x93\x01\x91" + event + b"\x00")

    def test_a_map_of_a_million_keys_is_an_event_like_another(self):
        keys = b"".join(b"\xa7" + b"%07d" % index + b"\xc0" for index in range(1_000_000))
        event = b"\xdf" + struct.pack(">I", 1_000_002) + pack("event_type") + pack("stored") + \
            pack("object_key") + pack("million") + keys
        self.publisher.put("a")
        payload = b"\x93" + pack(self.publisher.timestamp) + b"\x91" + event + b"\x00"
        self.publisher.send_payload(payload)
        self.publisher.put("b")
        self.subscriber.wait_story([["a"], ["million"], ["b"]], 60)
        self.assertEqual(self.subscriber.messages[1].payload, payload)

    def test_a_map_of_a_million_keys_and_no_type_loses_one_event(self):
        keys = b"".join(b"\xa7" + b"%07d" % index + b"\xc0" for index in range(1_000_000))
        event = b"\xdf" + struct.pack(">I", 1_000_000) + keys
        self.check_lost(pack_batch([event]), "event")

    def test_a_valid_payload_of_64_mib_arrives_whole(self):
        """140 000 events, each cheap to make: one packed event, its id replaced."""
        self.publisher.put("a")
        marker = 0xfedcba9876543210
        event = self.publisher.stored("big")
        event["event_id"] = marker
        head, tail = pack(event).split(struct.pack(">Q", marker))
        size = len(head) + 8 + len(tail)
        count = 64 * MEGABYTE // size + 1
        first = self.publisher.next_id
        self.publisher.next_id += count
        body = tail.join(head + struct.pack(">Q", first + index) for index in range(count)) + tail
        payload = b"\x93" + pack(self.publisher.timestamp) + array_header(count) + body + b"\x00"
        self.assertGreaterEqual(len(payload), 64 * MEGABYTE)
        self.publisher.send_payload(payload)
        self.publisher.put("b")
        seen = Count(self.subscriber)
        seen.wait_label("b")
        self.assertEqual(seen.events, count + 2)
        self.assertEqual(seen.holes, 0)
        self.assertLessEqual(seen.most, 64)
        self.assertEqual(self.gained("events"), count + 2)

    def test_an_invalid_payload_of_64_mib_costs_one_number(self):
        self.check_lost(b"\x93\x01\xdb\x03\xff\xff\xff" + b"x" * (64 * MEGABYTE))

    def test_an_event_of_more_than_64_mib_is_lost_and_its_neighbours_are_not(self):
        """More than a message of ours may hold: the stream's loss, for the source's is none."""
        before = self.gateway.stream("all")["losses"]["size"]
        self.publisher.send(self.publisher.stored("a"),
                            self.publisher.stored("k" * (64 * MEGABYTE)),
                            self.publisher.stored("b"))
        self.subscriber.wait_story([["a"], 1, ["b"]], 60)
        self.assertEqual(self.gateway.stream("all")["losses"]["size"], before + 1)

    def test_frames_by_the_thousand_are_one_message(self):
        self.publisher.put("a")
        self.publisher.send_frames(*[b"frame"] * 1000)
        self.publisher.put("b")
        self.subscriber.wait_story([["a"], 1, ["b"]])
        self.assertEqual(self.gained("losses", "frames"), 1)

    def test_what_a_peer_sends_cannot_forge_a_log_line(self):
        self.publisher.send_payload(b"\n2000-01-01T00:00:00.000Z error forged\n")
        self.publisher.put("a")
        self.subscriber.wait_label("a")
        self.assertIsNone(self.gateway.find_log(r"^2000-01-01"))


class Count:
    """Counts messages without decoding them all: 2 000 messages of 30 kB."""

    def __init__(self, subscriber):
        self.subscriber = subscriber
        self.events = self.holes = self.most = 0
        self.number = subscriber.base

    def wait_label(self, wanted):
        subscriber = self.subscriber

        def look():
            for message in subscriber.messages:
                self.holes += message.number - self.number - 1
                self.number = message.number
                self.events += len(message.events)
                self.most = max(self.most, len(message.events))
                if message.events[-1]["object_key"] == wanted:
                    return True
                subscriber.base = message.number
            subscriber.messages.clear()
            return False
        subscriber.wait(look, f"an event {wanted!r}", 60)


class Flood(GatewayCase):
    config = {
        "sources": [{"name": "store", "gap_guard": False, "hwm": 100000}],
        "streams": [{"name": "all"}],
    }

    def test_a_flood_of_malformed_messages_is_logged_in_a_few_lines_with_counts(self):
        count = 5000
        start = len(self.gateway.log)
        before = self.gateway.source("store")["losses"]["payload"]
        self.publisher.put("a")
        for _ in range(count):
            self.publisher.send_payload(b"\xc1")
        self.publisher.put("b")
        self.subscriber.wait_story([["a"], count, ["b"]])
        self.assertEqual(self.gateway.source("store")["losses"]["payload"] - before, count)
        self.assertLess(len(self.gateway.log) - start, 100)
        written = sum(1 for line in self.gateway.log[start:]
                      if re.search(r'source "store": message lost: number \d+: not msgpack', line))
        self.assertGreaterEqual(written, 1, "the first are told in full")

        def told():
            lines = [re.search(r"(\d+) .*payload losses of source", line) or
                     re.search(r"payload losses of source.*?(\d+)", line)
                     for line in self.gateway.log[start:]]
            return sum(int(found.group(1)) for found in lines if found)
        until(lambda: told() + written == count, lambda: f"{count} messages accounted for, "
              f"{written} were written and {told()} told of in:\n{self.gateway.text()[-3000:]}", 40)


if __name__ == "__main__":
    unittest.main()

"""A batch that nobody touched goes out byte for byte, whatever its bytes are."""

import struct
import unittest

import msgpack

from support.case import GatewayCase
from support.event import (TIMESTAMP, generation_a, generation_b, golden, pack, pack_batch,
                           unpack)

LOOK = """
-- Read every known field, change nothing.
return function()
  return function(event)
    local _ = event.event_id, event.timestamp, event.object_key, event.seq_hashes
    _ = event.parent_hash, event.token_ids, event.tenant_id, event.model_name
    return event
  end
end
"""

TOUCH = """
return function()
  return function(event)
    if event.tenant_id ~= nil then event.backend_id = "touched" end
    return event
  end
end
"""


class Untouched(GatewayCase):
    """A stream without filters, and one whose filter reads but does not write."""

    config = {
        "sources": [{"name": "store", "gap_guard": False}],
        "streams": [
            {"name": "plain", "event_id": "keep"},
            {"name": "looked", "event_id": "keep", "filters": [{"script": "look.lua"}]},
            {"name": "touched", "event_id": "keep", "filters": [{"script": "touch.lua"}]},
        ],
    }
    scripts = {"look.lua": LOOK, "touch.lua": TOUCH}

    def pass_through(self, payload):
        """Send it, return what came of it on each stream."""
        self.publisher.send_payload(payload)
        seen = {}
        for name, subscriber in self.subscribers.items():
            subscriber.wait(lambda s=subscriber: s.messages, f"a message on {name}")
            seen[name] = subscriber.messages[-1]
            self.assertEqual([width for _, width in subscriber.gaps()][1:], [])
        return seen

    def check(self, payload):
        seen = self.pass_through(payload)
        self.assertEqual(seen["plain"].payload.hex(), payload.hex())
        self.assertEqual(seen["looked"].payload.hex(), payload.hex())
        self.check_touched(payload, seen["touched"].payload)

    def check_touched(self, before, after):
        """An edit replaces the one field that it names: a reader sees all others as before."""
        expected = unpack(before)
        for event in expected[1]:
            if event.get("tenant_id") is not None:
                event["backend_id"] = "touched"
        self.assertEqual(repr(unpack(after)), repr(expected))

    def test_the_golden_messages_of_every_publisher_generation(self):
        messages = golden()
        self.assertEqual(sorted(messages), ["A1", "A2", "C1", "C2", "C3", "C4", "C5", "C7"])
        for name, payload in messages.items():
            with self.subTest(name):
                self.settle()
                self.check(payload)

    def test_generation_a_with_its_own_field_order(self):
        self.check(pack_batch([
            generation_a("stored", 5000, "0x2a", [42]),
            generation_a("stored", 5001, "18446744073709551615", [2**64 - 1]),
            generation_a("removed", 5002, "x", legacy=False),
        ]))

    def test_generation_b_with_the_fields_of_parsed_keys(self):
        key = "deployment-a@model-a@tp_rank:2@pcp1@dcp0@pp_rank:3@group:4@0123456789abcdef" \
            "000000000000002a"
        parsed = {"connector_block_hash": key[-32:], "cache_prefix": "deployment-a", "tp_rank": 2,
                  "pcp_rank": 1, "dcp_rank": 0, "pp_rank": 3, "group_id": "4", "seq_hash": 42}
        self.check(pack_batch([generation_b("stored", 6000, key, parsed),
                               generation_b("removed", 6001, key, parsed, legacy=False)]))

    def check_event(self, **fields):
        event = self.publisher.stored("bytes")
        event.update(fields)
        self.check(pack_batch([event]))

    def test_64_bit_values_are_exact(self):
        self.check_event(parent_hash=2**64 - 1, seq_hashes=[0, 2**53 + 1, 2**63, 2**64 - 1],
                         block_hashes=[-1, -(2**63), 2**63 - 1], base_block_idx=2**32)

    def test_nil_and_empty_and_absent_are_three_things(self):
        event = self.publisher.stored("bytes", legacy=False)
        event.update(token_ids=[], parent_hash=None, seq_hashes=None)
        del event["base_block_idx"]
        self.check(pack_batch([event]))

    def test_bin_and_str_are_two_things(self):
        self.check_event(seq_hashes=[b"\x00\xff" * 16], object_key=b"binary", group_id="text")

    def test_floats_and_booleans_survive(self):
        self.check_event(timestamp=TIMESTAMP, block_size=16.5, lora_name=True, extra=-0.0,
                         infinite=float("inf"))

    def test_float32_survives(self):
        event = self.publisher.stored("bytes")
        packed = pack(event)
        self.check(pack_batch([bytes([0xde, 0, len(event) + 1]) + packed[3:] +
                               pack("ratio") + b"\xca" + struct.pack(">f", 0.1)]))

    def test_unknown_fields_survive_in_their_order(self):
        event = {"zebra": 1, **self.publisher.stored("bytes"), "nested": {"a": [1, {"b": None}]},
                 "": "empty name", "extension": msgpack.ExtType(5, b"data")}
        self.check(pack_batch([event]))

    def test_text_that_is_not_utf_8_survives(self):
        self.check_event(object_key=b"\xff\xfe\x80key".decode("utf-8", "surrogateescape"),
                         tenant_id=b"t\xc3".decode("utf-8", "surrogateescape"))

    def test_a_nil_rank_survives(self):
        self.check(pack_batch([self.publisher.stored("bytes", dp_rank=None)], rank=None))

    def test_a_rank_and_a_time_below_zero_survive(self):
        self.check(pack_batch([self.publisher.stored("bytes")], timestamp=-5, rank=-1))

    def test_the_highest_time_and_rank_survive(self):
        self.check(pack_batch([self.publisher.stored("bytes")], timestamp=2**64 - 1,
                              rank=2**64 - 1))

    def test_wider_integers_than_needed_survive(self):
        event = pack(self.publisher.stored("bytes"))
        wide = event.replace(pack("dp_rank") + b"\x00",
                             pack("dp_rank") + b"\xcf" + b"\0" * 8)
        self.assertNotEqual(wide, event)
        # The rank at the end, too: uint64, and the time as int64.
        payload = b"\x93\xd3" + TIMESTAMP.to_bytes(8, "big") + b"\xdd\0\0\0\x01" + wide + \
            b"\xcd\0\0"
        self.check(payload)

    def test_wider_strings_and_maps_than_needed_survive(self):
        event = self.publisher.stored("bytes")
        packed = pack(event).replace(pack("object_key"), b"\xda\0\x0aobject_key")
        packed = b"\xdf\0\0" + packed[1:3] + packed[3:]
        self.check(pack_batch([packed]))

    def test_an_event_of_64_fields_and_a_deep_value_survive(self):
        deep = 1
        for _ in range(100):
            deep = [deep]
        event = self.publisher.stored("bytes", **{})
        event.update({f"field-{index}": index for index in range(44)}, deep=deep)
        self.check(pack_batch([event]))

    def test_64_events_survive_as_one_message(self):
        events = [self.publisher.stored(f"key-{index}") for index in range(64)]
        self.check(pack_batch(events))

    def test_an_event_type_that_nobody_knows_survives(self):
        event = {"event_type": "moved", "event_id": self.publisher.next_id, "to": "nvme"}
        self.publisher.next_id += 1
        self.check(pack_batch([event]))

    def test_a_legacy_type_alone_is_a_type(self):
        event = {"type": "BlockStored", "object_key": "bytes"}
        self.check(pack_batch([event]))


if __name__ == "__main__":
    unittest.main()

"""The closed list of losses (point 5): each leaves its hole, in its place, and its count."""

import unittest

from support.case import GatewayCase
from support.event import pack, pack_batch

FAIL_BY_KEY = """
return function()
  return function(event)
    local key = event.object_key or ""
    if key:find "raise" then
      error "as it was told"
    elseif key:find "nothing" then
      return nil
    elseif key:find "number" then
      return 42
    elseif key:find "nowhere" then
      return "no-such-stream"
    end
    return true
  end
end
"""


class Messages(GatewayCase):
    config = {
        "sources": [{"name": "store", "gap_guard": False}],
        "streams": [{"name": "all"}, {"name": "acme", "accept": {"tenant_id": ["acme"]}}],
    }

    def setUp(self):
        super().setUp()
        self.acme = self.subscribers["acme"]
        self.before = self.gateway.metrics()

    def lost(self, cause, stream="all"):
        name = f'kvgate_stream_losses_total{{stream="{stream}",cause="{cause}"}}'
        return self.gateway.metrics()[name] - self.before[name]

    def check_one_loss(self, cause, lose):
        """`lose()` costs one number on both streams, whatever they accept, and nothing else."""
        self.publisher.put("a", tenant_id="acme")
        lose()
        self.publisher.put("b", tenant_id="acme")
        self.subscriber.wait_story([["a"], 1, ["b"]])
        self.acme.wait_story([["a"], 1, ["b"]])
        self.assertEqual(self.lost(cause), 1)
        self.assertEqual(self.lost(cause, "acme"), 1)

    def test_missing_numbers_are_a_loss(self):
        self.check_one_loss("gap", self.publisher.skip)

    def test_a_message_of_two_frames_is_a_loss(self):
        self.check_one_loss("frames", lambda: self.publisher.send_frames(b"", b"\0" * 8))

    def test_a_message_of_one_frame_is_a_loss(self):
        self.check_one_loss("frames", lambda: self.publisher.send_frames(b"alone"))

    def test_a_message_of_four_frames_is_a_loss(self):
        payload = pack_batch([self.publisher.stored("never", tenant_id="acme")])
        number = self.publisher.next.to_bytes(8, "big")
        self.check_one_loss("frames", lambda: self.publisher.send_frames(
            b"", number, payload, b"extra"))

    def test_a_sequence_frame_of_seven_bytes_is_a_loss(self):
        payload = pack_batch([self.publisher.stored("never", tenant_id="acme")])
        self.check_one_loss("sequence", lambda: self.publisher.send_frames(
            b"", b"\0" * 7, payload))

    def test_a_sequence_frame_of_nine_bytes_is_a_loss(self):
        payload = pack_batch([self.publisher.stored("never", tenant_id="acme")])
        self.check_one_loss("sequence", lambda: self.publisher.send_frames(
            b"", b"\0" * 9, payload))

    def test_a_payload_that_is_no_batch_is_a_loss(self):
        event = pack(self.publisher.stored("never", tenant_id="acme"))
        whole = b"\x93\x01\x91" + event + b"\x00"
        payloads = {
            "empty": b"",
            "no msgpack": b"\xc1",
            "cut short": whole[:-40],
            "trailing bytes": whole + b"\x00",
            "a map": pack({"events": []}),
            "two members": b"\x92\x01\x91" + event,
            "four members": b"\x94\x01\x91" + event + b"\x00\x00",
            "a time that is text": b"\x93\xa1x\x91" + event + b"\x00",
            "events that are no array": b"\x93\x01" + event + b"\x00",
            "a rank that is text": b"\x93\x01\x91" + event + b"\xa1x",
        }
        for name, payload in payloads.items():
            with self.subTest(name):
                self.settle()
                self.before = self.gateway.metrics()
                self.check_one_loss("payload", lambda p=payload: self.publisher.send_payload(p))

    def test_a_batch_with_a_gap_before_it_and_no_payload_loses_both(self):
        self.publisher.put("a", tenant_id="acme")
        self.publisher.skip(3)
        self.publisher.send_payload(b"\xc1")
        self.publisher.put("b", tenant_id="acme")
        self.subscriber.wait_story([["a"], 4, ["b"]])
        self.assertEqual((self.lost("gap"), self.lost("payload")), (1, 1))

    def test_a_malformed_event_loses_only_itself_and_its_hole_is_between_its_neighbours(self):
        typed = b"\xaaevent_type\xa6stored"
        malformed = {
            "no map": pack("event"),
            "nil": b"\xc0",
            "an array": pack(["stored", 1]),
            "a key that is no text": b"\x82" + typed + b"\x01\x02",
            "a field twice": b"\x83" + typed + b"\xa9tenant_id\xa1a\xa9tenant_id\xa1b",
            "no type": pack({"tenant_id": "acme"}),
            "a type that is no text": pack({"event_type": 7}),
            "an event_id that is text": pack({"event_type": "stored", "event_id": "7"}),
            "an event_id below 0": pack({"event_type": "stored", "event_id": -1}),
        }
        for name, event in malformed.items():
            with self.subTest(name):
                self.settle()
                self.before = self.gateway.metrics()
                head = [pack(self.publisher.stored(key, tenant_id="acme")) for key in "ab"]
                tail = [pack(self.publisher.stored("c", tenant_id="acme"))]
                self.publisher.send_payload(pack_batch(head + [event] + tail))
                self.subscriber.wait_story([["a", "b"], 1, ["c"]])
                self.acme.wait_story([["a", "b"], 1, ["c"]])
                self.assertEqual(self.lost("event"), 1)

    def test_malformed_events_at_both_ends_and_in_a_row_keep_their_places(self):
        self.publisher.put("first")
        events = [pack(self.publisher.stored(key)) for key in "ab"]
        self.publisher.send_payload(pack_batch([b"\x01", events[0], b"\x02", b"\x03", events[1],
                                                b"\x04"]))
        self.publisher.put("last")
        self.subscriber.wait_story([["first"], 1, ["a"], 2, ["b"], 1, ["last"]])

    def test_a_batch_of_nothing_but_malformed_events_sends_no_message_of_its_own(self):
        self.publisher.put("a")
        self.publisher.send_payload(pack_batch([b"\x01"] * 5))
        self.publisher.put("b")
        self.subscriber.wait_story([["a"], 5, ["b"]])

    def test_a_malformed_event_beyond_the_64th_keeps_its_place(self):
        events = [pack(self.publisher.stored(f"k{index}")) for index in range(150)]
        events[100] = b"\xc0"
        self.publisher.send_payload(pack_batch(events))
        self.subscriber.wait_label("k149")
        place = 0
        for entry in self.subscriber.story():
            if isinstance(entry, int):
                self.assertEqual((entry, place), (1, 100))
                break
            place += len(entry)
        self.assertEqual(len(self.subscriber.labels()), 149)
        self.assertEqual([width for _, width in self.subscriber.gaps()], [1])


class Filters(GatewayCase):
    config = {
        "sources": [{"name": "store", "gap_guard": False}],
        "filters": [{"script": "fail_by_key.lua"}],
        "streams": [
            {"name": "all"},
            {"name": "acme", "accept": {"tenant_id": ["acme"]}},
        ],
    }
    scripts = {"fail_by_key.lua": FAIL_BY_KEY}

    def check(self, key, log):
        before = self.gateway.metrics()
        self.publisher.put("a", "b", key, "c", tenant_id="acme")
        for subscriber in self.subscribers.values():
            subscriber.wait_story([["a", "b"], 1, ["c"]])
        line = self.gateway.wait_log(r"filter fail_by_key\.lua: .*is lost", self.log_start)
        self.assertRegex(line.string, log)
        after = self.gateway.metrics()
        for stream in self.subscribers:
            name = f'kvgate_stream_losses_total{{stream="{stream}",cause="filter"}}'
            self.assertEqual(after[name] - before[name], 1)

    def test_a_filter_that_raises_on_one_event_loses_that_event_only(self):
        self.check("raise", r"fail_by_key\.lua:6: as it was told")

    def test_a_filter_that_returns_nothing_loses_the_event(self):
        self.check("nothing", r"nil")

    def test_a_filter_that_returns_a_number_loses_the_event(self):
        self.check("number", r"number|42")

    def test_a_filter_that_names_an_unknown_stream_loses_the_event(self):
        self.check("nowhere", r"no-such-stream")

    def test_failures_at_both_ends_of_a_batch_keep_their_places(self):
        self.publisher.put("raise", "a", "nothing", "number", "b", "nowhere")
        self.publisher.put("c")
        self.subscriber.wait_story([1, ["a"], 2, ["b"], 1, ["c"]])

    def test_malformed_and_failed_events_are_seen_in_order(self):
        events = [pack(self.publisher.stored(key)) for key in ("a", "raise", "b")]
        self.publisher.send_payload(pack_batch([events[0], b"\x01", events[1], events[2]]))
        self.subscriber.wait_story([["a"], 2, ["b"]])


class StreamFilters(GatewayCase):
    """What goes wrong on the way to one stream is that stream's loss."""

    config = {
        "sources": [{"name": "store", "gap_guard": False}],
        "streams": [
            {"name": "plain"},
            {"name": "fails", "filters": [{"script": "fail_by_key.lua"}]},
            {"name": "swells", "filters": [{"script": "swell.lua"}]},
        ],
    }
    scripts = {
        "fail_by_key.lua": FAIL_BY_KEY,
        "swell.lua": """
            return function()
              return function(event)
                if event.object_key == "swell" then
                  event.backend_id = ("x"):rep(40000000)
                  event.group_id = ("y"):rep(40000000)
                end
                return true
              end
            end
        """,
    }

    def test_a_filter_of_one_stream_loses_on_that_stream_only(self):
        self.publisher.put("a", "raise", "b")
        self.publisher.put("nothing")
        self.publisher.put("c")
        self.subscribers["fails"].wait_story([["a"], 1, ["b"], 1, ["c"]])
        self.subscribers["plain"].wait_story([["a", "raise", "b"], ["nothing"], ["c"]])

    def test_an_event_that_does_not_fit_is_lost_on_its_stream_only(self):
        self.publisher.put("a", "swell", "b")
        self.subscribers["swells"].wait_story([["a"], 1, ["b"]])
        self.subscribers["plain"].wait_story([["a", "swell", "b"]])
        self.subscribers["fails"].wait_story([["a", "swell", "b"]])


if __name__ == "__main__":
    unittest.main()

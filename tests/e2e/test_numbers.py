"""Every stream numbers its own messages, and only a loss leaves a hole (points 1 to 4)."""

import unittest

from support.case import GatewayCase
from support.deadline import until
from support.event import pack_batch
from support.gateway import Gateway
from support.publisher import Publisher

DROP_BY_KEY = """
return function()
  return function(event)
    local key = event.object_key
    return key == nil or key:sub(1, 4) ~= "drop"
  end
end
"""


class FreshGateway(GatewayCase):
    def setUp(self):
        pass  # this class looks at the first messages ever: no probes in between

    @classmethod
    def warm_up(cls):
        super().warm_up()
        cls.sent_before = cls.publishers["store"].next - 1

    def test_numbers_start_at_1_and_rise_by_one(self):
        publisher, subscriber = self.publishers["store"], self.subscribers["all"]
        for index in range(5):
            publisher.put(f"key-{index}")
        subscriber.wait_label("key-4")
        # Nothing was lost or merged, so if the first ever was 1, number n is message n.
        numbers = [message.number for message in subscriber.messages]
        self.assertEqual(numbers[-5:], list(range(self.sent_before + 1, self.sent_before + 6)))
        self.assertEqual(subscriber.gaps()[1:], [])
        stream = self.gateway.stream("all")
        self.assertEqual(stream["last_sequence"], self.sent_before + 5)
        self.assertEqual(stream["reserved_numbers"], 0)


class Filtered(GatewayCase):
    config = {
        "sources": [{"name": "store"}],
        "filters": [{"script": "drop_by_key.lua"}],
        "streams": [{"name": "all"}],
    }
    scripts = {"drop_by_key.lua": DROP_BY_KEY}

    def test_a_filtered_event_leaves_no_gap(self):
        self.publisher.put("a", "drop-1", "b")
        self.publisher.put("c", "drop-2")
        self.publisher.put("drop-3", "d")
        self.subscriber.wait_story([["a", "b"], ["c"], ["d"]])

    def test_a_batch_that_is_filtered_whole_sends_no_message_and_takes_no_number(self):
        before = self.gateway.stream("all")["last_sequence"]
        self.publisher.put("a")
        for index in range(20):
            self.publisher.put(f"drop-{index}", "drop-it-too")
        self.publisher.put("b")
        self.subscriber.wait_story([["a"], ["b"]])
        self.assertEqual(self.gateway.stream("all")["last_sequence"], before + 2)

    def test_an_empty_batch_sends_no_message_and_takes_no_number(self):
        self.publisher.put("a")
        self.publisher.send()
        self.publisher.put("b")
        self.subscriber.wait_story([["a"], ["b"]])


class Reach(GatewayCase):
    config = {
        "sources": [{"name": "left", "gap_guard": False}, {"name": "right", "gap_guard": False}],
        "streams": [
            {"name": "both"},
            {"name": "only-left", "sources": ["left"]},
            {"name": "only-right", "sources": ["right"]},
            {"name": "narrow", "sources": ["left"], "accept": {"tenant_id": ["acme"]}},
        ],
    }

    def setUp(self):
        super().setUp()
        self.left, self.right = self.publishers["left"], self.publishers["right"]

    def expect(self, **stories):
        for name, story in stories.items():
            with self.subTest(stream=name):
                self.subscribers[name.replace("_", "-")].wait_story(story)

    def test_n_numbers_missing_upstream_reserve_n_on_every_reached_stream_and_no_other(self):
        self.left.put("a", tenant_id="acme")
        self.both_saw("a")
        self.left.skip(7)
        self.left.put("b", tenant_id="acme")
        self.both_saw("b")
        self.right.put("c")
        self.expect(both=[["a"], 7, ["b"], ["c"]], only_left=[["a"], 7, ["b"]],
                    narrow=[["a"], 7, ["b"]], only_right=[["c"]])

    def both_saw(self, key):
        """Order between two sources is theirs alone: make it ours."""
        self.subscribers["both"].wait_label(key)

    def test_a_loss_reaches_a_stream_that_never_got_an_event_of_that_source(self):
        self.left.skip(2)
        self.left.put("other", tenant_id="umbrella")
        self.left.put("mine", tenant_id="acme")
        self.expect(narrow=[2, ["mine"]], only_left=[2, ["other"], ["mine"]])

    def test_each_source_has_a_tracker_of_its_own(self):
        for index in range(4):
            (self.left if index % 2 else self.right).put(f"key-{index}")
            self.both_saw(f"key-{index}")
        self.right.skip()
        self.right.put("behind")
        self.expect(both=[["key-0"], ["key-1"], ["key-2"], ["key-3"], 1, ["behind"]],
                    only_left=[["key-1"], ["key-3"]],
                    only_right=[["key-0"], ["key-2"], 1, ["behind"]])


class Width(GatewayCase):
    config = {
        "sources": [{"name": "store", "gap_guard": False}],
        "streams": [{"name": "all"}],
    }

    def test_a_loss_reserves_at_most_2_to_the_20_numbers(self):
        self.publisher.skip((1 << 20) + 5)
        self.publisher.put("a")
        self.publisher.skip(1 << 20)
        self.publisher.put("b")
        self.publisher.skip((1 << 20) - 1)
        self.publisher.put("c")
        self.subscriber.wait_story([1 << 20, ["a"], 1 << 20, ["b"], (1 << 20) - 1, ["c"]])
        source = self.gateway.source("store")
        self.assertGreaterEqual(source["missing_numbers"], 3 * (1 << 20) + 4)

    def test_the_highest_numbers_of_64_bits_are_numbers_like_others(self):
        self.publisher.next = (1 << 64) - 2
        self.publisher.put("a")
        self.publisher.put("b")
        self.subscriber.wait_story([1 << 20, ["a"], ["b"]])
        self.publisher.restart()
        self.publisher.put("c")
        self.subscriber.wait_story([1 << 20, ["a"], ["b"], 1, ["c"]])

    def test_the_hole_lies_between_what_came_before_and_what_came_after(self):
        # One time for all: nothing but the loss may close the open message.
        batches = [pack_batch([self.publisher.stored(key)], self.publisher.timestamp)
                   for key in "abcd"]
        self.publisher.send_payload(batches[0])
        self.publisher.send_payload(batches[1])
        self.publisher.skip()
        self.publisher.send_payload(batches[2])
        self.publisher.send_payload(batches[3])
        self.subscriber.wait_label("d")
        told = self.subscriber.story()
        flat = [part for entry in told
                for part in (entry if isinstance(entry, list) else [entry])]
        self.assertEqual(flat, ["a", "b", 1, "c", "d"])

    def test_the_first_message_of_a_source_breaks_no_continuity_whatever_its_number(self):
        # The class's own first message had number 1; a second gateway meets number 1000.
        gateway = Gateway({"sources": [{"name": "late"}], "streams": [{"name": "all"}]})
        self.addCleanup(gateway.directory.remove)
        self.addCleanup(gateway.kill)
        publisher = self.open(Publisher(gateway.config["sources"][0]["connect"]))
        gateway.start()
        publisher.wait_subscribed()
        publisher.skip(999)
        publisher.put("a")
        until(lambda: gateway.stream("all")["last_sequence"], "a first message")
        self.assertEqual(gateway.stream("all")["last_sequence"], 1)
        self.assertEqual(gateway.stream("all")["reserved_numbers"], 0)
        self.assertEqual(gateway.source("late")["gaps"], 0)
        gateway.stop()


if __name__ == "__main__":
    unittest.main()

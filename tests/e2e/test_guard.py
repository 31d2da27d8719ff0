"""A hole may show one batch early (point 7), and one that nothing follows is told (point 8)."""

import time
import unittest

from support.case import GatewayCase
from support.subscriber import Subscriber


class Guard(GatewayCase):
    config = {
        "sources": [{"name": "store"}],
        "streams": [{"name": "all"}],
    }

    def test_a_gap_is_marked_again_behind_the_first_batch_that_follows_it(self):
        self.publisher.put("a")
        self.publisher.skip()
        self.publisher.put("b")
        self.publisher.put("c")
        self.publisher.put("d")
        self.subscriber.wait_story([["a"], 1, ["b"], 1, ["c"], ["d"]])

    def test_the_second_mark_is_one_number_however_wide_the_gap_was(self):
        self.publisher.skip(9)
        self.publisher.put("a")
        self.publisher.put("b")
        self.subscriber.wait_story([9, ["a"], 1, ["b"]])

    def test_a_new_gap_stands_for_the_second_mark(self):
        self.publisher.skip()
        self.publisher.put("a")
        self.publisher.skip(2)
        self.publisher.put("b")
        self.publisher.put("c")
        self.subscriber.wait_story([1, ["a"], 2, ["b"], 1, ["c"]])

    def test_a_restart_at_1_stands_for_the_second_mark_and_owes_none(self):
        self.publisher.skip()
        self.publisher.put("a")
        self.publisher.next = self.publisher.next_id = 1
        self.publisher.put("b")
        self.publisher.put("c")
        self.subscriber.wait_story([1, ["a"], 1, ["b"], ["c"]])

    def test_a_restart_past_1_left_numbers_out_and_is_marked_again_as_a_gap_is(self):
        self.publisher.put("a")
        self.publisher.next, self.publisher.next_id = 2, 1
        self.publisher.put("b")
        self.publisher.put("c")
        self.publisher.put("d")
        self.subscriber.wait_story([["a"], 1, ["b"], 1, ["c"], ["d"]])

    def test_the_second_mark_lies_behind_all_of_the_first_batch(self):
        self.publisher.skip()
        self.publisher.put(*[f"k{index}" for index in range(100)])
        self.publisher.put("behind")
        self.subscriber.wait_label("behind")
        self.assertEqual(self.subscriber.labels()[-2:], ["k99", "behind"])
        told = self.subscriber.story()
        self.assertEqual((told[0], told[-2:]), (1, [1, ["behind"]]))
        self.assertEqual([part for part in told if isinstance(part, int)], [1, 1])


class GuardAlone(GatewayCase):
    config = {
        "sources": [{"name": "store"}],
        "streams": [{"name": "all", "announce_after": "50ms"}],
    }

    def test_the_second_mark_does_not_wait_for_ever_for_a_batch_that_follows(self):
        self.publisher.skip()
        self.publisher.put("a")
        self.subscriber.wait(lambda: self.subscriber.messages and
                             not self.subscriber.messages[-1].events, "an announcement")
        self.assertEqual(self.subscriber.story(), [1, ["a"], 1, []])


class NoGuard(GatewayCase):
    config = {
        "sources": [{"name": "store", "gap_guard": False}],
        "streams": [{"name": "all"}],
    }

    def test_without_gap_guard_a_gap_is_marked_once(self):
        self.publisher.put("a")
        self.publisher.skip()
        self.publisher.put("b")
        self.publisher.put("c")
        self.subscriber.wait_story([["a"], 1, ["b"], ["c"]])


class Announcement(GatewayCase):
    config = {
        "sources": [{"name": "store", "gap_guard": False}],
        "streams": [
            {"name": "default", "announce_after": None},
            {"name": "soon", "announce_after": "50ms"},
            {"name": "late"},
        ],
    }

    def lose(self):
        """A loss that no message follows."""
        self.publisher.send_frames(b"alone")

    def test_a_gap_that_nothing_follows_is_announced_by_an_empty_batch(self):
        self.publisher.rank = 3
        self.addCleanup(setattr, self.publisher, "rank", 0)
        self.publisher.put("a")
        before = self.gateway.stream("default")["announcements"]
        self.lose()
        for name in ("default", "soon"):
            message = self.subscribers[name].wait(
                lambda n=name: len(self.subscribers[n].messages) >= 2, "an announcement")[-1]
            self.assertEqual(self.subscribers[name].story(), [["a"], 1, []])
            self.assertEqual(message.events, [])
            self.assertEqual(message.rank, 3, "the rank of the message before")
            self.assertIsInstance(message.timestamp, int)
            self.assertEqual(message.topic, b"")
        self.assertEqual(self.gateway.stream("default")["announcements"], before + 1)

    def test_a_gap_is_announced_once(self):
        self.lose()
        self.subscribers["default"].wait_story([1, []])
        self.publisher.put("a")
        self.publisher.put("b")
        for name in ("default", "soon"):
            self.subscribers[name].wait_story([1, [], ["a"], ["b"]])
        self.subscribers["late"].wait_story([1, ["a"], ["b"]])

    def test_an_announcement_waits_for_announce_after_and_no_longer(self):
        began = int(time.time() * 1000)
        self.lose()
        for name in ("soon", "default"):
            self.subscribers[name].wait_story([1, []])
        waited = {name: self.subscribers[name].messages[0].timestamp - began
                  for name in ("soon", "default")}
        # The gateway's clock ticks every few milliseconds.
        self.assertGreater(waited["soon"], 50 - 15)
        self.assertGreater(waited["default"], 1000 - 15)
        self.assertLess(waited["soon"], waited["default"])
        self.subscribers["late"].pump()
        self.assertEqual(self.subscribers["late"].story(), [])

    def test_a_message_that_follows_in_time_is_all_the_announcement_there_is(self):
        before = self.gateway.stream("late")["announcements"]
        self.lose()
        self.publisher.put("a")
        for name in self.subscribers:
            self.subscribers[name].wait_label("a")
        self.subscribers["late"].wait_story([1, ["a"]])
        self.assertEqual(self.gateway.stream("late")["announcements"], before)


class Heartbeat(GatewayCase):
    config = {
        "sources": [{"name": "store"}],
        "streams": [{"name": "beats", "heartbeat": "100ms"}, {"name": "silent"}],
    }

    def test_an_idle_stream_sends_an_empty_batch_every_heartbeat(self):
        beats, silent = self.subscribers["beats"], self.subscribers["silent"]
        beats.wait(lambda: len(beats.messages) >= 4, "four heartbeats")
        self.assertEqual(beats.gaps(), [])
        self.assertEqual(beats.events(), [])
        self.publisher.put("a")
        silent.wait_story([["a"]])
        beats.wait_label("a")
        self.assertEqual(beats.gaps(), [], "a heartbeat takes a number of its own")
        self.assertGreaterEqual(self.gateway.stream("beats")["heartbeats"], 4)
        self.assertEqual(self.gateway.stream("silent")["heartbeats"], 0)

    def test_a_subscriber_that_lost_the_last_message_finds_out_by_a_heartbeat(self):
        """The subscriber's own loss: it was away while "lost" was sent."""
        endpoint = self.gateway.config["streams"][0]["bind"]
        beats = self.subscribers["beats"]
        self.publisher.put("lost")
        beats.wait_label("lost")
        number = next(message.number for message in beats.messages if message.events)
        late = self.open(Subscriber(endpoint))
        late.wait(lambda: late.messages, "a heartbeat")
        self.assertEqual(late.messages[0].events, [])
        self.assertGreater(late.messages[0].number, number)


if __name__ == "__main__":
    unittest.main()

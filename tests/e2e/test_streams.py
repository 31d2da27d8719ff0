"""Streams: what they accept, how they number events, what a message of theirs is."""

import itertools
import signal
import time
import unittest

from support.case import GatewayCase
from support.deadline import SLOWNESS, until
from support.gateway import Directory, Gateway
from support.publisher import Publisher
from support.subscriber import Subscriber


class Accept(GatewayCase):
    config = {
        "sources": [{"name": "store"}],
        "streams": [
            {"name": "acme", "accept": {"tenant_id": ["acme"]}},
            {"name": "two", "accept": {"tenant_id": ["acme", "umbrella"]}},
            {"name": "cpu", "accept": {"medium": ["cpu"]}},
            {"name": "acme-disk", "accept": {"tenant_id": ["acme"], "medium": ["disk"]}},
            {"name": "rank-1", "accept": {"dp_rank": [1]}},
            {"name": "no-model", "accept": {"model_name": [None]}},
        ],
    }

    def expect(self, **stories):
        for name, story in stories.items():
            with self.subTest(stream=name):
                self.subscribers[name.replace("_", "-")].wait_story(story)

    def test_a_stream_gets_what_it_accepts_and_no_gap_for_the_rest(self):
        self.publisher.send(
            self.publisher.stored("a", tenant_id="acme"),
            self.publisher.stored("u", tenant_id="umbrella", medium="disk"),
            self.publisher.stored("x", tenant_id="other", dp_rank=1),
            self.publisher.stored("d", tenant_id="acme", medium="disk", model_name="m"))
        self.publisher.put("end", tenant_id="acme", medium="disk", dp_rank=1)
        self.expect(acme=[["a", "d"], ["end"]], two=[["a", "u", "d"], ["end"]],
                    acme_disk=[["d"], ["end"]], rank_1=[["x"], ["end"]],
                    no_model=[["a", "u", "x"], ["end"]])
        self.publisher.put("tail", medium="cpu")
        self.expect(cpu=[["a", "x"], ["tail"]])

    def test_cleared_passes_a_test_on_a_medium_that_it_does_not_name(self):
        self.publisher.send(self.publisher.cleared(tenant_id="acme"))
        self.publisher.put("end", tenant_id="acme")
        self.expect(cpu=[["cleared"], ["end"]], acme=[["cleared"], ["end"]],
                    acme_disk=[["cleared"]])

    def test_cleared_of_another_tenant_is_not_accepted(self):
        self.publisher.send(self.publisher.cleared(tenant_id="other"))
        self.publisher.put("end", tenant_id="acme")
        self.expect(acme=[["end"]], two=[["end"]], cpu=[["cleared"], ["end"]])


class ManyStreams(GatewayCase):
    """More streams than a machine word has bits; the ones at the edges are watched."""

    edges = (0, 1, 62, 63, 64, 65, 127, 128, 129)
    config = {
        "sources": [{"name": "store", "gap_guard": False}],
        "streams": [{"name": f"s{index}", "accept": {"tenant_id": [f"t{index}"]}}
                    for index in range(129)] + [{"name": "s129"}],
    }
    watched = {f"s{index}" for index in edges}

    def test_each_event_finds_its_stream_and_no_other(self):
        for tenant in (*range(0, 130, 2), *range(1, 130, 2)):
            self.publisher.put(f"k{tenant}", tenant_id=f"t{tenant}")
        for name, subscriber in self.subscribers.items():
            if name != "s129":
                subscriber.wait_story([["k" + name[1:]]])
        everything = self.subscribers["s129"]
        everything.wait_label("k129")
        self.assertEqual(len(everything.labels()), 130)

    def test_a_batch_for_all_is_split_among_them(self):
        self.publisher.send(*[self.publisher.stored(f"k{index}", tenant_id=f"t{index}")
                              for index in range(130)])
        for name, subscriber in self.subscribers.items():
            if name != "s129":
                subscriber.wait_story([["k" + name[1:]]])

    def test_a_loss_reaches_every_one_of_them(self):
        self.publisher.skip(3)
        self.publisher.send(self.publisher.cleared(tenant_id=None))
        for subscriber in self.subscribers.values():
            subscriber.wait_story([3, ["cleared"]])


class EventIds(GatewayCase):
    config = {
        "sources": [{"name": "left", "gap_guard": False}, {"name": "right", "gap_guard": False}],
        "streams": [
            {"name": "merged"},
            {"name": "single", "sources": ["left"]},
            {"name": "stamped", "sources": ["left"], "event_id": "restamp"},
            {"name": "kept", "event_id": "keep"},
        ],
    }

    def setUp(self):
        super().setUp()
        self.left, self.right = self.publishers["left"], self.publishers["right"]

    def ids(self, name):
        return [event["event_id"] for event in self.subscribers[name].events()]

    def wait_all(self, key):
        for name in ("merged", "kept"):
            self.subscribers[name].wait_label(key)

    def test_a_stream_of_several_sources_numbers_its_events_itself(self):
        for index in range(3):
            self.left.put(f"l{index}", f"m{index}")
            self.wait_all(f"m{index}")
            self.right.put(f"r{index}")
            self.wait_all(f"r{index}")
        self.assertEqual(self.subscribers["merged"].story(), [
            ["l0", "m0"], ["r0"], ["l1", "m1"], ["r1"], ["l2", "m2"], ["r2"]])
        ids = self.ids("merged")
        self.assertEqual(ids, list(range(ids[0], ids[0] + 9)), "contiguous and rising")

    def test_a_stream_of_one_source_keeps_its_event_ids(self):
        first = self.left.next_id
        self.left.put("a", "b")
        self.subscribers["single"].wait_story([["a", "b"]])
        self.assertEqual(self.ids("single"), [first, first + 1])

    def test_keep_keeps_the_ids_of_several_sources(self):
        expected = [self.left.next_id, self.right.next_id]
        self.left.put("a")
        self.wait_all("a")
        self.right.put("b")
        self.wait_all("b")
        self.assertEqual(self.ids("kept"), expected)

    def test_restamped_ids_are_contiguous_across_losses_and_restarts(self):
        self.left.put("a")
        self.left.skip(3)
        self.left.put("b")
        self.left.next = self.left.next_id = 1
        self.left.put("c")
        stamped = self.subscribers["stamped"]
        stamped.wait_story([["a"], 3, ["b"], 1, ["c"]])
        ids = self.ids("stamped")
        self.assertEqual(ids, [ids[0], ids[0] + 1, ids[0] + 2])

    def test_an_event_without_an_id_gets_one_where_ids_are_restamped(self):
        event = self.left.stored("bare")
        del event["event_id"]
        self.left.put("a")
        self.left.send(event)
        self.subscribers["stamped"].wait_story([["a"], ["bare"]])
        ids = self.ids("stamped")
        self.assertEqual(ids[1], ids[0] + 1)
        self.subscribers["single"].wait_story([["a"], ["bare"]])
        self.assertNotIn("event_id", self.subscribers["single"].events()[1])


class Batching(GatewayCase):
    config = {
        "sources": [{"name": "store", "gap_guard": False}],
        "streams": [{"name": "all"}, {"name": "acme", "accept": {"tenant_id": ["acme"]}}],
    }

    def backlog(self, send):
        """What `send` sends waits all at once when the gateway looks again."""
        self.gateway.send_signal(signal.SIGSTOP)
        try:
            send()
        finally:
            self.gateway.send_signal(signal.SIGCONT)

    def test_a_message_holds_64_events_at_the_most(self):
        keys = [f"k{index}" for index in range(300)]
        self.publisher.put(*keys)
        self.subscriber.wait_label(keys[-1])
        self.assertEqual(self.subscriber.labels(), keys)
        self.assertLessEqual(max(len(m.events) for m in self.subscriber.messages), 64)
        self.assertEqual(self.subscriber.gaps(), [])

    def test_a_backlog_of_one_time_and_rank_is_merged_in_order(self):
        def send():
            for index in range(200):
                self.publisher.send(self.publisher.stored(f"k{index}", tenant_id="acme"),
                                    keep_time=True)
        self.backlog(send)
        for subscriber in self.subscribers.values():
            subscriber.wait_label("k199")
            self.assertEqual(subscriber.labels(), [f"k{index}" for index in range(200)])
            self.assertLess(len(subscriber.messages), 200, "nothing was merged")
            self.assertLessEqual(max(len(m.events) for m in subscriber.messages), 64)
            self.assertEqual(subscriber.gaps(), [])

    def test_a_backlog_never_mixes_times_or_ranks_in_a_message(self):
        sent = {}

        def send():
            for index in range(200):
                self.publisher.rank = index // 5 % 3
                event = self.publisher.stored(f"k{index}", tenant_id="acme")
                sent[f"k{index}"] = (self.publisher.timestamp, self.publisher.rank)
                self.publisher.send(event, keep_time=index % 4 != 3)
        self.addCleanup(setattr, self.publisher, "rank", 0)
        self.backlog(send)
        for subscriber in self.subscribers.values():
            subscriber.wait_label("k199")
            self.assertEqual(subscriber.labels(), list(sent))
            for message in subscriber.messages:
                for event in message.events:
                    told = (message.timestamp, message.rank)
                    self.assertEqual(told, sent[event["object_key"]])
                    self.assertEqual(event["timestamp"], message.timestamp)

    def test_a_hole_in_a_backlog_keeps_its_place(self):
        def send():
            for index, key in enumerate("abcdefgh"):
                if index == 3:
                    self.publisher.skip()
                if index == 6:
                    self.publisher.send_frames(b"alone")
                self.publisher.send(self.publisher.stored(key, tenant_id="acme"), keep_time=True)
        self.backlog(send)
        for subscriber in self.subscribers.values():
            subscriber.wait_label("h")
            parts = itertools.chain.from_iterable(
                [part] if isinstance(part, int) else part for part in subscriber.story())
            self.assertEqual(list(parts), ["a", "b", "c", 1, "d", "e", "f", 1, "g", "h"])

    def test_an_idle_gateway_adds_no_wait(self):
        """Were a message out to wait for a timer, 300 in a row would show it."""
        began = time.monotonic()
        for index in range(300):
            self.publisher.put(f"k{index}")
            self.subscriber.wait_label(f"k{index}")
            self.subscriber.forget()
        took = time.monotonic() - began
        self.assertLess(took / 300, 0.01 * SLOWNESS)


class Merging(GatewayCase):
    config = {
        "sources": [{"name": "left", "gap_guard": False}, {"name": "right", "gap_guard": False}],
        "streams": [{"name": "merged"}],
    }

    def test_a_backlog_of_two_sources_keeps_the_order_of_each(self):
        left, right = self.publishers["left"], self.publishers["right"]
        left.timestamp = right.timestamp = max(left.timestamp, right.timestamp)
        self.gateway.send_signal(signal.SIGSTOP)
        for index in range(100):
            left.send(left.stored(f"l{index}"), keep_time=True)
            right.send(right.stored(f"r{index}"), keep_time=True)
            if index == 50:
                left.skip()
        self.gateway.send_signal(signal.SIGCONT)
        self.subscriber.wait(lambda: {"l99", "r99"} <= set(self.subscriber.labels()),
                             "both sources to the end")
        labels = self.subscriber.labels()
        for side in "lr":
            self.assertEqual([label for label in labels if label[0] == side],
                             [f"{side}{index}" for index in range(100)])
        self.assertEqual([width for _, width in self.subscriber.gaps()], [1])
        before, after = labels.index("l50"), labels.index("l51")
        place = self.place_of_hole()
        self.assertTrue(before < place <= after, (before, place, after))

    def place_of_hole(self):
        """How many events there are before it."""
        count = 0
        for part in self.subscriber.story():
            if isinstance(part, int):
                return count
            count += len(part)
        return None


class Topics(GatewayCase):
    config = {
        "sources": [{"name": "store", "topic": "kv@acme"}],
        "streams": [{"name": "empty"},
                    {"name": "named", "topic": "kv-events", "announce_after": "50ms"}],
    }

    @classmethod
    def warm_up(cls):
        cls.publishers["store"].topic = b"kv@acme"
        super().warm_up()

    def test_a_stream_has_an_empty_topic_unless_it_is_given_one(self):
        self.publisher.put("a")
        self.publisher.put("b")
        for name, topic in (("empty", b""), ("named", b"kv-events")):
            self.subscribers[name].wait_story([["a"], ["b"]])
            self.assertEqual({message.topic for message in self.subscribers[name].messages},
                             {topic})

    def test_announcements_have_the_topic_too(self):
        self.publisher.send_frames(b"kv@acme")
        named = self.subscribers["named"]
        named.wait_story([1, []])
        self.assertEqual(named.messages[0].topic, b"kv-events")

    def test_a_source_subscribes_to_a_prefix_of_the_topic(self):
        self.publisher.topic = b"kv@acme@model"
        self.publisher.put("longer")
        self.publisher.topic = b"kv@acme"
        self.publisher.put("exact")
        self.subscriber.wait_story([["longer"], ["exact"]])

    def test_messages_of_other_topics_are_missing_numbers(self):
        """One publisher, one numbering: what the prefix leaves out cannot be told from loss."""
        self.publisher.put("a")
        self.publisher.topic = b"kv@other"
        self.publisher.put("not ours")
        self.publisher.topic = b"kv@acme"
        self.publisher.put("b")
        self.subscriber.wait_story([["a"], 1, ["b"]])


class Transports(unittest.TestCase):
    """Bind and connect, ipc, IPv4 and IPv6, on both sides of the gateway."""

    def open(self, socket):
        self.addCleanup(socket.close)
        return socket

    def carry(self, source, stream):
        """Carry one message from a publisher to a subscriber with these two socket configs."""
        publisher = subscriber = None
        if "connect" in source:
            publisher = self.open(Publisher(source["connect"]))
            source = dict(source, connect=publisher.endpoint)
        if "connect" in stream:
            subscriber = self.open(Subscriber(stream["connect"], bind=True))
            stream = dict(stream, connect=subscriber.endpoint)
        gateway = Gateway({"sources": [dict(source, name="store")],
                           "streams": [dict(stream, name="all")]})
        self.addCleanup(gateway.directory.remove)
        self.addCleanup(gateway.kill)
        gateway.start()
        publisher = publisher or self.open(
            Publisher(gateway.source("store")["endpoint"], bind=False))
        subscriber = subscriber or self.open(Subscriber(gateway.stream("all")["endpoint"]))
        publisher.wait_subscribed()

        def arrived():
            publisher.put("a")
            return subscriber.pump(20)
        until(arrived, "a message")
        self.assertEqual(set(subscriber.labels()), {"a"})
        gateway.check_identity()
        gateway.stop()

    def test_ipv4_with_publisher_and_gateway_binding(self):
        self.carry({"connect": "tcp://127.0.0.1:*"}, {"bind": "tcp://127.0.0.1:*"})

    def test_ipv6_with_publisher_and_gateway_binding(self):
        self.carry({"connect": "tcp://[::1]:*"}, {"bind": "tcp://[::1]:*"})

    def test_ipv6_with_gateway_binding_its_source_and_connecting_its_stream(self):
        self.carry({"bind": "tcp://[::1]:*"}, {"connect": "tcp://[::1]:*"})

    def test_ipv4_with_gateway_binding_its_source_and_connecting_its_stream(self):
        self.carry({"bind": "tcp://127.0.0.1:*"}, {"connect": "tcp://127.0.0.1:*"})

    def test_ipc_with_gateway_connecting_on_both_sides(self):
        directory = Directory()
        self.addCleanup(directory.remove)
        self.carry({"connect": directory.ipc("in")}, {"connect": directory.ipc("out")})

    def test_ipc_with_gateway_binding_on_both_sides(self):
        directory = Directory()
        self.addCleanup(directory.remove)
        self.carry({"bind": directory.ipc("in")}, {"bind": directory.ipc("out")})


if __name__ == "__main__":
    unittest.main()

"""A publisher that starts over is seen, and its messages are good (point 6)."""

import unittest

from support.case import GatewayCase
from support.deadline import until
from support.gateway import Gateway
from support.publisher import Process as PublisherProcess
from support.publisher import Publisher
from support.subscriber import Subscriber


class Restart(GatewayCase):
    config = {
        "sources": [{"name": "store", "gap_guard": False}],
        "streams": [{"name": "all"}, {"name": "acme", "accept": {"tenant_id": ["acme"]}}],
    }

    def setUp(self):
        super().setUp()
        self.restarts = self.gateway.source("store")["restarts"]

    def check(self, story):
        """On every stream, with one restart counted."""
        for subscriber in self.subscribers.values():
            subscriber.wait_story(story)
        source = self.gateway.source("store")
        self.assertEqual(source["restarts"], self.restarts + 1)

    def put(self, key):
        self.publisher.put(key, tenant_id="acme")

    def test_a_sequence_that_goes_back_is_a_restart_and_its_message_is_processed(self):
        self.put("a")
        self.publisher.next -= 2
        self.put("b")
        self.put("c")
        self.check([["a"], 1, ["b"], ["c"]])

    def test_a_sequence_that_repeats_is_a_restart_and_its_message_is_processed(self):
        self.put("a")
        self.publisher.next -= 1
        self.put("b")
        self.put("c")
        self.check([["a"], 1, ["b"], ["c"]])

    def test_an_event_id_that_goes_back_is_a_restart_though_the_sequence_fits(self):
        self.put("a")
        self.publisher.next_id = 1
        self.put("b")
        self.put("c")
        self.check([["a"], 1, ["b"], ["c"]])

    def test_an_event_id_that_repeats_is_a_restart(self):
        self.put("a")
        self.publisher.next_id -= 1
        self.put("b")
        self.check([["a"], 1, ["b"]])

    def test_an_event_id_that_goes_back_across_a_gap_is_one_restart_of_one_number(self):
        self.put("a")
        self.publisher.skip(50)
        self.publisher.next_id = 1
        self.put("b")
        self.put("c")
        self.check([["a"], 1, ["b"], ["c"]])

    def test_an_event_id_hole_alone_is_no_loss(self):
        self.put("a")
        self.publisher.next_id += 100
        self.put("b")
        for subscriber in self.subscribers.values():
            subscriber.wait_story([["a"], ["b"]])
        self.assertEqual(self.gateway.source("store")["restarts"], self.restarts)

    def test_events_without_an_id_are_followed_by_the_sequence_alone(self):
        for key in "ab":
            event = self.publisher.stored(key, tenant_id="acme")
            del event["event_id"]
            self.publisher.send(event)
        self.publisher.put("c", tenant_id="acme")
        for subscriber in self.subscribers.values():
            subscriber.wait_story([["a"], ["b"], ["c"]])

    def test_a_publisher_that_is_killed_and_restarted_at_1_shows_as_one_gap(self):
        self.put("a")
        self.subscriber.wait_label("a")
        self.publisher.restart()
        self.put("b")
        self.put("c")
        self.check([["a"], 1, ["b"], ["c"]])
        self.gateway.wait_log(r'source "store".*started over', self.log_start)

    def test_a_restart_that_lost_its_first_messages_is_still_a_restart(self):
        self.put("a")
        self.subscriber.wait_label("a")
        self.publisher.restart()
        self.publisher.skip()
        self.put("b")
        self.put("c")
        self.check([["a"], 1, ["b"], ["c"]])


class Connection(GatewayCase):
    config = {"sources": [{"name": "store", "gap_guard": False}], "streams": [{"name": "all"}]}

    def connected(self):
        return self.gateway.source("store")["connected"]

    def test_a_publisher_that_dies_and_returns_shows_in_the_connected_state(self):
        self.assertTrue(self.connected())
        self.publisher.kill()
        until(lambda: not self.connected(), "the source to be seen as not connected")
        self.assertEqual(self.metric(), 0)
        self.publisher.open()
        self.publisher.next = self.publisher.next_id = 1
        self.publisher.wait_subscribed()
        until(self.connected, "the source to be seen as connected")
        self.assertEqual(self.metric(), 1)

    def test_a_connection_that_breaks_shows_what_was_missed_as_a_gap(self):
        """The publisher goes on meanwhile: no restart."""
        restarts = self.gateway.source("store")["restarts"]
        self.publisher.put("a")
        self.subscriber.wait_label("a")
        self.publisher.kill()
        self.publisher.skip(5)
        self.publisher.open()
        self.publisher.wait_subscribed()
        self.publisher.put("b")
        self.subscriber.wait_story([["a"], 5, ["b"]])
        self.assertEqual(self.gateway.source("store")["restarts"], restarts)

    def metric(self):
        return self.gateway.metrics()['kvgate_source_connected{source="store"}']

    def test_messages_of_two_lives_keep_their_order(self):
        for life in range(3):
            self.publisher.restart()
            for index in range(3):
                self.publisher.put(f"{life}-{index}")
            self.subscriber.wait_label(f"{life}-2")
        self.assertEqual(self.subscriber.story(), [
            1, ["0-0"], ["0-1"], ["0-2"], 1, ["1-0"], ["1-1"], ["1-2"],
            1, ["2-0"], ["2-1"], ["2-2"]])


class Killed(unittest.TestCase):
    """The publisher is a process of its own, and dies as processes do."""

    def setUp(self):
        self.gateway = Gateway({"sources": [{"name": "store"}], "streams": [{"name": "all"}]})
        self.addCleanup(self.gateway.directory.remove)
        self.addCleanup(self.gateway.kill)
        self.gateway.start()
        self.subscriber = Subscriber(self.gateway.config["streams"][0]["bind"])
        self.addCleanup(self.subscriber.close)

    def live(self, name):
        process = PublisherProcess(self.gateway.config["sources"][0]["connect"], name)
        self.addCleanup(process.kill)
        return process

    def test_a_publisher_killed_by_sigkill_and_started_again_is_one_restart(self):
        first = self.live("first")

        def arrived():
            first.send(1)
            return self.subscriber.pump(20)
        until(arrived, "a first message")
        first.send(10)
        self.subscriber.wait(lambda: self.subscriber.last() == first.sent, "all of them")
        first.kill()
        second = self.live("second")
        second.send(10)
        self.subscriber.wait_label("second-10")
        labels = [label for label in self.subscriber.labels() if label.startswith("second")]
        self.assertEqual(labels, [f"second-{index}" for index in range(1, 11)])
        self.assertEqual(self.subscriber.gaps()[-1], (first.sent, 1))
        self.assertEqual(self.gateway.source("store")["restarts"], 1)
        self.gateway.check_identity()
        self.gateway.stop()


class BoundSource(GatewayCase):
    """The gateway binds, publishers come and go."""

    config = {
        "sources": [{"name": "store", "bind": "tcp://127.0.0.1:*"}],
        "streams": [{"name": "all"}],
    }

    @classmethod
    def setUpClass(cls):
        cls.gateway = Gateway(cls.config)
        cls.addClassCleanup(cls.gateway.directory.remove)
        cls.addClassCleanup(cls.gateway.kill)
        cls.gateway.start()
        endpoint = cls.gateway.source("store")["endpoint"]
        cls.publishers = {"store": cls.open(Publisher(endpoint, bind=False))}
        cls.subscribers = {"all": cls.open(Subscriber(cls.gateway.config["streams"][0]["bind"]))}
        cls.publishers["store"].wait_subscribed()
        cls.warm_up()

    def test_a_publisher_that_connects_is_served_like_one_that_binds(self):
        self.publisher.put("a")
        self.publisher.skip()
        self.publisher.put("b")
        self.subscriber.wait_story([["a"], 1, ["b"]])

    def test_the_second_publisher_after_the_first_is_a_restart(self):
        self.publisher.put("a")
        self.subscriber.wait_label("a")
        self.publisher.restart()
        self.publisher.put("b")
        self.subscriber.wait_story([["a"], 1, ["b"]])


if __name__ == "__main__":
    unittest.main()

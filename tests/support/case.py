"""What all tests of a running gateway share.

A class names a configuration; its tests share one gateway, a publisher for each source and
a subscriber for each stream.  Before each test all of them agree on where they are, and
behind each the accounting identity holds, whatever the test did.
"""

import unittest

from support.deadline import Deadline
from support.gateway import Gateway
from support.publisher import Publisher
from support.subscriber import Subscriber


class GatewayCase(unittest.TestCase):
    config = {"sources": [{"name": "store"}], "streams": [{"name": "all"}]}
    scripts = {}
    watched = None  # streams that get a subscriber; None: all of them
    environment = None  # more variables of the program
    prepare = None  # a staticmethod, called in its process before it starts

    @classmethod
    def setUpClass(cls):
        cls.gateway = Gateway(cls.config, cls.scripts)
        cls.addClassCleanup(cls.gateway.directory.remove)
        cls.addClassCleanup(cls.gateway.kill)
        cls.publishers = {}
        cls.subscribers = {}
        for source in cls.gateway.config["sources"]:
            cls.publishers[source["name"]] = cls.open(Publisher(source["connect"]))
        cls.gateway.start(cls.environment, cls.prepare)
        for stream in cls.gateway.config["streams"]:
            if cls.watched is not None and stream["name"] not in cls.watched:
                continue
            cls.subscribers[stream["name"]] = cls.open(Subscriber(stream["bind"]))
        for publisher in cls.publishers.values():
            publisher.wait_subscribed()
        cls.warm_up()

    @classmethod
    def open(cls, socket):
        cls.addClassCleanup(socket.close)
        return socket

    @classmethod
    def tearDownClass(cls):
        cls.gateway.stop()

    def setUp(self):
        self.publisher = next(iter(self.publishers.values()))
        self.subscriber = next(iter(self.subscribers.values()))
        self.log_start = len(self.gateway.log)
        self.addCleanup(self.tell_log)
        self.settle()

    def tearDown(self):
        self.assertTrue(self.gateway.alive(), "the gateway ended")
        self.gateway.check_identity()

    def tell_log(self):
        """A test that failed shows what the gateway said meanwhile."""
        result = self._outcome.result
        failed = [getattr(test, "test_case", test) for test, _ in result.errors + result.failures]
        if self in failed:
            print("\n---- " + self.id() + "\n" + "\n".join(self.gateway.log[self.log_start:]))

    # ---- probes: events that every configuration here lets through ----

    @staticmethod
    def send_probe(publisher, name):
        """A `cleared` whose context is nil passes every accept; `name` tells it apart."""
        probe = publisher.cleared(tenant_id=None, dp_rank=None)
        probe["object_key"] = name
        publisher.send(probe)

    @classmethod
    def feeds(cls, publisher_name, stream_name):
        stream = next(s for s in cls.config["streams"] if s["name"] == stream_name)
        return publisher_name in stream.get("sources", cls.publishers)

    @classmethod
    def warm_up(cls):
        """Repeat a probe until each subscriber has seen one: its subscription stands."""
        first = next(iter(cls.publishers))
        for name, subscriber in cls.subscribers.items():
            source = first if cls.feeds(first, name) else \
                next(p for p in cls.publishers if cls.feeds(p, name))
            deadline = Deadline(f"a first message on stream {name}")
            while not subscriber.messages:
                cls.send_probe(cls.publishers[source], "probe")
                subscriber.pump(20)
                deadline.left()

    @classmethod
    def settle(cls):
        """All subscribers see a last probe of each publisher that feeds them; all that came
        before is done with.  Two probes, for a gap owes its mark behind the first."""
        for publisher_name, publisher in cls.publishers.items():
            cls.send_probe(publisher, "probe")
            name = f"probe-{publisher_name}-{publisher.next}"
            cls.send_probe(publisher, name)
            for stream_name, subscriber in cls.subscribers.items():
                if cls.feeds(publisher_name, stream_name):
                    subscriber.wait_label(name)
        for subscriber in cls.subscribers.values():
            subscriber.forget()

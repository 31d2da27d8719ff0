"""One subscriber that is slow or stopped is nobody else's business."""

import signal
import threading
import unittest

from support.case import GatewayCase
from support.deadline import until
from support.event import pack, pack_batch
from support.gateway import Gateway
from support.publisher import Publisher
from support.subscriber import Process

MEGABYTE = 1 << 20


def block(size=64):
    """A payload that says nothing of ids, so that it can be sent again and again."""
    event = pack({"event_type": "stored", "object_key": "k" * 400, "tenant_id": "acme"})
    return pack_batch([event] * size)


class StoppedSubscriber(GatewayCase):
    config = {
        "sources": [{"name": "store", "gap_guard": False}],
        "streams": [{"name": "fast"}, {"name": "stopped", "hwm": 50}],
    }
    chunk, chunks = 100, 20  # 50 MB in all

    def setUp(self):
        super().setUp()
        endpoint = self.gateway.stream("stopped")["endpoint"]
        self.slow = Process(endpoint)
        self.addCleanup(self.slow.close)
        ready = threading.Thread(target=self.slow.number)
        ready.start()
        while ready.is_alive():  # until its subscription stands
            self.publisher.put("warm-up")
            ready.join(0.02)
        self.slow.send_signal(signal.SIGSTOP)
        self.settle()

    def send_all(self):
        """Chunk by chunk, as fast as the other stream takes them."""
        payload = block()
        fast = self.subscribers["fast"]
        for index in range(1, self.chunks + 1):
            for _ in range(self.chunk):
                self.publisher.send_payload(payload)
            fast.wait(lambda i=index: len(fast.messages) >= self.chunk * i,
                      "all messages on the other stream")

    def test_a_stopped_subscriber_slows_neither_another_stream_nor_the_source(self):
        before = self.gateway.source("store")
        memory = self.gateway.memory()
        self.send_all()
        source = self.gateway.source("store")
        fast = self.subscribers["fast"]
        self.assertEqual(fast.gaps(), [], "the other stream missed something")
        self.assertEqual(source["gaps"], before["gaps"], "the source missed something")
        self.assertEqual(source["batches"] - before["batches"], self.chunk * self.chunks)
        self.assertEqual(self.gateway.stream("stopped")["losses"]["send"], 0)
        self.assertLess(self.gateway.memory() - memory, 24 * MEGABYTE, "memory is not bounded")
        self.check_the_stopped_one_sees_its_gap()

    def check_the_stopped_one_sees_its_gap(self):
        """It goes on, and the numbers tell it what it missed."""
        self.slow.send_signal(signal.SIGCONT)
        last = self.gateway.stream("stopped")["last_sequence"]
        received = []

        def read():
            while not received or received[-1] <= last:
                received.append(self.slow.number())
        reader = threading.Thread(target=read, daemon=True)
        reader.start()

        def over():
            self.publisher.put("behind")
            reader.join(0.02)
            return not reader.is_alive()
        until(over, "the stopped subscriber to catch up")
        jumps = [b - a for a, b in zip(received, received[1:])]
        self.assertGreater(max(jumps), 1, "it missed nothing: the test proves nothing")
        self.assertGreaterEqual(min(jumps), 1)


class Overload(unittest.TestCase):
    """The source's own queue is bounded, and what does not fit shows as a gap."""

    def setUp(self):
        self.gateway = Gateway({
            "sources": [{"name": "store", "hwm": 10, "gap_guard": False}],
            "streams": [{"name": "all"}],
        })
        self.addCleanup(self.gateway.directory.remove)
        self.addCleanup(self.gateway.kill)
        # A publisher drops for a peer that does not read: its queue is small here.
        self.publisher = Publisher(self.gateway.config["sources"][0]["connect"], hwm=10)
        self.addCleanup(self.publisher.close)

    def test_memory_stays_bounded_while_the_gateway_is_stopped_and_the_loss_is_seen(self):
        self.gateway.start()
        self.publisher.wait_subscribed()
        payload = block()
        self.publisher.send_payload(payload)
        until(lambda: self.gateway.source("store")["batches"] == 1, "a first message")
        memory = self.gateway.memory()
        self.gateway.send_signal(signal.SIGSTOP)
        for _ in range(2000):
            self.publisher.send_payload(payload)
        self.gateway.send_signal(signal.SIGCONT)

        def caught_up():
            self.publisher.send_payload(payload)
            return self.gateway.source("store")["last_sequence"] == self.publisher.next - 1
        until(caught_up, "the gateway to catch up")
        source = self.gateway.source("store")
        self.assertGreater(source["missing_numbers"], 0)
        self.assertEqual(source["batches"] + source["missing_numbers"],
                         source["last_sequence"])
        self.assertLess(self.gateway.memory() - memory, 8 * MEGABYTE)
        stream = self.gateway.stream("all")
        self.assertEqual(stream["reserved_numbers"], source["missing_numbers"])
        self.gateway.check_identity()
        self.gateway.stop()


if __name__ == "__main__":
    unittest.main()

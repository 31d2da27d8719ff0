"""A publisher of KV events with sockets of its own: the master's side of the wire.

XPUB instead of PUB, only because it tells when a subscription has arrived: then nothing
that is sent from here on is lost, and no test has to wait for time to pass.
"""

import pathlib
import subprocess
import sys

import zmq

from support.deadline import Deadline
from support.event import TIMESTAMP, generation_c, pack_batch


class Publisher:
    """Numbers its messages and events as a master does, unless it is told otherwise."""

    def __init__(self, endpoint, bind=True, topic=b"", hwm=0, keys=None):
        """`keys`: a function that gives the socket its keys, see curve.py."""
        self.keys = keys
        self.endpoint = endpoint
        self.binds = bind
        self.topic = topic
        self.hwm = hwm
        self.next = 1
        self.next_id = 1
        self.timestamp = TIMESTAMP
        self.rank = 0
        self.context = zmq.Context()
        self.open()

    def open(self):
        self.socket = self.context.socket(zmq.XPUB)
        self.socket.setsockopt(zmq.LINGER, 0)
        self.socket.setsockopt(zmq.SNDHWM, self.hwm)
        self.socket.setsockopt(zmq.XPUB_VERBOSE, 1)
        self.socket.setsockopt(zmq.IPV6, 1)
        if self.keys:
            self.keys(self.socket)
        if self.binds:
            self.socket.bind(self.endpoint)
            self.endpoint = self.socket.getsockopt_string(zmq.LAST_ENDPOINT)
        else:
            self.socket.connect(self.endpoint)

    def kill(self):
        """Vanish as a process that was killed: nothing more is sent."""
        self.socket.close(linger=0)

    def restart(self):
        """A new life of the master: everything counts from 1 again."""
        self.kill()
        self.open()
        self.next = self.next_id = 1
        self.wait_subscribed()

    def close(self):
        self.context.destroy(linger=0)

    def wait_subscribed(self):
        """Returns the prefix that the peer asked for."""
        deadline = Deadline(f"a subscription at {self.endpoint}")
        while True:
            if self.socket.poll(int(deadline.left() * 1000) + 1):
                word = self.socket.recv()
                if word[:1] == b"\x01":
                    return word[1:]

    # ---- events: each takes the next event_id ----

    def event(self, kind, key="k", **fields):
        fields.setdefault("timestamp", self.timestamp)
        fields.setdefault("dp_rank", self.rank)
        event = generation_c(kind, self.next_id, key, **fields)
        self.next_id += 1
        return event

    def stored(self, key, **fields):
        return self.event("stored", key, **fields)

    def removed(self, key, **fields):
        return self.event("removed", key, **fields)

    def cleared(self, **fields):
        return self.event("cleared", **fields)

    # ---- messages: each takes the next number ----

    def send(self, *events, keep_time=False):
        """One message.  Its time is its own unless the next one is to share it."""
        self.send_payload(pack_batch(events, self.timestamp, self.rank))
        if not keep_time:
            self.timestamp += 1

    def put(self, *keys, **fields):
        """One message that stores these keys."""
        self.send(*[self.stored(key, **fields) for key in keys])

    def send_payload(self, payload):
        self.send_frames(self.topic, self.next.to_bytes(8, "big"), payload)
        self.next += 1

    def send_frames(self, *frames):
        self.socket.send_multipart(frames, copy=max(map(len, frames)) < 1 << 20)

    def skip(self, count=1):
        """Numbers that nobody will see: a queue that was full."""
        self.next += count


class Process:
    """A publisher in a process of its own: it can be killed for good."""

    def __init__(self, endpoint, name):
        self.process = subprocess.Popen(
            [sys.executable, "-m", "support.publisher", endpoint, name],
            cwd=pathlib.Path(__file__).parent.parent, text=True,
            stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        self.sent = 0
        assert self.process.stdout.readline() == "subscribed\n"

    def send(self, count):
        self.process.stdin.write(f"{count}\n")
        self.process.stdin.flush()
        self.sent += count

    def kill(self):
        """SIGKILL."""
        self.process.kill()
        self.process.wait()
        self.process.stdin.close()
        self.process.stdout.close()


def main(endpoint, name):
    """Send as many messages as each line of input says."""
    publisher = Publisher(endpoint)
    publisher.wait_subscribed()
    print("subscribed", flush=True)
    for line in sys.stdin:
        for _ in range(int(line)):
            publisher.put(f"{name}-{publisher.next}")


if __name__ == "__main__":
    main(*sys.argv[1:])

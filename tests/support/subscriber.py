"""A subscriber with sockets of its own, and what it can tell about the messages it saw."""

import collections
import pathlib
import subprocess
import sys
import time

import zmq

from support.deadline import PATIENCE, Deadline
from support.event import unpack

Message = collections.namedtuple("Message", "topic number timestamp events rank payload")


def decode(frames):
    topic, number, payload = frames
    assert len(number) == 8, f"a sequence frame of {len(number)} bytes"
    timestamp, events, rank = unpack(payload)
    return Message(topic, int.from_bytes(number, "big"), timestamp, events, rank, payload)


def label(event):
    """How tests call an event: its key, or what it is when it has none."""
    return event.get("object_key", event.get("event_type"))


def gaps(messages, base=0):
    """Pairs (number before, how many are missing)."""
    found = []
    for message in messages:
        assert message.number > base, f"number {message.number} follows {base}"
        if message.number > base + 1:
            found.append((base, message.number - base - 1))
        base = message.number
    return found


def story(messages, base=0):
    """What a consumer lived through: a list of labels a message, an integer a hole.

    [["a", "b"], 2, ["c"], []]: one message of two events, two numbers missing, a message
    with one event, an empty one.
    """
    told = []
    for message in messages:
        if message.number != base + 1:
            told.append(message.number - base - 1)
        told.append([label(event) for event in message.events])
        base = message.number
    return told


class Subscriber:
    """`messages` holds what came since the last `forget()`, `base` the number before it."""

    def __init__(self, endpoint, bind=False, topic=b"", keys=None):
        """`keys`: a function that gives the socket its keys, see curve.py."""
        self.endpoint = endpoint
        self.messages = []
        self.base = 0
        self.context = zmq.Context()
        self.socket = self.context.socket(zmq.SUB)
        self.socket.setsockopt(zmq.LINGER, 0)
        self.socket.setsockopt(zmq.RCVHWM, 0)
        self.socket.setsockopt(zmq.RECONNECT_IVL, 10)
        self.socket.setsockopt(zmq.IPV6, 1)
        self.socket.setsockopt(zmq.SUBSCRIBE, topic)
        if keys:
            keys(self.socket)
        if bind:
            self.socket.bind(endpoint)
            self.endpoint = self.socket.getsockopt_string(zmq.LAST_ENDPOINT)
        else:
            self.socket.connect(endpoint)

    def close(self):
        self.context.destroy(linger=0)

    def pump(self, milliseconds=0):
        """Take in what is there, waiting for the first if need be."""
        if not self.socket.poll(milliseconds):
            return False
        while True:
            try:
                frames = self.socket.recv_multipart(zmq.NOBLOCK)
            except zmq.Again:
                return True
            self.messages.append(decode(frames))

    def wait(self, condition, what, seconds=PATIENCE):
        """Receive until `condition()`; returns the messages so far."""
        deadline = Deadline(lambda: f"{what}; seen: {self.tell()}", seconds)
        while not condition():
            self.pump(int(deadline.left() * 1000) + 1)
        return self.messages

    def wait_story(self, expected, seconds=PATIENCE):
        """Receive as many messages as `expected` tells of, and be it them."""
        def over():
            told = self.story()
            return len(told) >= len(expected) or told != expected[:len(told)]
        self.wait(over, f"the story {expected}", seconds)
        assert self.story() == expected, f"\n  told:     {self.story()}\n  expected: {expected}"

    def wait_label(self, wanted):
        self.wait(lambda: wanted in self.labels(), f"an event {wanted!r}")

    def story(self):
        return story(self.messages, self.base)

    def gaps(self):
        return [(number - self.base, width) for number, width in gaps(self.messages, self.base)]

    def events(self):
        return [event for message in self.messages for event in message.events]

    def labels(self):
        return [label(event) for event in self.events()]

    def last(self):
        return self.messages[-1].number if self.messages else self.base

    def tell(self):
        text = repr(self.story())
        return text if len(text) < 2000 else text[:1000] + " ... " + text[-1000:]

    def forget(self):
        """Start over: what comes next is told from here."""
        self.base = self.last()
        self.messages = []


class Process:
    """A subscriber in a process of its own, which can be stopped like any."""

    def __init__(self, endpoint, hwm=10, bind=False):
        self.process = subprocess.Popen(
            [sys.executable, "-m", "support.subscriber", endpoint, str(hwm), "bind" * bind],
            cwd=pathlib.Path(__file__).parent.parent, stdout=subprocess.PIPE, text=True)
        if bind:
            self.endpoint = self.process.stdout.readline().strip()

    def arrival(self):
        """The next number it received, and when, by the clock of time.monotonic()."""
        number, moment = self.process.stdout.readline().split()
        return int(number), float(moment)

    def number(self):
        """The next number it received."""
        return self.arrival()[0]

    def send_signal(self, number):
        self.process.send_signal(number)

    def close(self):
        self.process.kill()
        self.process.wait()
        self.process.stdout.close()


def main(endpoint, hwm, bind):
    """Print the number of every message, and when it came."""
    with zmq.Context() as context, context.socket(zmq.SUB) as socket:
        socket.setsockopt(zmq.RCVHWM, int(hwm))
        socket.setsockopt(zmq.SUBSCRIBE, b"")
        if bind:
            socket.bind(endpoint)
            print(socket.getsockopt_string(zmq.LAST_ENDPOINT), flush=True)
        else:
            socket.connect(endpoint)
        while True:
            number = socket.recv_multipart()[1]
            print(int.from_bytes(number, "big"), time.monotonic(), flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:])

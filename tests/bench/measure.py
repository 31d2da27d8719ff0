"""One run: publisher, a process in the middle, subscriber; and what it cost.

Both ends bind ports that the system chooses and the middle connects to them, so that every
middle process is started the same way and no port is ever guessed.
"""

import json
import pathlib
import re
import subprocess
import tempfile
from dataclasses import dataclass


@dataclass
class Load:
    """What the publisher sends."""
    events: int = 64      # in a message
    rate: float = 0       # events a second; 0: as fast as it is taken
    seconds: float = 1.5
    timed: bool = False   # take latencies

    def queue(self):
        """Messages that every socket holds: libzmq's 1000 of full ones."""
        return 64000 // self.events


@dataclass
class Figures:
    """What came of it."""
    rate: float           # events a second, at the subscriber
    cpu: float            # microseconds of the middle process an event
    memory: float         # its peak, MB
    messages: float       # out, for each that went in
    p50: float            # microseconds from send to receipt
    p99: float
    lost: int
    gaps: int


class Process:
    """A child that talks in lines."""

    def __init__(self, command, log=subprocess.DEVNULL):
        self.child = subprocess.Popen(list(map(str, command)), stdin=subprocess.PIPE,
                                      stdout=subprocess.PIPE, stderr=log, text=True)

    def line(self):
        text = self.child.stdout.readline()
        if not text:
            raise RuntimeError(f"{self.child.args[0]} ended with {self.child.wait()}")
        return text.strip()

    def go(self):
        self.child.stdin.write("\n")
        self.child.stdin.flush()

    def cpu(self):
        """Nanoseconds that all its threads have run."""
        tasks = pathlib.Path(f"/proc/{self.child.pid}/task").iterdir()
        return sum(int((task / "schedstat").read_text().split()[0]) for task in tasks)

    def peak(self):
        """Bytes resident at the most."""
        text = pathlib.Path(f"/proc/{self.child.pid}/status").read_text()
        return int(re.search(r"VmHWM:\s+(\d+)", text).group(1)) * 1024

    def end(self):
        self.child.kill()
        self.child.wait()
        self.child.stdin.close()
        self.child.stdout.close()


class Run:
    """A run of one middle process, closed whatever happens."""

    def __init__(self, programs, middle, load):
        self.programs, self.middle, self.load = programs, middle, load
        self.processes = []

    def start(self, *command, **options):
        self.processes.append(Process(command, **options))
        return self.processes[-1]

    def publish(self, ledger, endpoint):
        load = self.load
        return self.start(self.programs["bench_publisher"], ledger, load.queue(),
                          endpoint, load.events, load.rate, load.seconds)

    def subscribe(self, ledger):
        subscriber = self.start(self.programs["bench_subscriber"], ledger, self.load.queue(),
                                self.middle.streams, self.middle.step, int(self.load.timed))
        return subscriber, [subscriber.line() for _ in range(self.middle.streams)]

    def measure(self, directory):
        ledger = directory / "ledger"
        subscriber, sinks = self.subscribe(ledger)
        if self.middle.command is None:
            publisher = self.publish(ledger, ">" + sinks[0])
            publisher.line()
            return self.figures(*self.watch(publisher, subscriber, subscriber))
        publisher = self.publish(ledger, "tcp://127.0.0.1:*")
        command = self.middle.command(self.programs, directory, self.load.queue(),
                                      publisher.line(), sinks)
        with open(directory / "log", "w", encoding="utf-8") as log:
            middle = self.start(*command, log=log)
        return self.figures(*self.watch(publisher, middle, subscriber))

    @staticmethod
    def watch(publisher, middle, subscriber):
        """From the start to the end of what is measured."""
        publisher.line()
        before = middle.cpu()
        publisher.go()
        told = json.loads(subscriber.line())
        if middle is subscriber: # it has ended, and nobody asks what it took
            return told, 0, 0
        return told, middle.cpu() - before, middle.peak()

    def figures(self, told, cpu, memory):
        events = max(told["events"], 1)
        sent = max(told["sent"], 1)
        return Figures(rate=events / max(told["seconds"], 1e-9), cpu=cpu / events / 1e3,
                       memory=memory / 1e6, messages=told["messages"] / sent * self.load.events,
                       p50=told["p50"] / 1e3, p99=told["p99"] / 1e3,
                       lost=told["sent"] - told["events"], gaps=told["gaps"])

    def end(self):
        for process in self.processes:
            process.end()


def measure(programs, middle, load):
    """Run it once; a new directory, new processes, new ports."""
    with tempfile.TemporaryDirectory(prefix="kvgate-bench-") as name:
        run = Run(programs, middle, load)
        try:
            return run.measure(pathlib.Path(name))
        finally:
            run.end()

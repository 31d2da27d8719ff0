"""What can stand between publisher and subscriber: the gateway and its peers.

Each has a `name`, the number of `streams` it feeds, the `step` by which numbers grow on one
of them, and the `command` that starts it with queues of so many messages.
"""

import json

from programs import HERE

FILTERS = HERE / "filters"

# What is asked of an event, as a chain of filters; one that routes must know to how many.
WORK = {"pass": [], "route": ["route.lua"], "keys": ["keys_route.lua"]}


def configuration(scripts, queue, source, sinks):
    """kvgate's, as JSON, which is YAML too.  Where it cannot compile it ends and says so."""
    streams = [{"name": f"s{number}", "connect": sink, "hwm": queue}
               for number, sink in enumerate(sinks)]
    filters = [{"script": str(FILTERS / script), "options": {"streams": len(sinks)}}
               for script in scripts]
    store = {"name": "store", "connect": source, "format": "mooncake", "hwm": queue}
    return json.dumps({"jit": "on", "sources": [store], "filters": filters, "streams": streams},
                      indent=1)


class Kvgate:
    step = 1

    def __init__(self, work, streams=1):
        self.name = f"kvgate, {work} to {streams}"
        self.streams, self.scripts = streams, WORK[work]

    def command(self, programs, directory, queue, source, sinks):
        path = directory / "kvgate.yaml"
        path.write_text(configuration(self.scripts, queue, source, sinks), encoding="utf-8")
        return [programs["kvgate"], "run", path]


class Unlimited(Kvgate):
    """The gateway with nothing that stops a filter, see unlimited.c."""

    def __init__(self, work, streams=1):
        super().__init__(work, streams)
        self.name += ", no limits"

    def command(self, programs, directory, queue, source, sinks):
        command = super().command(programs, directory, queue, source, sinks)
        return [programs["kvgate_unlimited"], *command[1:]]


class Chain(Kvgate):
    """The gateway with many filters that each read one field."""

    def __init__(self, length):
        super().__init__("pass")
        self.name = f"kvgate, {length} filter" + "s" * (length > 1)
        self.scripts = ["look.lua"] * length


class Hand:
    def __init__(self, streams=1):
        self.name = f"hand loop to {streams}"
        self.streams = self.step = streams

    def command(self, programs, _, queue, source, sinks):
        return [programs["hand_loop"], queue, source, *sinks]


class Proxy:
    name, streams, step = "zmq_proxy", 1, 1

    def command(self, programs, _, queue, source, sinks):
        return [programs["proxy_peer"], queue, source, *sinks]


class Eager:
    step = 1

    def __init__(self, streams):
        self.name = f"eager tables, route to {streams}"
        self.streams = streams

    def command(self, programs, _, queue, source, sinks):
        return [programs["eager_loop"], FILTERS / "route.lua", queue, source, *sinks]


class Python:
    step = 1

    def __init__(self, work, streams):
        self.name = f"Python, {work} to {streams}"
        self.work, self.streams = work, streams

    def command(self, programs, _, queue, source, sinks):
        return [programs["python_peer.py"], self.work, queue, source, *sinks]


class Bare:
    """No process at all: publisher to subscriber."""
    name, streams, step, command = "bare PUB to SUB", 1, 1, None

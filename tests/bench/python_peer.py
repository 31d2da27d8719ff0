#!/usr/bin/python3
"""A straightforward gateway in Python, for comparison: the same work, no tricks.

    python_peer.py pass|route|keys QUEUE SOURCE STREAM...
"""

import sys

import msgpack
import zmq

HASH = (1 << 64) - 1


def route_table(count):
    return {f"tenant-{tenant:02}": tenant % count for tenant in range(16)}


def main(work, queue, source, *streams):
    context = zmq.Context(2)
    sub = context.socket(zmq.SUB)
    sub.set_hwm(int(queue))
    sub.setsockopt(zmq.SUBSCRIBE, b"")
    sub.connect(source)
    pubs = [context.socket(zmq.PUB) for _ in streams]
    for pub, endpoint in zip(pubs, streams):
        pub.set_hwm(int(queue))
        pub.connect(endpoint)
    numbers = [0] * len(pubs)
    route = route_table(len(pubs))
    while True:
        _, _, payload = sub.recv_multipart()
        timestamp, events, rank = msgpack.unpackb(payload)
        out = {}
        for event in events:
            if work == "keys" and "object_key" in event:
                event["seq_hashes"] = [int(event["object_key"].rsplit("@", 1)[1], 16) & HASH]
            stream = 0 if work == "pass" else route[event["tenant_id"]]
            out.setdefault(stream, []).append(event)
        for stream, kept in out.items():
            numbers[stream] += 1
            pubs[stream].send_multipart([b"", numbers[stream].to_bytes(8, "big"),
                                         msgpack.packb([timestamp, kept, rank])])


main(*sys.argv[1:])

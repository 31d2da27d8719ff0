"""The events of a Mooncake Store master as python3-msgpack writes them, field order and all.

Generation C is today's publisher, B parses connector keys, A leaves the envelope nil.  Text
that is not UTF-8 is spelt with surrogate escapes, so that a str stays a str.
"""

import json
import pathlib

import msgpack

TIMESTAMP = 1_700_000_000_123
LEGACY = {"stored": "BlockStored", "removed": "BlockRemoved", "cleared": "AllBlocksCleared"}
GOLDEN = pathlib.Path(__file__).parent.parent / "fixtures" / "publisher.json"


def pack(value):
    return msgpack.packb(value, use_bin_type=True, unicode_errors="surrogateescape")


def unpack(data):
    """The value of all of `data`; maps become dicts, which keep the order of the wire."""
    return msgpack.unpackb(data, raw=False, unicode_errors="surrogateescape",
                           strict_map_key=False)


def array_header(count):
    if count < 16:
        return bytes([0x90 | count])
    if count < 1 << 16:
        return b"\xdc" + count.to_bytes(2, "big")
    return b"\xdd" + count.to_bytes(4, "big")


def pack_batch(events, timestamp=TIMESTAMP, rank=0):
    """A payload; an event that is bytes already goes in as it is."""
    packed = (event if isinstance(event, bytes) else pack(event) for event in events)
    return b"\x93" + pack(timestamp) + array_header(len(events)) + b"".join(packed) + pack(rank)


def envelope(kind, event_id, timestamp, legacy, context):
    event = {"event_id": event_id, "timestamp": timestamp, "event_type": kind}
    if legacy:
        event["type"] = LEGACY[kind]
    event.update(model_name=None, block_size=None, additional_salt=None, lora_name=None,
                 tenant_id="default", backend_id="mooncake", medium="cpu", dp_rank=0)
    event.update((name, value) for name, value in context.items() if name in event)
    return event


def place(kind, legacy, tail, hashes):
    """What says where the object's blocks belong."""
    event = dict(tail, seq_hashes=hashes)
    if legacy:
        event["block_hashes"] = hashes
    event["base_block_idx"] = None
    if kind == "stored":
        event.update(parent_hash=None, token_ids=None)
        if legacy:
            event["parent_block_hash"] = None
    return event


def generation_c(kind, event_id, key="k", timestamp=TIMESTAMP, legacy=True, group_id=None,
                 **context):
    event = envelope(kind, event_id, timestamp, legacy, context)
    if kind == "cleared":
        event["medium"] = None
        return event
    event["group_id"] = group_id
    event.update(place(kind, legacy, {"object_key": key}, []))
    return event


def generation_b(kind, event_id, key, parsed, timestamp=TIMESTAMP, legacy=True, **context):
    """`parsed`: connector fields in order, behind object_key; `seq_hash` is the key's hash."""
    parsed = dict(parsed)
    hashes = [parsed.pop("seq_hash")] if "seq_hash" in parsed else []
    event = envelope(kind, event_id, timestamp, legacy, context)
    event["group_id"] = parsed.pop("group_id", None)
    event.update(place(kind, legacy, dict(object_key=key, **parsed), hashes))
    return event


def generation_a(kind, event_id, key, hashes=(), timestamp=TIMESTAMP, legacy=True, **context):
    event = envelope(kind, event_id, timestamp, legacy, context)
    medium = event.pop("medium")
    event.pop("dp_rank")
    event.update(group_id=None, medium=medium, dp_rank=None)
    event.update(place(kind, legacy, {"object_key": key}, list(hashes)))
    event["base_block_idx"] = 0 if kind == "stored" else None
    return event


def golden():
    """Name to payload of the golden messages."""
    return {entry["name"]: bytes.fromhex(entry["hex"])
            for entry in json.loads(GOLDEN.read_text(encoding="ascii"))}

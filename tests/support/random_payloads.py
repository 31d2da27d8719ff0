"""Print random payloads in hexadecimal, one a line: SEED COUNT on standard input.

Events have a publisher's fields and others that nobody knows, in any order; values are of every
msgpack type, with headers as wide as they like, nested, and large at times.  What a map may hold
twice or under odd keys, it does.
"""

import random
import struct
import sys

TEXT = ["type", "model_name", "additional_salt", "lora_name", "tenant_id", "backend_id", "medium",
        "group_id", "object_key", "connector_block_hash", "cache_prefix"]
NUMBER = ["timestamp", "block_size", "dp_rank", "tp_rank", "head_or_tp_rank", "pcp_rank",
          "dcp_rank", "pp_rank", "layer_id", "base_block_idx"]
UNSIGNED = ["parent_hash", "parent_block_hash"]
HASHES = ["seq_hashes", "block_hashes"]
SIZES = [0, 1, 3, 15, 16, 31, 32, 100, 255, 256, 5000, 70000]
LARGE = 300_000  # several fit a message of 1 MiB, which else would be split

chance = random.Random()


def sized(size, fixed, limit, *wide):
    """A header for `size`, of any form that fits; `wide` are (byte, width)."""
    forms = [struct.pack("B", byte) + size.to_bytes(width, "big")
             for byte, width in wide if size < 1 << 8 * width]
    if fixed is not None and size < limit:
        forms += [bytes([fixed | size])] * 3
    return chance.choice(forms)


def size():
    return chance.choice(SIZES[:chance.choices([4, 7, 10, len(SIZES)], [60, 35, 5, 0.2])[0]])


def text(data=None):
    if data is None:
        data = chance.choice([chance.randbytes(size()), b"a" * size(), "ключ-鍵".encode()])
    return sized(len(data), 0xa0, 32, (0xd9, 1), (0xda, 2), (0xdb, 4)) + data


def name(word):
    return text(word.encode())


def blob():
    data = chance.randbytes(size())
    return sized(len(data), None, 0, (0xc4, 1), (0xc5, 2), (0xc6, 4)) + data


def extension():
    kind = bytes([chance.choice([0, 1, 5, 127, 128, 254])])
    if chance.random() < 0.5:
        code = chance.randrange(5)
        return bytes([0xd4 + code]) + kind + chance.randbytes(1 << code)
    data = chance.randbytes(size())
    return sized(len(data), None, 0, (0xc7, 1), (0xc8, 2), (0xc9, 4)) + kind + data


def unsigned(bits=64):
    value = chance.getrandbits(chance.randint(0, bits))
    forms = [bytes([byte]) + value.to_bytes(width, "big")
             for byte, width in [(0xcc, 1), (0xcd, 2), (0xce, 4), (0xcf, 8)]
             if value < 1 << 8 * width]
    return chance.choice(forms + [bytes([value])] * 2 if value < 128 else forms)


def integer():
    if chance.random() < 0.5:
        return unsigned()
    value = -chance.getrandbits(chance.randint(0, 63))
    forms = [bytes([byte]) + value.to_bytes(width, "big", signed=True)
             for byte, width in [(0xd0, 1), (0xd1, 2), (0xd2, 4), (0xd3, 8)]
             if value >= -1 << 8 * width - 1]
    return chance.choice(forms + [bytes([value & 255])] * 2 if -32 <= value < 0 else forms)


def real():
    value = chance.choice([0.0, -0.0, 1.0, 1.5, float("inf"), float("nan"), 2.0**53, 1e30, 0.1])
    return struct.pack(">Bf", 0xca, value) if chance.random() < 0.4 \
        else struct.pack(">Bd", 0xcb, value)


def scalar():
    return chance.choice([lambda: b"\xc0", lambda: b"\xc2", lambda: b"\xc3", integer, real, text,
                          blob, extension])()


def array(items):
    return sized(len(items), 0x90, 16, (0xdc, 2), (0xdd, 4)) + b"".join(items)


def mapping(pairs):
    return sized(len(pairs), 0x80, 16, (0xde, 2), (0xdf, 4)) + b"".join(k + v for k, v in pairs)


def any_value(depth):
    kind = chance.random()
    if depth <= 0 or kind < 0.6:
        return scalar()
    count = chance.choice([0, 1, 2, 5, 17])
    if kind < 0.8:
        return array([any_value(depth - 1) for _ in range(count)])
    keys = [chance.choice([lambda: name("k%d" % chance.randrange(6)), scalar])()
            for _ in range(count)]
    return mapping([(key, any_value(depth - 1)) for key in keys])


def deep():
    value = integer()
    for _ in range(chance.choice([20, 63, 64, 65, 100])):
        value = chance.choice([array([value]), mapping([(name("k"), value)])])
    return value


def or_nil(make):
    return b"\xc0" if chance.random() < 0.3 else make()


def fields():
    kinds = [(TEXT, text), (NUMBER, lambda: chance.choice([integer, real])()),
             (UNSIGNED, unsigned), (["token_ids"], lambda: array([integer() for _ in range(5)])),
             (HASHES, lambda: array([integer() for _ in range(chance.choice([0, 1, 2, 40]))]))]
    for names, make in kinds:
        for word in names:
            if chance.random() < 0.6:
                yield name(word), or_nil(make)
    for index in range(chance.choice([0, 1, 5, 20])):
        yield name("unknown%d" % index), any_value(4)
    if chance.random() < 0.2:
        yield name("deep"), deep()
    if chance.random() < 0.2:
        yield name("twice"), scalar()
        yield name("twice"), scalar()
    if chance.random() < 0.005:
        yield name("large"), b"\xc6" + LARGE.to_bytes(4, "big") + chance.randbytes(LARGE)


def event(number):
    pairs = list(fields())
    pairs.append((name("event_id"), b"\xcf" + number.to_bytes(8, "big")))
    pairs.append((name("event_type"), name(chance.choice(["stored", "removed", "cleared", "new"]))))
    chance.shuffle(pairs)
    return mapping(pairs)


def main():
    seed, count = map(int, sys.stdin.read().split())
    chance.seed(seed)
    number = 0
    for _ in range(count):
        events = []
        for _ in range(chance.choice([1, 1, 2, 7, 20])):
            number += 1
            events.append(event(number))
        rank = chance.choice([b"\xc0", integer()])
        print((b"\x93" + integer() + array(events) + rank).hex())


if __name__ == "__main__":
    main()

"""Recordings as their page describes them, read and written without the gateway."""

import collections
import struct
import zlib

MAGIC = b"\x89KVGREC\n"
Message = collections.namedtuple("Message", "time stream frames")


def read(path):
    """(wall-clock milliseconds, names of the streams, messages); times in seconds."""
    data = path.read_bytes()
    version, began, count = struct.unpack_from(">IQH", data, 8)
    assert data[:8] == MAGIC and version == 1, data[:12]
    at, names, messages = 22, [], []
    for _ in range(count):
        size, = struct.unpack_from(">H", data, at)
        names.append(data[at + 2:at + 2 + size].decode())
        at += 2 + size
    while at < len(data):
        size, = struct.unpack_from(">I", data, at)
        body = data[at + 4:at + 4 + size]
        assert struct.unpack_from(">I", data, at + 4 + size)[0] == zlib.crc32(body)
        messages.append(read_body(body, names))
        at += 8 + size
    assert at == len(data)
    return began, names, messages


def read_body(body, names):
    time, stream, count = struct.unpack_from(">QHH", body)
    at, frames = 12, []
    for _ in range(count):
        size, = struct.unpack_from(">I", body, at)
        frames.append(body[at + 4:at + 4 + size])
        at += 4 + size
    assert at == len(body)
    return Message(time / 1e9, names[stream], frames)


def write(path, names, messages):
    """`messages`: (seconds, index of the stream, frames)."""
    data = MAGIC + struct.pack(">IQH", 1, 1_700_000_000_000, len(names))
    for name in names:
        data += struct.pack(">H", len(name)) + name.encode()
    for time, stream, frames in messages:
        body = struct.pack(">QHH", int(time * 1e9), stream, len(frames))
        body += b"".join(struct.pack(">I", len(frame)) + frame for frame in frames)
        data += struct.pack(">I", len(body)) + body + struct.pack(">I", zlib.crc32(body))
    path.write_bytes(data)
    return path

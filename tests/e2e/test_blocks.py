"""Behind blocks.lua a reader knows the blocks whose parts are all there, and no other."""

import hashlib
import random
import unittest

from support.case import GatewayCase

TP, PP = 2, 2
PARTS = [(tp, pp) for tp in range(TP) for pp in range(PP)]


def digest(block):
    return hashlib.sha256(str(block).encode()).digest()


def key(block, tp, pp):
    return f"Qwen3-8B@tp_rank:{tp}@pcp0@dcp0@pp_rank:{pp}@group:0@{digest(block).hex()}"


def hash_of(block):
    """As vLLM's own events have it."""
    return int.from_bytes(digest(block)[-8:], "big")


class Reader:
    """Knows hashes by medium."""

    def __init__(self):
        self.known = set()

    def read(self, messages):
        for event in (event for message in messages for event in message.events):
            if event["event_type"] == "cleared":
                self.known.clear()
                continue
            block = (event["medium"], *event["seq_hashes"])
            assert event["block_hashes"] == event["seq_hashes"]
            if event["event_type"] == "stored":
                assert block not in self.known
                self.known.add(block)
            else:
                self.known.remove(block)


class Blocks(GatewayCase):
    config = {
        "sources": [{"name": "store", "gap_guard": False}],
        "filters": [{"script": "blocks.lua",
                     "options": {"convention": "vllm", "tp": TP, "pp": PP, "connector": True}}],
        "streams": [{"name": "blocks"}],
    }

    def setUp(self):
        super().setUp()
        self.parts, self.reader, self.read = {}, Reader(), 0

    def store(self, block, tp, pp, medium="cpu"):
        self.parts.setdefault((medium, block), set()).add((tp, pp))
        return self.publisher.stored(key(block, tp, pp), medium=medium)

    def remove(self, block, tp, pp, medium="cpu"):
        self.parts.setdefault((medium, block), set()).discard((tp, pp))
        return self.publisher.removed(key(block, tp, pp), medium=medium)

    def agree(self):
        """An object of no convention passes: all in front of it is done with when it comes."""
        self.publisher.put(f"end-{self.publisher.next}")
        self.subscriber.wait_label(f"end-{self.publisher.next - 1}")
        news = self.subscriber.messages[self.read:]
        self.read += len(news)
        self.reader.read([message._replace(events=[
            event for event in message.events
            if not event.get("object_key", "").startswith("end-")]) for message in news])
        self.assertEqual(self.reader.known, {
            (medium, hash_of(block))
            for (medium, block), parts in self.parts.items() if len(parts) == TP * PP})

    def test_a_block_comes_with_its_last_part_and_goes_with_its_first(self):
        for tp, pp in PARTS[:-1]:
            self.publisher.send(self.store(1, tp, pp))
        self.agree()
        self.publisher.send(self.store(1, *PARTS[-1]))
        self.agree()
        self.assertEqual(self.subscriber.events()[1]["connector_block_hash"], digest(1).hex())
        self.assertEqual(self.subscriber.events()[1]["object_key"], key(1, 0, 0))
        self.publisher.send(self.remove(1, *PARTS[1]))
        self.agree()

    def test_any_order_of_events_leaves_the_reader_with_what_is_whole(self):
        rng = random.Random(7)
        for _ in range(100):
            events = [rng.choice([self.store, self.store, self.remove])(
                rng.randrange(4), *rng.choice(PARTS), rng.choice(["cpu", "disk"]))
                for _ in range(rng.randrange(1, 40))]
            self.publisher.send(*events)
            self.agree()

    def test_a_loss_leaves_nothing_known_until_it_is_stored_anew(self):
        self.publisher.send(*(self.store(1, *part) for part in PARTS))
        self.agree()
        self.publisher.skip(3)
        self.parts.clear()
        self.agree()
        self.publisher.send(*(self.store(1, *part) for part in PARTS))
        self.agree()

    def test_a_cleared_leaves_nothing_known(self):
        self.publisher.send(*(self.store(1, *part) for part in PARTS))
        self.agree()
        self.parts.clear()
        self.publisher.send(self.publisher.cleared(), self.store(1, *PARTS[0]))
        self.agree()

    def test_a_reload_forgets_no_part(self):
        self.publisher.send(*(self.store(1, *part) for part in PARTS[:-1]))
        self.agree()
        code, text = self.gateway.post("/reload")
        self.assertEqual(code, 200, text)
        self.publisher.send(self.store(1, *PARTS[-1]))
        self.agree()


if __name__ == "__main__":
    unittest.main()

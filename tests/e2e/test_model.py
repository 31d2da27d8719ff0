"""Random lives of a publisher against a model of ten lines: no hidden loss, no false gap.

The model knows the promise and nothing of the gateway: for each stream it says which keys
arrive in which order, and how many numbers are missing between any two of them.
"""

import random
import unittest

from support.case import GatewayCase
from support.event import pack, pack_batch

GLOBAL = """
return function()
  return function(event)
    local key = event.object_key
    if key:find "^drop" then return false end
    if key:find "^fail" then error "as told" end
    if key:find "^acme" then return { "acme", "own" } end
    return true
  end
end
"""
OWN = """
return function()
  return function(event)
    local key = event.object_key
    if key:find "^own_drop" then return false end
    if key:find "^own_fail" then error "as told" end
    return event
  end
end
"""
STREAMS = ("plain", "acme", "own")
WORDS = ("a", "a", "a", "drop", "fail", "acme", "own_drop", "own_fail")


class Model:
    """What each stream should live through: keys, and how wide the hole before each is."""

    def __init__(self):
        self.told = {name: [] for name in STREAMS}
        self.holes = dict.fromkeys(STREAMS, 0)

    def lose(self, width=1, streams=STREAMS):
        for name in streams:
            self.holes[name] += width

    def arrive(self, key, streams):
        for name in streams:
            if self.holes[name]:
                self.told[name].append(self.holes[name])
                self.holes[name] = 0
            self.told[name].append(key)

    def event(self, key, tenant):
        """One event of a batch, as the filters above treat it."""
        word = key.split("-")[0]
        if word == "fail":
            self.lose()
        if word in ("drop", "fail"):
            return
        self.arrive(key, [] if word == "acme" else ["plain"])
        self.arrive(key, ["acme"] if tenant == "acme" else [])
        if word == "own_fail":
            self.lose(1, ["own"])
        elif word != "own_drop":
            self.arrive(key, ["own"])


class Lives(GatewayCase):
    config = {
        "sources": [{"name": "store", "gap_guard": False, "hwm": 100000}],
        "filters": [{"script": "global.lua"}],
        "streams": [
            {"name": "plain", "hwm": 100000},
            {"name": "acme", "hwm": 100000,
             "accept": {"tenant_id": ["acme"]}},
            {"name": "own", "hwm": 100000, "event_id": "restamp",
             "filters": [{"script": "own.lua"}]},
        ],
    }
    scripts = {"global.lua": GLOBAL, "own.lua": OWN}

    def live(self, seed, steps=250):
        """One random life; returns what the model makes of it."""
        chance, model = random.Random(seed), Model()
        for step in range(steps):
            fate = chance.random()
            if fate < 0.06:
                width = chance.randint(1, 5)
                self.publisher.skip(width)
                model.lose(width)
            elif fate < 0.09:
                self.publisher.send_frames(b"alone")
                model.lose()
                continue
            elif fate < 0.11:
                self.publisher.send_payload(b"\x93\x01\x91\xc1")
                model.lose()
                continue
            elif fate < 0.13:
                self.publisher.next = self.publisher.next_id = 1
                model.lose()
            self.send(chance, model, step)
        self.publisher.put("end", tenant_id="acme")
        model.event("end", "acme")
        return model

    def send(self, chance, model, step):
        """A batch of 1 to 100 events; some of them are none."""
        events = []
        for index in range(chance.choice([1, 1, 2, 3, 8, 40, 100])):
            if chance.random() < 0.02:
                events.append(b"\x07")
                model.lose()
                continue
            key = f"{chance.choice(WORDS)}-{step}-{index}"
            tenant = chance.choice(["acme", "other"])
            events.append(pack(self.publisher.stored(key, tenant_id=tenant)))
            model.event(key, tenant)
        self.publisher.send_payload(pack_batch(events, self.publisher.timestamp))
        if chance.random() < 0.5:
            self.publisher.timestamp += 1

    @staticmethod
    def flat(story):
        """Without the bounds of messages."""
        for part in story:
            if isinstance(part, int):
                yield part
            else:
                yield from part

    def test_every_stream_lives_through_what_the_model_says(self):
        for seed in range(12):
            with self.subTest(seed=seed):
                self.settle()
                model = self.live(seed)
                for name, subscriber in self.subscribers.items():
                    subscriber.wait_label("end")
                    self.assertEqual(list(self.flat(subscriber.story())), model.told[name], name)
                    self.assertLessEqual(max(len(m.events) for m in subscriber.messages), 64)
                self.check_restamped()
                self.gateway.check_identity()

    def check_restamped(self):
        ids = [event["event_id"] for event in self.subscribers["own"].events()]
        self.assertEqual(ids, list(range(ids[0], ids[0] + len(ids))))


if __name__ == "__main__":
    unittest.main()

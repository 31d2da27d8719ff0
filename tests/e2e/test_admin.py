"""What the admin address tells: health, metrics, status."""

import re
import socket
import unittest

from support.case import GatewayCase
from support.deadline import until
from support.gateway import Gateway
from support.publisher import Publisher

CAUSES = ("gap", "guard", "restart", "frames", "sequence", "payload", "event", "filter", "space")
STREAM_CAUSES = CAUSES + ("size", "send", "reload")
FAULTS = ("not_a_map", "key_not_text", "duplicate_field", "no_type", "bad_id")
CONFIG = {
    "sources": [{"name": "store", "gap_guard": False}],
    "filters": [{"script": "some.lua"}],
    "streams": [{"name": "all"}, {"name": "own", "filters": [{"script": "some.lua"}]}],
}
SCRIPTS = {"some.lua": """
    return function()
      return function(event)
        local key = event.object_key
        if key == "drop" then return false end
        if key == "fail" then error "as told" end
        if key == "edit" then event.backend_id = "edited" end
        if key == "split" then return { event, event:copy() } end
        return true
      end
    end
"""}


def expected_counters():
    """Every counter that there is for CONFIG, as metrics call it."""
    for name in ("batches", "events", "bytes", "gaps", "missing_numbers", "restarts"):
        yield f'kvgate_source_{name}_total{{source="store"}}'
    for cause in CAUSES:
        yield f'kvgate_source_losses_total{{source="store",cause="{cause}"}}'
    for fault in FAULTS:
        yield f'kvgate_source_malformed_events_total{{source="store",cause="{fault}"}}'
    for name in ("kept", "dropped", "rewritten", "split", "errors", "emitted"):
        for stream in ("", "own"):
            yield (f'kvgate_filter_{name}_total{{filter="some.lua",stream="{stream}",'
                   'position="1"}')
    for stream in ("all", "own"):
        for name in ("published_batches", "published_events", "published_bytes",
                     "reserved_numbers", "announcements", "heartbeats"):
            yield f'kvgate_stream_{name}_total{{stream="{stream}"}}'
        for cause in STREAM_CAUSES:
            yield f'kvgate_stream_losses_total{{stream="{stream}",cause="{cause}"}}'


class FromTheStart(unittest.TestCase):
    def setUp(self):
        self.gateway = Gateway(CONFIG, SCRIPTS)
        self.addCleanup(self.gateway.directory.remove)
        self.addCleanup(self.gateway.kill)
        self.gateway.start()

    def test_every_counter_is_there_at_0_before_anything_came(self):
        metrics = self.gateway.metrics()
        for name in expected_counters():
            self.assertIn(name, metrics)
            self.assertEqual(metrics[name], 0, name)
        self.assertEqual(metrics['kvgate_source_connected{source="store"}'], 0)
        for stream in ("all", "own"):
            self.assertEqual(metrics[f'kvgate_stream_last_sequence{{stream="{stream}"}}'], 0)
        unknown = [name for name in metrics if name.split("{")[0].endswith("_total") and
                   name not in set(expected_counters())]
        self.assertEqual(unknown, [], "counters that this test does not know")

    def test_a_gateway_is_ready_when_its_source_is_connected(self):
        self.assertEqual(self.gateway.get("/healthz"), (200, "ok\n"))
        code, text = self.gateway.get("/readyz")
        self.assertEqual(code, 503)
        self.assertIn('source "store" is not connected', text)
        self.assertFalse(self.gateway.source("store")["connected"])
        publisher = Publisher(self.gateway.config["sources"][0]["connect"])
        self.addCleanup(publisher.close)
        until(lambda: self.gateway.get("/readyz")[0] == 200, "/readyz to answer 200")
        self.assertTrue(self.gateway.source("store")["connected"])

    def tearDown(self):
        self.gateway.stop()


class Admin(GatewayCase):
    config = CONFIG
    scripts = SCRIPTS

    def test_metrics_are_prometheus_text(self):
        text = self.gateway.get("/metrics")[1]
        self.assertTrue(text.endswith("\n"))
        types, helps = {}, set()
        for line in text.splitlines():
            if line.startswith("# TYPE "):
                _, _, name, kind = line.split(" ")
                self.assertNotIn(name, types, "one family, one TYPE")
                self.assertIn(kind, ("counter", "gauge", "histogram"))
                types[name] = kind
            elif line.startswith("# HELP "):
                helps.add(line.split(" ")[2])
            else:
                match = re.fullmatch(
                    r'([a-zA-Z_:][\w:]*)(\{(\w+="([^"\\]|\\.)*",?)+\})? [-+0-9.eE]+', line)
                self.assertIsNotNone(match, line)
                self.assertIn(match.group(1), types, "a TYPE before its samples")
                if types[match.group(1)] == "counter":
                    self.assertTrue(match.group(1).endswith("_total"), line)
        self.assertEqual(set(types), helps)

    def test_status_counts_what_happened(self):
        before = self.gateway.status()
        payloads = self.publisher.next
        self.publisher.put("a", "drop", "fail", "edit", "split")
        self.publisher.skip(4)
        self.publisher.put("b")
        self.publisher.next -= 1
        self.publisher.put("c")
        for name, split in (("all", 2), ("own", 4)):  # each filter makes two of one
            self.subscribers[name].wait_story(
                [["a"], 1, ["edit"] + ["split"] * split, 4, ["b"], 1, ["c"]])
        after = self.gateway.status()

        def gained(kind, index, name):
            return after[kind][index][name] - before[kind][index][name]
        source = {name: gained("sources", 0, name)
                  for name in ("batches", "events", "gaps", "missing_numbers", "restarts")}
        self.assertEqual(source, {"batches": 3, "events": 7, "gaps": 1, "missing_numbers": 4,
                                  "restarts": 1})
        self.assertGreater(gained("sources", 0, "bytes"), 3 * 200)
        for stream, events in ((0, 6), (1, 8)):
            self.assertEqual({name: gained("streams", stream, name) for name in (
                "published_batches", "published_events", "reserved_numbers", "last_sequence")},
                {"published_batches": 4, "published_events": events, "reserved_numbers": 6,
                 "last_sequence": 10})
        self.assertEqual({name: gained("filters", 0, name) for name in
                          ("dropped", "rewritten", "split", "errors")},
                         {"dropped": 1, "rewritten": 1, "split": 1, "errors": 1})
        self.assertEqual(after["sources"][0]["last_sequence"], payloads + 5)
        self.assertTrue(after["sources"][0]["connected"])

    def test_status_names_what_there_is(self):
        status = self.gateway.status()
        self.assertEqual([s["name"] for s in status["sources"]], ["store"])
        self.assertEqual([s["name"] for s in status["streams"]], ["all", "own"])
        self.assertEqual([(f["script"], f["stream"], f["position"]) for f in status["filters"]],
                         [("some.lua", None, 1), ("some.lua", "own", 1)])
        self.assertTrue(status["filters"][0]["path"].endswith("/some.lua"))
        self.assertRegex(status["version"], r"^\d+\.\d+\.\d+$")
        self.assertEqual(status["sources"][0]["endpoint"],
                         self.gateway.config["sources"][0]["connect"])

    def test_metrics_and_status_agree(self):
        metrics, status = self.gateway.metrics(), self.gateway.status()
        for stream in status["streams"]:
            for name in ("published_batches", "published_events", "reserved_numbers"):
                sample = f'kvgate_stream_{name}_total{{stream="{stream["name"]}"}}'
                self.assertEqual(metrics[sample], stream[name])
            for cause, count in stream["losses"].items():
                sample = f'kvgate_stream_losses_total{{stream="{stream["name"]}",cause="{cause}"}}'
                self.assertEqual(metrics[sample], count)

    def test_the_identity_is_to_be_had_from_metrics_alone(self):
        self.publisher.skip(3)
        self.publisher.put("a")
        self.subscriber.wait_label("a")
        metrics = self.gateway.metrics()
        for stream in ("all", "own"):
            self.assertEqual(metrics[f'kvgate_stream_last_sequence{{stream="{stream}"}}'],
                             metrics[f'kvgate_stream_published_batches_total{{stream="{stream}"}}']
                             + metrics[
                                 f'kvgate_stream_reserved_numbers_total{{stream="{stream}"}}'])

    def test_health_and_readiness_are_200(self):
        for path in ("/healthz", "/readyz"):
            self.assertEqual(self.gateway.get(path)[0], 200)

    def test_what_is_not_there_is_404_and_a_wrong_method_405(self):
        self.assertEqual(self.gateway.get("/nothing")[0], 404)
        self.assertEqual(self.gateway.get("/reload")[0], 405)
        self.assertEqual(self.gateway.post("/status")[0], 405)

    def test_nothing_prints_payloads(self):
        self.publisher.put("fail", tenant_id="a-secret-tenant")
        self.publisher.send_payload(b"\xac" + b"secret-bytes")
        self.publisher.put("a")
        self.subscriber.wait_label("a")
        seen = self.gateway.text() + self.gateway.get("/status")[1] + \
            self.gateway.get("/metrics")[1]
        self.assertNotIn("secret", seen)

    def test_connections_that_trickle_do_not_keep_others_out_for_ever(self):
        """A byte now and then used to defeat the timeout, 64 such connections the server."""
        host, port = self.gateway.admin.removeprefix("http://").split(":")
        slow = [socket.create_connection((host, int(port))) for _ in range(64)]
        for one in slow:
            self.addCleanup(one.close)
            one.sendall(b"GET /healthz HTTP/1.1\r\nX: ")

        def somebody_else_is_served():
            for one in slow:
                try:
                    one.sendall(b"a")
                except OSError:
                    pass  # this one was shown out
            with socket.create_connection((host, int(port))) as other:
                other.settimeout(0.5)
                other.sendall(b"GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n")
                try:
                    return other.recv(100).startswith(b"HTTP/1.1 200")
                except OSError:
                    return False
        until(somebody_else_is_served, "an answer", 40)


if __name__ == "__main__":
    unittest.main()

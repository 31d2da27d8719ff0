"""What the admin address tells: health, metrics, status."""

import re
import socket
import unittest

from support.case import GatewayCase
from support.deadline import until
from support.gateway import Directory, Gateway
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
                     "reserved_numbers", "announcements", "heartbeats", "cut"):
            yield f'kvgate_stream_{name}_total{{stream="{stream}"}}'
        for cause in STREAM_CAUSES:
            yield f'kvgate_stream_losses_total{{stream="{stream}",cause="{cause}"}}'
    for side in ('source{"store"}', 'stream{"all"}', 'stream{"own"}'):
        kind, name = side[:-1].split("{")
        for cause in ("key", "handshake"):
            yield f'kvgate_{kind}_refused_total{{{kind}={name},cause="{cause}"}}'


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


class Bounds(GatewayCase):
    """A request is small and quick, or it is not served."""

    def talk(self, request, port=None):
        """All that the server says to these bytes."""
        host, own = self.gateway.admin.removeprefix("http://").split(":")
        with socket.create_connection((host, port or int(own))) as peer:
            peer.settimeout(20)
            answer = b""
            try:
                peer.sendall(request)
                while piece := peer.recv(65536):
                    answer += piece
            except ConnectionError:
                pass  # shown out while it was still talking
            return answer

    def test_headers_that_do_not_end_are_refused(self):
        answer = self.talk(b"GET /healthz HTTP/1.1\r\nHost: x\r\nX: " + b"a" * 65536)
        self.assertTrue(answer == b"" or re.match(rb"HTTP/1\.1 4\d\d ", answer), answer[:100])
        self.assertEqual(self.gateway.get("/healthz")[0], 200)

    def test_a_line_that_does_not_end_is_refused(self):
        answer = self.talk(b"GET /" + b"a" * 65536 + b" HTTP/1.1\r\nHost: x\r\n\r\n")
        self.assertTrue(answer == b"" or re.match(rb"HTTP/1\.1 4\d\d ", answer), answer[:100])
        self.assertEqual(self.gateway.get("/healthz")[0], 200)

    def test_a_body_is_let_go(self):
        before = self.gateway.memory()
        body = b"a" * (16 << 20)
        answer = self.talk(b"POST /reload HTTP/1.1\r\nHost: x\r\nContent-Length: %d\r\n\r\n"
                           % len(body) + body)
        self.assertIn(b"is in force", answer)
        self.assertLess(self.gateway.memory() - before, 8 << 20)

    def test_what_is_no_http_gets_no_more_than_a_refusal(self):
        for noise in (b"\0" * 100 + b"\r\n\r\n", b"\xff\xfe\r\n\r\n", b"GET\r\n\r\n",
                      b"GET / HTTP/9.9\r\n\r\n", b"\r\n" * 1000 + b"x\r\n\r\n"):
            self.assertNotIn(b" 200 ", self.talk(noise)[:20])
        self.assertEqual(self.gateway.get("/healthz")[0], 200)

    def test_two_requests_on_one_connection_are_one(self):
        answer = self.talk(b"GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n" * 2)
        self.assertEqual(answer.count(b"HTTP/1.1"), 1)


class Changes(unittest.TestCase):
    """Who may make the gateway change: POST."""

    def start(self, **admin):
        self.gateway = Gateway({**CONFIG, "admin": {"bind": "127.0.0.1:0", **admin}}, SCRIPTS,
                               self.directory)
        self.addCleanup(self.gateway.kill)
        self.gateway.start()

    def setUp(self):
        self.directory = Directory()
        self.addCleanup(self.directory.remove)

    def post(self, **headers):
        return self.gateway.post("/reload", headers)[0]

    def test_with_a_token_a_post_must_bring_it(self):
        self.directory.write_secret("token", "0123456789abcdef\n")
        self.start(token_file="token")
        for wrong in ("", "Bearer", "Bearer ", "Bearer 0123456789abcde", "0123456789abcdef",
                      "Bearer 0123456789abcdeF", "Bearer 0123456789abcdef0",
                      "Bearer  0123456789abcdef", "Basic 0123456789abcdef"):
            self.assertEqual(self.post(Authorization=wrong), 401, wrong)
        self.assertEqual(self.post(), 401)
        self.assertEqual(self.gateway.status()["sources"][0]["name"], "store", "GET is free")
        self.assertEqual(self.post(Authorization="Bearer 0123456789abcdef"), 200)
        self.assertEqual(self.post(Authorization="bearer 0123456789abcdef"), 200)
        self.assertNotIn("0123456789abcdef", self.gateway.text() + self.gateway.get("/status")[1])
        self.gateway.stop()

    def test_a_reload_reads_the_token_again(self):
        self.directory.write_secret("token", "0123456789abcdef")
        self.start(token_file="token")
        self.directory.write_secret("token", "fedcba9876543210")
        self.assertEqual(self.post(Authorization="Bearer fedcba9876543210"), 401)
        self.assertEqual(self.post(Authorization="Bearer 0123456789abcdef"), 200)
        self.assertEqual(self.post(Authorization="Bearer 0123456789abcdef"), 401)
        self.assertEqual(self.post(Authorization="Bearer fedcba9876543210"), 200)
        (self.directory.path / "token").chmod(0o644)
        self.assertEqual(self.post(Authorization="Bearer fedcba9876543210"), 422)
        self.gateway.stop()

    def test_a_browser_does_not_change_it_for_another_page(self):
        self.start()
        own = self.gateway.admin
        port = own.rsplit(":", 1)[1]
        for origin, host in (("http://evil.example", None), ("null", None),
                             ("https://127.0.0.1:" + port, None),
                             ("http://127.0.0.1:1", None),
                             # rebinding: a name of theirs that leads here
                             (f"http://evil.example:{port}", f"evil.example:{port}"),
                             (f"http://localhost.evil.example:{port}",
                              f"localhost.evil.example:{port}")):
            headers = {"Origin": origin, **({"Host": host} if host else {})}
            self.assertEqual(self.post(**headers), 403, origin)
        self.assertEqual(self.post(Origin=own), 200)
        self.assertEqual(self.post(Origin=f"http://localhost:{port}", Host=f"localhost:{port}"),
                         200)
        self.assertEqual(self.post(), 200, "no browser at all")
        self.gateway.wait_log("admin: refused a POST: a page of another site")
        self.gateway.stop()


if __name__ == "__main__":
    unittest.main()

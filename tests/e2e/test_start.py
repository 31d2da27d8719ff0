"""How the gateway starts, refuses to start, and ends."""

import re
import signal
import socket
import threading
import unittest

from support.deadline import until
from support.event import pack_batch
from support.gateway import Directory, Gateway, run
from support.publisher import Publisher
from support.subscriber import Process, Subscriber

EXIT_FAILURE, EXIT_USAGE, EXIT_CONFIG = 1, 2, 3


class Refusals(unittest.TestCase):
    """A start that cannot succeed ends at once, with a sentence that names the culprit."""

    def setUp(self):
        self.directory = Directory()
        self.addCleanup(self.directory.remove)

    def start(self, config, scripts=None):
        gateway = Gateway(config, scripts, self.directory)
        return run("run", gateway.path)

    def check(self, result, code, *patterns):
        self.assertEqual(result.returncode, code, result.stderr)
        for pattern in patterns:
            self.assertRegex(result.stderr, pattern)

    def busy_port(self):
        listener = socket.create_server(("127.0.0.1", 0))
        self.addCleanup(listener.close)
        return listener.getsockname()[1]

    def test_a_busy_stream_address_is_named(self):
        address = f"tcp://127.0.0.1:{self.busy_port()}"
        result = self.start({"sources": [{"name": "store"}],
                             "streams": [{"name": "acme", "bind": address}]})
        self.check(result, EXIT_FAILURE, f'stream "acme".*{address}.*(?i:address already in use)')

    def test_a_busy_source_address_is_named(self):
        address = f"tcp://127.0.0.1:{self.busy_port()}"
        result = self.start({"sources": [{"name": "store", "bind": address}],
                             "streams": [{"name": "all"}]})
        self.check(result, EXIT_FAILURE, f'source "store".*{address}.*(?i:address already in use)')

    def test_a_busy_admin_address_is_named(self):
        address = f"127.0.0.1:{self.busy_port()}"
        result = self.start({"admin": {"bind": address}, "sources": [{"name": "store"}],
                             "streams": [{"name": "all"}]})
        self.check(result, EXIT_FAILURE, f"admin.*{address}.*(?i:address already in use)")

    def test_an_ipc_path_that_cannot_be_is_named(self):
        address = "ipc:///no/such/directory/socket"
        result = self.start({"sources": [{"name": "store"}],
                             "streams": [{"name": "acme", "bind": address}]})
        self.check(result, EXIT_FAILURE, f'stream "acme".*{address}')

    def test_an_ipc_socket_in_use_is_not_taken_away(self):
        publisher = Publisher(self.directory.ipc("taken"))
        self.addCleanup(publisher.close)
        result = self.start({"sources": [{"name": "store"}],
                             "streams": [{"name": "acme", "bind": publisher.endpoint}]})
        self.check(result, EXIT_FAILURE, f'stream "acme".*{publisher.endpoint}')

    def test_an_endpoint_that_is_none_is_named(self):
        for endpoint in ("tcp://127.0.0.1", "127.0.0.1:5557", "smoke://signal",
                         "tcp://127.0.0.1:99999"):
            with self.subTest(endpoint):
                result = self.start({"sources": [{"name": "store", "connect": endpoint}],
                                     "streams": [{"name": "all"}]})
                self.assertIn(result.returncode, (EXIT_FAILURE, EXIT_CONFIG), result.stderr)
                self.assertIn(endpoint, result.stderr)

    def test_a_script_that_does_not_load_is_named_with_its_line(self):
        result = self.start({"sources": [{"name": "store"}], "streams": [{"name": "all"}],
                             "filters": [{"script": "bad.lua"}]},
                            {"bad.lua": "return function()\n  local x = = 1\nend\n"})
        self.check(result, EXIT_CONFIG, r"kvgate\.yaml:\d+:\d+: ", r"bad\.lua:2: ")

    def test_a_script_that_is_not_there_is_named(self):
        result = self.start({"sources": [{"name": "store"}], "streams": [{"name": "all"}],
                             "filters": [{"script": "missing.lua"}]})
        self.check(result, EXIT_CONFIG, r"kvgate\.yaml:\d+:\d+: .*missing\.lua")

    def test_a_configuration_that_is_not_there_is_named(self):
        result = run("run", self.directory.path / "nothing.yaml")
        self.check(result, EXIT_CONFIG, r"nothing\.yaml.*(?i:no such file)")

    def test_a_filter_is_no_configuration(self):
        for command in ("run", "check"):
            self.check(run(command, "split.lua"), EXIT_USAGE,
                       r"split\.lua is a filter; kvgate try takes it")

    def test_a_word_that_is_no_subcommand_is_a_mistake_of_usage(self):
        self.assertEqual(run("fly").returncode, EXIT_USAGE)
        self.assertEqual(run().returncode, EXIT_USAGE)
        self.assertEqual(run("run").returncode, EXIT_USAGE)


class Help(unittest.TestCase):
    """Who asks how, is told, and that is no mistake."""

    def check(self, arguments, pattern):
        result = run(*arguments)
        self.assertEqual((result.returncode, result.stderr), (0, ""))
        self.assertRegex(result.stdout, pattern)

    def test_each_command_says_how_it_is_used_both_ways(self):
        for command, usage in (("run", "run CONFIG"), ("check", "check CONFIG"),
                               ("sim", r"sim \[OPTION\]"), ("tap", r"tap \[NAME=\]ENDPOINT")):
            for arguments in ([command, "--help"], [command, "-h"], ["help", command]):
                with self.subTest(arguments):
                    self.check(arguments, rf"^usage: kvgate {usage}")

    def test_run_and_check_say_what_ends_them(self):
        self.check(["run", "--help"], r"(?s)SIGTERM.*SIGHUP.*Exit code 0")
        self.check(["check", "--help"], r"Exit code 0")

    def test_the_list_of_commands_stands_in_columns(self):
        lines = [line for line in run("help").stdout.splitlines() if line.startswith("  kvgate ")]
        for line in lines:
            self.assertRegex(line, r"^  kvgate .{9} .{20} \S")
            self.assertEqual(line[39], " ", line)

    def test_the_list_of_commands_names_the_version_too(self):
        for arguments in (["help"], ["--help"], ["-h"]):
            self.check(arguments, r"(?m)^  kvgate --version ")
        self.check(["--version"], r"^kvgate \d+\.\d+\.\d+\n$")

    def test_help_for_no_command_is_a_mistake_of_usage(self):
        result = run("help", "tpa")
        self.assertEqual(result.returncode, EXIT_USAGE)
        self.assertIn('did you mean "tap"?', result.stderr)


class Mistakes(unittest.TestCase):
    """Every mistake of a configuration, each with its place, in one run."""

    TEXT = """\
admin: { bind: "127.0.0.1:0" }
sources:
  - name: store
    conect: tcp://127.0.0.1:5557
    format: mooncake
  - name: store
    connect: tcp://127.0.0.1:5558
streams:
  - name: acme
    bind: tcp://127.0.0.1:6001
    acept: { tenant_id: [acme] }
    event_id: keeep
  - name: other
    bind: tcp://127.0.0.1:6001
    sources: [nobody]
    announce_after: never
"""

    def setUp(self):
        self.directory = Directory()
        self.addCleanup(self.directory.remove)
        self.path = self.directory.write("kvgate.yaml", self.TEXT)

    def check(self, result):
        self.assertEqual(result.returncode, EXIT_CONFIG, result.stderr)
        text = result.stdout + result.stderr
        for line, words in {4: "conect.*connect", 6: "store", 11: "acept.*accept",
                            12: "keeep.*keep", 14: "6001", 15: "nobody",
                            16: "never"}.items():
            with self.subTest(line=line):
                self.assertRegex(text, rf"(?m)^.*kvgate\.yaml:{line}:\d+: .*{words}")
        return text

    def test_run_tells_every_mistake_with_its_place(self):
        self.check(run("run", self.path))

    def test_check_tells_the_same(self):
        told = self.check(run("check", self.path))
        again = run("run", self.path)
        self.assertEqual(sorted(re.findall(r"kvgate\.yaml:\d+:\d+: .*", told)),
                         sorted(re.findall(r"kvgate\.yaml:\d+:\d+: .*",
                                           again.stdout + again.stderr)))

    def test_a_column_counts_from_1_and_points_at_the_word(self):
        text = run("check", self.path).stderr
        self.assertRegex(text, r"kvgate\.yaml:4:5: ")

    def test_yaml_that_is_none_has_its_place_too(self):
        self.path.write_text("sources: [\n", encoding="ascii")
        result = run("check", self.path)
        self.assertEqual(result.returncode, EXIT_CONFIG)
        self.assertRegex(result.stderr, r"kvgate\.yaml:\d+:\d+: ")


class Check(unittest.TestCase):
    def setUp(self):
        self.directory = Directory()
        self.addCleanup(self.directory.remove)

    def write(self, script):
        return Gateway({"sources": [{"name": "store"}], "streams": [{"name": "all"}],
                        "filters": [{"script": "filter.lua", "options": {"limit": 3}}]},
                       {"filter.lua": script}, self.directory).path

    def test_a_good_configuration_is_good(self):
        path = self.write("return function() return function() return true end end")
        self.assertEqual(run("check", path).returncode, 0)

    def test_scripts_are_loaded_and_run(self):
        path = self.write("return function(options)\n"
                          "  error('limit ' .. options.limit .. ' is too low', 0)\nend")
        result = run("check", path)
        self.assertEqual(result.returncode, EXIT_CONFIG)
        self.assertIn("limit 3 is too low", result.stdout + result.stderr)

    def test_no_socket_is_opened(self):
        listener = socket.create_server(("127.0.0.1", 0))
        self.addCleanup(listener.close)
        address = f"tcp://127.0.0.1:{listener.getsockname()[1]}"
        path = Gateway({"sources": [{"name": "store"}],
                        "streams": [{"name": "all", "bind": address}]},
                       None, self.directory).path
        result = run("check", path)
        self.assertEqual(result.returncode, 0, result.stderr)


class Silence(unittest.TestCase):
    """libzmq tries for ever and says nothing; the gateway does."""

    def test_a_source_that_finds_nobody_is_told_of(self):
        gateway = Gateway({
            "sources": [{"name": "misspelt", "connect": "tcp://no-such-host.invalid:5557"},
                        {"name": "lonely", "bind": "tcp://127.0.0.1:*"}],
            "streams": [{"name": "all"}],
        }).start()
        self.addCleanup(gateway.directory.remove)
        self.addCleanup(gateway.stop)
        gateway.wait_log(r'source "misspelt": no connection to tcp://no-such-host\.invalid:5557')
        gateway.wait_log(r'source "lonely": no publisher has come to tcp://127\.0\.0\.1:\d+')


class Again(unittest.TestCase):
    """A gateway that was killed leaves nothing behind that keeps the next from starting."""

    def test_after_sigkill_it_starts_again_on_the_same_addresses_and_counts_from_1(self):
        gateway = Gateway({"sources": [{"name": "store"}], "streams": [{"name": "all"}]})
        self.addCleanup(gateway.directory.remove)
        publisher = Publisher(gateway.config["sources"][0]["connect"])
        self.addCleanup(publisher.close)
        for _ in range(2):
            self.addCleanup(gateway.kill)
            gateway.start()
            gateway.wait_log("numbers start at 1")
            publisher.wait_subscribed()
            publisher.put("a")
            until(lambda g=gateway: g.source("store")["batches"], "a first message")
            stream = gateway.stream("all")
            self.assertEqual((stream["last_sequence"], stream["reserved_numbers"]), (1, 0))
            gateway.kill()
            gateway = Gateway(gateway.config, directory=gateway.directory)


class End(unittest.TestCase):
    """SIGTERM and SIGINT send what is in hand and end in under a second."""

    def setUp(self):
        self.gateway = Gateway({"sources": [{"name": "store", "gap_guard": False}],
                                "streams": [{"name": "all"}]})
        self.addCleanup(self.gateway.directory.remove)
        self.addCleanup(self.gateway.kill)
        self.publisher = Publisher(self.gateway.config["sources"][0]["connect"], hwm=5000)
        self.addCleanup(self.publisher.close)
        self.gateway.start()
        self.subscriber = Subscriber(self.gateway.config["streams"][0]["bind"])
        self.addCleanup(self.subscriber.close)
        self.publisher.wait_subscribed()

        def arrived():
            self.publisher.put("warm-up")
            return self.subscriber.pump(20)
        until(arrived, "a first message")
        self.publisher.put("start")
        self.subscriber.wait_label("start")
        self.subscriber.forget()

    def test_sigterm_ends_an_idle_gateway(self):
        self.gateway.stop(signal.SIGTERM)

    def test_sigint_ends_it_too(self):
        self.gateway.stop(signal.SIGINT)

    def test_what_was_received_is_sent_before_the_end(self):
        self.gateway.send_signal(signal.SIGSTOP)
        count = 50
        for index in range(count):
            self.publisher.put(f"k{index}")
        # Stopped, it cannot take them; once it runs, what it takes it must send.
        self.gateway.send_signal(signal.SIGCONT)
        self.gateway.stop()
        while self.subscriber.pump(100):
            pass
        labels = self.subscriber.labels()
        self.assertEqual(labels, [f"k{index}" for index in range(len(labels))])
        self.assertEqual(self.subscriber.gaps(), [])

    def test_a_gap_that_nothing_followed_is_announced_at_the_end(self):
        self.publisher.put("a")
        self.publisher.send_frames(b"alone")
        self.subscriber.wait_label("a")
        until(lambda: self.gateway.stream("all")["reserved_numbers"] == 1, "the loss")
        self.gateway.stop()
        self.subscriber.wait_story([["a"], 1, []])

    def test_a_flood_does_not_delay_the_end(self):
        payload = pack_batch([{"event_type": "stored", "object_key": f"k{index}"}
                              for index in range(64)])
        over = threading.Event()

        def flood():
            while not over.is_set():
                for _ in range(100):
                    self.publisher.send_payload(payload)
        thread = threading.Thread(target=flood)
        before = self.gateway.source("store")["batches"]
        thread.start()
        try:
            until(lambda: self.gateway.source("store")["batches"] > before + 1000, "a flood")
            self.gateway.stop()
        finally:
            over.set()
            thread.join()

    def test_a_subscriber_that_does_not_read_does_not_delay_the_end(self):
        slow = Process(self.gateway.stream("all")["endpoint"])
        self.addCleanup(slow.close)
        ready = threading.Thread(target=slow.number)
        ready.start()
        while ready.is_alive():
            self.publisher.put("again")
            ready.join(0.02)
        slow.send_signal(signal.SIGSTOP)
        payload = pack_batch([{"event_type": "stored", "object_key": "k" * 400}] * 64)
        before = self.gateway.source("store")["batches"]
        for _ in range(500):
            self.publisher.send_payload(payload)
        until(lambda: self.gateway.source("store")["batches"] >= before + 500, "all of it")
        self.gateway.stop()


if __name__ == "__main__":
    unittest.main()

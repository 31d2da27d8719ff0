"""Strangers: who has no right key neither reads a stream nor feeds a source."""

import os
import stat
import threading
import unittest

import zmq
import zmq.auth.thread

from support.curve import Keys, needs_curve, plain
from support.deadline import until
from support.gateway import Directory, Gateway, run
from support.publisher import Publisher
from support.subscriber import Subscriber

LOCAL = "tcp://127.0.0.1:*"


class CurveCase(unittest.TestCase):
    """A gateway with keys of its own; each test says what its sockets are like."""

    def setUp(self):
        self.directory = Directory()
        self.addCleanup(self.directory.remove)
        self.keys = Keys()
        self.keys.write(self.directory, "gateway.key")
        self.friend, self.stranger = Keys(), Keys()

    def start(self, source=None, stream=None, **more):
        """A gateway with one source and one stream, and a publisher of no keys unless the source
        has some."""
        self.gateway = Gateway({
            "sources": [{"name": "store", "gap_guard": False, **(source or {})}],
            "streams": [{"name": "all", **(stream or {})}], **more}, directory=self.directory)
        self.addCleanup(self.gateway.kill)
        self.gateway.start()
        return self.gateway

    def start_server(self, **curve):
        """A stream that is a CURVE server, and a publisher for it."""
        self.start(stream={"bind": LOCAL, "curve": {"secret_key_file": "gateway.key", **curve}})
        self.publish()

    def publish(self, endpoint=None, **options):
        endpoint = endpoint or self.gateway.config["sources"][0]["connect"]
        self.publisher = Publisher(endpoint, **options)
        self.addCleanup(self.publisher.close)

    def subscribe(self, keys=None, endpoint=None, **options):
        subscriber = Subscriber(endpoint or self.gateway.stream("all")["endpoint"], keys=keys,
                                **options)
        self.addCleanup(subscriber.close)
        return subscriber

    def refused(self, by, side='stream="all"'):
        kind = side.split("=")[0]
        return self.gateway.metrics()[f'kvgate_{kind}_refused_total{{{side},cause="{by}"}}']

    def reload(self, code=200):
        answer = self.gateway.post("/reload")
        self.assertEqual(answer[0], code, answer[1])
        return answer[1]

    def hears(self, subscriber):
        """Publish until it has a message."""
        def look():
            self.publisher.put("k")
            subscriber.pump(20)
            return subscriber.messages
        until(look, "a message")
        subscriber.forget()

    def is_deaf(self, subscriber, friend):
        """What a friend has heard, the other has not."""
        for _ in range(3):
            self.hears(friend)
        subscriber.pump(50)
        self.assertEqual(subscriber.messages, [])

    def tearDown(self):
        if hasattr(self, "gateway") and self.gateway.process.poll() is None:
            self.gateway.check_identity()
            everything = (self.gateway.text() + self.gateway.get("/status")[1] +
                          self.gateway.get("/metrics")[1])
            self.assertNotIn(self.keys.secret, everything)
            self.gateway.stop()


@needs_curve
class Streams(CurveCase):
    def test_a_client_on_the_list_is_let_in_and_nobody_else(self):
        self.start_server(allow=[self.friend.public])
        friend = self.subscribe(self.friend.client(self.keys))
        self.hears(friend)
        stranger = self.subscribe(self.stranger.client(self.keys))
        until(lambda: self.refused("key") >= 1, "the stranger to be refused")
        self.is_deaf(stranger, friend)
        said = self.gateway.wait_log(r'stream "all": refused 127\.0\.0\.1, whose key is not '
                                     r'allowed: (\S+)')
        self.assertEqual(said.group(1), self.stranger.public)
        self.assertEqual(self.refused("handshake"), 0)

    def test_without_a_list_any_key_will_do_if_it_knows_the_servers(self):
        self.start_server()
        one = self.subscribe(self.friend.client(self.keys))
        self.hears(one)
        self.hears(self.subscribe(self.stranger.client(self.keys)))
        wrong = self.subscribe(self.friend.client(self.stranger))
        until(lambda: self.refused("handshake") >= 1, "another server key to be refused")
        self.gateway.wait_log(r'stream "all": a handshake at tcp://127\.0\.0\.1:\d+ came to '
                              'nothing')
        self.is_deaf(wrong, one)
        self.assertEqual(self.refused("key"), 0)

    def test_who_has_no_key_hears_nothing(self):
        self.start_server()
        friend = self.subscribe(self.friend.client(self.keys))
        naked = self.subscribe()
        named = self.subscribe(plain("me", "open"))
        until(lambda: self.refused("handshake") >= 2, "both to be refused")
        self.gateway.wait_log("one end speaks CURVE or PLAIN, the other does not")
        self.is_deaf(naked, friend)
        self.is_deaf(named, friend)

    def test_an_empty_list_lets_nobody_in(self):
        self.start_server(allow=[])
        self.subscribe(self.friend.client(self.keys))
        until(lambda: self.refused("key") >= 1, "the client to be refused")
        self.assertEqual(self.gateway.metrics()['kvgate_stream_subscribers{stream="all"}'], 0)

    def test_another_list_holds_for_connections_from_then_on(self):
        self.directory.write("clients", f"{self.friend.public} a friend\n")
        self.start_server(allow_file="clients")
        friend = self.subscribe(self.friend.client(self.keys))
        self.hears(friend)
        self.directory.write("clients", f"# all change\n{self.stranger.public}\n")
        self.reload()
        self.hears(self.subscribe(self.stranger.client(self.keys)))
        self.hears(friend)  # is in, and stays
        late = self.subscribe(self.friend.client(self.keys))
        until(lambda: self.refused("key") >= 1, "the friend to be refused when it comes again")
        self.is_deaf(late, friend)

    def test_a_wrong_list_changes_nothing(self):
        self.directory.write("clients", f"{self.friend.public}\n")
        self.start_server(allow_file="clients")
        self.directory.write("clients", "no key\n")
        self.assertRegex(self.reload(422),
                         r"kvgate\.yaml:\d+:\d+: allow_file: \S+/clients:1: that is no key")
        self.hears(self.subscribe(self.friend.client(self.keys)))

    def test_another_secret_key_is_a_new_socket_on_the_same_address(self):
        port = zmq.Context.instance().socket(zmq.PUB)
        endpoint = f"tcp://127.0.0.1:{port.bind_to_random_port('tcp://127.0.0.1')}"
        port.close(linger=0)
        for bind in (endpoint, self.directory.ipc("all.out")):
            with self.subTest(bind=bind):
                self.keys.write(self.directory, "gateway.key")
                until(lambda b=bind: self.can_start(b), "the address to be free")
                self.publish()
                self.hears(self.subscribe(self.friend.client(self.keys)))
                new = Keys()
                new.write(self.directory, "gateway.key")
                self.reload()
                numbers = self.gateway.stream("all")["last_sequence"]
                subscriber = self.subscribe(self.friend.client(new))
                self.hears(subscriber)
                self.assertGreater(subscriber.base, numbers)
                self.gateway.stop()
                self.publisher.close()

    def can_start(self, bind):
        try:
            self.start(stream={"bind": bind, "curve": {"secret_key_file": "gateway.key"}})
            return True
        except AssertionError:
            return False

    def test_a_reload_that_fails_leaves_the_old_key_and_its_address(self):
        self.start_server()
        taken = zmq.Context.instance().socket(zmq.PUB)
        self.addCleanup(taken.close, 0)
        taken.bind(LOCAL)
        config = self.gateway.config
        config["streams"][0]["bind"] = self.gateway.stream("all")["endpoint"]
        config["streams"].append({"name": "more", "announce_after": "60m",
                                  "bind": taken.getsockopt_string(zmq.LAST_ENDPOINT)})
        Keys().write(self.directory, "gateway.key")
        self.gateway.configure(config)
        self.assertIn("already in use", self.reload(409))
        self.hears(self.subscribe(self.friend.client(self.keys)))

    def test_a_stream_that_connects_is_the_client_or_the_server_if_it_says_so(self):
        for role, theirs in (("client", self.stranger.server),
                             ("server", self.friend.client(self.keys))):
            with self.subTest(role=role):
                subscriber = self.subscribe(theirs, LOCAL, bind=True)
                curve = {"secret_key_file": "gateway.key", "role": role}
                if role == "client":
                    curve["server_key"] = self.stranger.public
                self.start(stream={"connect": subscriber.endpoint, "curve": curve})
                self.publish()
                self.hears(subscriber)
                self.gateway.stop()
                self.publisher.close()

    def test_tap_hears_an_encrypted_stream(self):
        self.directory.write_secret("tap.key", self.friend.secret + "\n")
        self.start_server(allow=[self.friend.public])
        friend = self.subscribe(self.friend.client(self.keys))
        self.hears(friend)
        endpoint = self.gateway.stream("all")["endpoint"]
        done = threading.Event()

        def feed():
            while not done.is_set():
                self.publisher.put("for-tap")
                done.wait(0.02)
        feeder = threading.Thread(target=feed)
        feeder.start()
        try:
            for server in (self.keys.public, self.directory.path / "gateway.key.pub"):
                result = run("tap", endpoint, "--count", "1", "--curve-key",
                             self.directory.path / "tap.key", "--curve-server-key", server)
                self.assertIn("for-tap", result.stdout)
        finally:
            done.set()
            feeder.join()


@needs_curve
class Sources(CurveCase):
    def curve(self, **more):
        return {"secret_key_file": "gateway.key", **more}

    def test_a_source_that_connects_knows_its_publisher(self):
        master = Keys()
        endpoint = self.directory.ipc("master")
        self.start(source={"connect": endpoint, "curve": self.curve(server_key=master.public)})
        self.publish(endpoint, keys=master.server)
        self.hears(self.subscribe())

    def test_a_publisher_with_another_key_is_none(self):
        endpoint = self.directory.ipc("master")
        self.start(source={"connect": endpoint, "curve": self.curve(server_key=Keys().public)})
        self.publish(endpoint, keys=Keys().server)
        until(lambda: self.refused("handshake", 'source="store"') >= 1, "a refusal")
        self.gateway.wait_log('source "store": a handshake at ipc://.* came to nothing')
        self.assertEqual(self.gateway.get("/readyz")[0], 503)

    def test_a_publisher_without_keys_is_none(self):
        endpoint = self.directory.ipc("master")
        self.start(source={"connect": endpoint, "curve": self.curve(server_key=Keys().public)})
        self.publish(endpoint)
        until(lambda: self.refused("handshake", 'source="store"') >= 1, "a refusal")
        self.assertEqual(self.gateway.get("/readyz")[0], 503)

    def test_a_source_that_was_refused_comes_again(self):
        """libzmq gives up for good on a server that says no: a list that was mended was no help."""
        master = Keys()
        endpoint = self.directory.ipc("master")
        self.publish(endpoint, bind=False)  # only its context is used
        guard = zmq.auth.thread.ThreadAuthenticator(self.publisher.context)
        guard.start()
        self.addCleanup(guard.stop)
        known = []

        class Provider:
            def callback(self, domain, key):
                return key.decode("ascii") in known
        guard.configure_curve_callback(credentials_provider=Provider())
        self.publisher.kill()
        self.publisher.binds, self.publisher.keys = True, master.server
        self.publisher.open()
        self.start(source={"connect": endpoint, "curve": self.curve(server_key=master.public)})
        until(lambda: self.refused("key", 'source="store"') >= 2, "two refusals")
        self.gateway.wait_log('source "store": .* came to nothing: the key or password is not '
                              'let in')
        known.append(self.keys.public)
        until(lambda: self.gateway.get("/readyz")[0] == 200, "the source to be connected")
        self.publisher.wait_subscribed()
        self.hears(self.subscribe())

    def test_nobody_but_those_on_the_list_feeds_a_source_that_binds(self):
        self.start(source={"bind": LOCAL, "curve": self.curve(allow=[self.friend.public])})
        endpoint = self.gateway.source("store")["endpoint"]
        subscriber = self.subscribe()
        stranger = Publisher(endpoint, bind=False, keys=self.stranger.client(self.keys))
        self.addCleanup(stranger.close)
        naked = Publisher(endpoint, bind=False)
        self.addCleanup(naked.close)
        until(lambda: self.refused("key", 'source="store"') >= 1 and
              self.refused("handshake", 'source="store"') >= 1, "both to be refused")
        stranger.put("from-a-stranger")
        naked.put("from-a-stranger")
        self.publish(endpoint, bind=False, keys=self.friend.client(self.keys))
        self.publisher.wait_subscribed()
        self.hears(subscriber)
        self.assertNotIn("from-a-stranger", subscriber.labels())
        self.assertEqual(self.gateway.source("store")["restarts"], 0)


class Plain(CurveCase):
    def setUp(self):
        super().setUp()
        self.directory.write_secret("password", "open sesame\n")
        self.plain = {"username": "me", "password_file": "password"}

    def test_who_says_the_password_is_let_in(self):
        self.start(stream={"plain": self.plain})
        self.publish()
        friend = self.subscribe(plain("me", "open sesame"))
        self.hears(friend)
        for number, (name, password) in enumerate(
                [("me", "open"), ("you", "open sesame"), ("me", "open sesame ")]):
            stranger = self.subscribe(plain(name, password))
            until(lambda n=number: self.refused("key") > n, "a refusal")
            self.is_deaf(stranger, friend)
        self.gateway.wait_log('stream "all": refused .*: wrong password')
        self.assertNotIn("sesame", self.gateway.text())

    def test_a_source_says_the_password(self):
        self.start(source={"connect": self.directory.ipc("master"), "plain": self.plain})
        self.publish(bind=False)
        guard = zmq.auth.thread.ThreadAuthenticator(self.publisher.context)
        guard.start()
        self.addCleanup(guard.stop)
        guard.configure_plain(passwords={"me": "open sesame"})
        self.publisher.kill()
        self.publisher.binds = True
        self.publisher.keys = lambda socket: socket.setsockopt(zmq.PLAIN_SERVER, 1)
        self.publisher.open()
        self.publisher.wait_subscribed()
        self.hears(self.subscribe())

    def test_it_is_refused_where_others_could_read_it(self):
        path = self.directory.write("c.yaml", """
            sources: [ { name: s, connect: "ipc:///x" } ]
            streams:
              - { name: a, bind: "tcp://*:1", plain: { username: u, password_file: password } }
            """)
        result = run("check", path)
        self.assertEqual(result.returncode, 3)
        self.assertIn("plain: the password could be read on the way", result.stderr)


class Files(CurveCase):
    def check(self):
        self.directory.write("c.yaml", """
            sources: [ { name: s, connect: "ipc:///x" } ]
            streams: [ { name: a, bind: "ipc:///y", curve: { secret_key_file: gateway.key } } ]
            """)
        return run("check", self.directory.path / "c.yaml")

    def test_a_key_that_others_can_read_is_refused_with_what_mends_it(self):
        self.assertEqual(self.check().returncode, 0)
        path = self.directory.path / "gateway.key"
        for mode in (0o640, 0o604, 0o660):
            path.chmod(mode)
            result = self.check()
            self.assertEqual(result.returncode, 3)
            self.assertRegex(result.stderr, rf"^\S+c\.yaml:3:\d+: secret_key_file: {path} is open "
                             rf"to others \(mode {mode:04o}\), expected 0600: chmod 600 {path}\n$")
        path.chmod(0o400)
        self.assertEqual(self.check().returncode, 0)

    @unittest.skipUnless(os.geteuid() == 0, "only root gives files away")
    def test_a_key_that_belongs_to_somebody_else_is_refused(self):
        os.chown(self.directory.path / "gateway.key", 65534, 65534)
        self.assertIn("belongs to user 65534, who can change it", self.check().stderr)


@needs_curve
class Keygen(unittest.TestCase):
    def setUp(self):
        self.directory = Directory()
        self.addCleanup(self.directory.remove)
        self.path = self.directory.path / "own.key"

    def test_it_writes_a_pair_that_libzmq_takes(self):
        old = os.umask(0o027)
        try:
            result = run("keygen", self.path)
        finally:
            os.umask(old)
        self.assertEqual((result.returncode, result.stderr), (0, ""))
        public = self.path.with_suffix(".key.pub")
        secret = self.path.read_bytes()
        self.assertRegex(secret.decode(), r"^\S{40}\n$")
        self.assertEqual(zmq.curve_public(secret[:40]), public.read_bytes()[:40])
        self.assertEqual(result.stdout, public.read_text())
        self.assertEqual(stat.S_IMODE(self.path.stat().st_mode), 0o600)
        self.assertEqual(stat.S_IMODE(public.stat().st_mode), 0o644)

    def test_it_overwrites_nothing(self):
        for there in (self.path, self.path.with_suffix(".key.pub")):
            there.write_text("mine")
            result = run("keygen", self.path)
            self.assertEqual(result.returncode, 1)
            self.assertIn("it is there already", result.stderr)
            self.assertEqual([p.name for p in self.directory.path.iterdir()], [there.name])
            self.assertEqual(there.read_text(), "mine")
            there.unlink()
        self.path.symlink_to(self.directory.path / "elsewhere")
        self.assertEqual(run("keygen", self.path).returncode, 1)
        self.assertEqual(len(list(self.directory.path.iterdir())), 1)

    def test_it_says_why_it_cannot_write(self):
        result = run("keygen", self.directory.path / "no" / "where")
        self.assertEqual(result.returncode, 1)
        self.assertIn("No such file or directory", result.stderr)
        self.assertEqual(run("keygen").returncode, 2)
        self.assertEqual(run("keygen", "a", "b").returncode, 2)


class Open(CurveCase):
    """What strangers can reach says so."""

    def warnings(self):
        return [line.split(" warn ")[1].strip() for line in self.gateway.log
                if "open to other machines" in line]

    def test_a_socket_beyond_this_machine_without_curve_says_so_at_every_start(self):
        self.start(source={"bind": "tcp://*:*"}, stream={"bind": "tcp://0.0.0.0:*"})
        self.assertEqual(len(self.warnings()), 2)
        self.assertRegex(self.warnings()[0], r'^source "store": tcp://\S+ is open to other '
                         r'machines without curve: whoever reaches it can send events$')
        self.assertRegex(self.warnings()[1], r'^stream "all": tcp://\S+ is open to other machines '
                         r'without curve: whoever reaches it can read it$')

    def test_a_reload_warns_of_what_it_opens(self):
        self.start(stream={"bind": "tcp://0.0.0.0:*"})
        config = self.gateway.config
        config["streams"].append({"name": "more", "bind": "tcp://*:*", "announce_after": "60m"})
        self.gateway.configure(config)
        self.reload()
        self.reload()
        self.assertEqual([warning.split(":")[0] for warning in self.warnings()],
                         ['stream "all"', 'stream "more"'])

    def test_addresses_of_this_machine_say_nothing(self):
        self.start(source={"bind": LOCAL})
        self.assertEqual(self.warnings(), [])

    @needs_curve
    def test_nor_do_those_with_curve(self):
        curve = {"secret_key_file": "gateway.key"}
        self.start(source={"bind": "tcp://*:*", "curve": curve},
                   stream={"bind": "tcp://*:*", "curve": curve})
        self.assertEqual(self.warnings(), [])

    def test_the_admin_address_says_so_too(self):
        self.start(admin={"bind": "0.0.0.0:0"})
        self.assertRegex(self.warnings()[0], r"^admin: 0\.0\.0\.0:\d+ is open to other machines, "
                         r"unencrypted; whoever reaches it can reload: set admin\.token_file$")


if __name__ == "__main__":
    unittest.main()

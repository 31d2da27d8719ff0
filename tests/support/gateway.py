"""The gateway as a process: its files in a directory of its own, its log in our hands."""

import json
import os
import pathlib
import re
import shutil
import signal
import subprocess
import tempfile
import threading
import time
import urllib.error
import urllib.request

from support.deadline import SLOWNESS, until

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
# What a sanitizer sets aside of freed memory is not the gateway's.
ENVIRONMENT = {"ASAN_OPTIONS": "quarantine_size_mb=1", **os.environ}
NO_PROFILER = os.environ.get("NO_PROFILER", str(ROOT / "build" / "tests" / "no_profiler.so"))
PROGRAM = os.environ.get("KVGATE", str(ROOT / "build" / "kvgate"))


def without_profiler(how):
    """Variables with which LuaJIT's profiler is "deaf" or "taken", see no_profiler.c."""
    return {"LD_PRELOAD": NO_PROFILER, "KVGATE_PROFILER": how,
            "ASAN_OPTIONS": ENVIRONMENT["ASAN_OPTIONS"] + ":verify_asan_link_order=0"}


def run(*arguments, seconds=30, input=None, environment=None):
    """The program to its end; stdout and stderr as text."""
    return subprocess.run([PROGRAM, *map(str, arguments)], capture_output=True, text=True,
                          input=input, errors="replace", timeout=seconds * SLOWNESS, check=False,
                          env={**os.environ, **(environment or {})})


class Directory:
    """Where one gateway has its configuration, scripts and ipc sockets."""

    def __init__(self):
        self.path = pathlib.Path(tempfile.mkdtemp(prefix="kvgate-"))

    def write(self, name, text):
        path = self.path / name
        path.write_text(text, encoding="utf-8")
        return path

    def write_secret(self, name, text):
        path = self.write(name, text)
        path.chmod(0o600)
        return path

    def ipc(self, name):
        return f"ipc://{self.path}/{name}"

    def remove(self):
        shutil.rmtree(self.path, ignore_errors=True)


def complete(config, directory):
    """Give sources, streams and the admin address what a test did not care to say.

    Unless a test is about announcements none shall come between, however slow the machine is;
    `None` asks for the program's own default.
    """
    config = json.loads(json.dumps(config))
    config.setdefault("admin", {"bind": "127.0.0.1:0"})
    for socket, ending in [(s, "in") for s in config["sources"]] + \
                          [(s, "out") for s in config["streams"]]:
        side = "connect" if ending == "in" else "bind"
        if "connect" not in socket and "bind" not in socket:
            socket[side] = directory.ipc(f"{socket['name']}.{ending}")
    letters = config.get("dead_letters", {"connect": None})
    if "connect" not in letters:
        letters.setdefault("bind", directory.ipc("dead_letters.out"))
    for source in config["sources"]:
        source.setdefault("format", "mooncake")
    for stream in config["streams"]:
        if stream.setdefault("announce_after", "60m") is None:
            del stream["announce_after"]
    return config


class Gateway:
    """A running `kvgate run`.  Its log is in `log`; `stop()` checks how it ends."""

    def __init__(self, config, scripts=None, directory=None):
        self.directory = directory or Directory()
        for name, text in (scripts or {}).items():
            self.directory.write(name, text)
        self.configure(config)
        self.log = []
        self.process = None
        self.admin = None

    def configure(self, config):
        """Write the configuration; a dict becomes JSON, which is YAML too."""
        if not isinstance(config, str):
            self.config = complete(config, self.directory)
            config = json.dumps(self.config, indent=1)
        self.path = self.directory.write("kvgate.yaml", config)

    # ---- the process ----

    def start(self, environment=None, prepare=None):
        """`prepare` is called in the new process before it becomes the program."""
        self.process = subprocess.Popen([PROGRAM, "run", str(self.path)],
                                        env={**ENVIRONMENT, **(environment or {})},
                                        stdin=subprocess.DEVNULL, stderr=subprocess.PIPE,
                                        preexec_fn=prepare)
        self.reader = threading.Thread(target=self._read_log, daemon=True)
        self.reader.start()
        self.admin = self.wait_log(r"admin on (http://\S+)").group(1).rstrip("/")
        until(lambda: self.get("/healthz")[0] == 200, "/healthz to answer 200")
        return self

    def _read_log(self):
        for line in self.process.stderr:
            self.log.append(line.decode("utf-8", "replace").rstrip("\n"))

    def find_log(self, pattern, start=0):
        matches = (re.search(pattern, line) for line in self.log[start:])
        return next((match for match in matches if match), None)

    def wait_log(self, pattern, start=0):
        def look():
            found = self.find_log(pattern, start)
            if found is None and self.process.poll() is not None:
                self.reader.join(5)
                found = self.find_log(pattern, start)
                assert found, f"the gateway ended before it said {pattern!r}:\n" + self.text()
            return found
        return until(look, lambda: f"a log line {pattern!r} in:\n{self.text()}")

    def text(self):
        return "\n".join(self.log)

    def send_signal(self, number):
        self.process.send_signal(number)

    def stop(self, number=signal.SIGTERM):
        """Ask it to end: it does, in under a second, with exit code 0."""
        began = time.monotonic()
        self.send_signal(number)
        try:
            code = self.process.wait(10 * SLOWNESS)
        except subprocess.TimeoutExpired:
            self.kill()
            raise AssertionError("the gateway did not end:\n" + self.text()) from None
        took = time.monotonic() - began
        self.reader.join(5)
        self.process.stderr.close()
        assert code == 0, f"exit code {code}:\n" + self.text()
        assert took < SLOWNESS, f"took {took:.2f} s to end"

    def kill(self):
        """For whatever is left when a test failed."""
        if self.process and self.process.poll() is None:
            self.process.kill()
            self.process.wait()
            self.reader.join(5)
            self.process.stderr.close()

    def alive(self):
        return self.process.poll() is None

    def processor_time(self):
        """Seconds that it ran, in hundredths."""
        text = pathlib.Path(f"/proc/{self.process.pid}/stat").read_text(encoding="ascii")
        user, system = text.rsplit(")", 1)[1].split()[11:13]
        return (int(user) + int(system)) / os.sysconf("SC_CLK_TCK")

    def memory(self):
        """Resident bytes now."""
        text = pathlib.Path(f"/proc/{self.process.pid}/status").read_text(encoding="ascii")
        return int(re.search(r"VmRSS:\s+(\d+) kB", text).group(1)) * 1024

    # ---- the admin address ----

    def get(self, path, method="GET", accept="*/*", headers=None):
        request = urllib.request.Request(self.admin + path, method=method,
                                         headers={"Accept": accept, **(headers or {})},
                                         data=b"" if method == "POST" else None)
        try:
            with urllib.request.urlopen(request, timeout=10 * SLOWNESS) as answer:
                return answer.status, answer.read().decode("utf-8")
        except urllib.error.HTTPError as error:
            with error:
                return error.code, error.read().decode("utf-8")

    def post(self, path, headers=None):
        return self.get(path, "POST", headers=headers)

    def status(self):
        return json.loads(self.get("/status")[1])

    def source(self, name):
        return next(s for s in self.status()["sources"] if s["name"] == name)

    def stream(self, name):
        return next(s for s in self.status()["streams"] if s["name"] == name)

    def metrics(self):
        """Sample (name with labels, as written) to value."""
        samples = {}
        for line in self.get("/metrics")[1].splitlines():
            if line and not line.startswith("#"):
                sample, value = line.rsplit(" ", 1)
                assert sample not in samples, f"{sample} is there twice"
                samples[sample] = float(value)
        return samples

    def check_identity(self):
        """last_seq = published_batches + reserved_numbers, on every stream."""
        for stream in self.status()["streams"]:
            total = stream["published_batches"] + stream["reserved_numbers"]
            assert stream["last_sequence"] == total, f"the identity does not hold: {stream}"

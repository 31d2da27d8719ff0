"""What the program does with filters that take too much."""

import signal
import time
import unittest

from support.case import GatewayCase
from support.deadline import SLOWNESS, until
from support.gateway import Directory, Gateway, run, without_profiler
from support.publisher import Publisher
from support.subscriber import Subscriber

LIMITS = {"event": "20ms", "load": "200ms", "stuck": "300ms", "memory": "32MiB"}
HOSTILE = """
local words = {
  loop = function() while true do end end,
  swallow = function() while true do pcall(function() while true do end end) end end,
  bomb = function() local s = "x" while true do s = s .. s end end,
  pattern = function()
    return ("a"):rep(60):find(("a?"):rep(60) .. ("a"):rep(60) .. "b") == nil
  end,
}

return function()
  return function(event)
    local key = event.object_key
    local word = key and words[key]
    return not word or word()
  end
end
"""


def config(jit, **limits):
    return {"sources": [{"name": "store", "gap_guard": False}], "limits": {**LIMITS, **limits},
            "jit": jit, "filters": [{"script": "hostile.lua"}], "streams": [{"name": "all"}]}


class Stopped(GatewayCase):
    # A string that doubles takes its time where memory is checked.
    config = config("auto")
    scripts = {"hostile.lua": HOSTILE}

    def test_hostile_events_are_lost_with_a_gap_and_their_neighbours_are_not(self):
        self.publisher.put("a", "loop", "b", "swallow", "c", "bomb", "d")
        self.subscriber.wait_story([["a"], 1, ["b"], 1, ["c"], 1, ["d"]])
        self.gateway.wait_log(r"hostile\.lua: ran out of time; event \d+ of source \"store\" is "
                              r"lost: \S+hostile\.lua:3: ran for more than 20 ms", self.log_start)

    def test_a_filter_that_keeps_failing_is_named_and_goes_on(self):
        self.publisher.put(*["loop"] * 12, "good")
        self.subscriber.wait_label("good")
        self.gateway.wait_log(r"filter hostile\.lua keeps failing: 10 errors within 10 s")
        code, text = self.gateway.get("/readyz")
        self.assertEqual((code, text), (200, "filter hostile.lua keeps failing: see the log\nok\n"))

    def test_a_new_generation_is_stopped_as_the_old_one_was(self):
        for _ in range(2):
            self.assertEqual(self.gateway.post("/reload")[0], 200)
            self.publisher.put("a", "loop", "b")
            self.publisher.put("end")
            self.subscriber.wait_story([["a"], 1, ["b"], ["end"]])
            self.settle()

    def test_a_script_that_loops_while_it_loads_changes_nothing(self):
        path = self.gateway.directory.path / "hostile.lua"
        path.write_text("\nwhile true do end\n", encoding="utf-8")
        code, text = self.gateway.post("/reload")
        path.write_text(HOSTILE, encoding="utf-8")
        self.assertEqual(code, 422)
        self.assertIn("hostile.lua:2: ran for more than 200 ms", text)
        self.publisher.put("a", "loop", "b")
        self.subscriber.wait_story([["a"], 1, ["b"]])


class StoppedWithoutCompiler(Stopped):
    config = config("off")


class StoppedWithADeafProfiler(Stopped):
    """LuaJIT's profiler does not reach compiled code: what is found out by trying."""

    environment = without_profiler("deaf")
    warning = "this LuaJIT's compiled loops cannot be stopped: filters run without the compiler"

    def test_the_log_says_that_the_compiler_is_off(self):
        self.gateway.wait_log(self.warning)


class StoppedWithoutProfiler(StoppedWithADeafProfiler):
    """Somebody else in the process has it."""

    environment = without_profiler("taken")


class StoppedWithSignalBlocked(Stopped):
    """As whoever started the program left it."""

    @staticmethod
    def prepare():
        signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGPROF})

    def test_the_compiler_is_on(self):
        self.assertIsNone(self.gateway.find_log("without the compiler"))


class StoppedWithSignalIgnored(StoppedWithSignalBlocked):
    @staticmethod
    def prepare():
        signal.signal(signal.SIGPROF, signal.SIG_IGN)


class StoppedUnderProfiler(StoppedWithSignalBlocked):
    """A timer for another profiler, every millisecond, which exec does not stop."""

    @staticmethod
    def prepare():
        signal.signal(signal.SIGPROF, signal.SIG_IGN)
        signal.setitimer(signal.ITIMER_PROF, 0.001, 0.001)


class Stuck(unittest.TestCase):
    def start(self, jit, prepare=None):
        gateway = Gateway(config(jit), {"hostile.lua": HOSTILE})
        self.addCleanup(gateway.directory.remove)
        self.addCleanup(gateway.kill)
        publisher = Publisher(gateway.config["sources"][0]["connect"])
        self.addCleanup(publisher.close)
        gateway.start(prepare=prepare)
        publisher.wait_subscribed()
        return gateway, publisher

    def wait_end(self, gateway):
        self.assertEqual(gateway.process.wait(20 * SLOWNESS), 70)
        gateway.reader.join(5)
        gateway.process.stderr.close()

    def check(self, jit, prepare=None):
        gateway, publisher = self.start(jit, prepare)
        publisher.put("a", "pattern")
        self.wait_end(gateway)
        self.assertRegex(gateway.log[-1],
                         r"^kvgate: filter \S+/hostile\.lua does not come back from event 2, and no "
                         r"error stops it: the process ends$")

    def test_what_no_hook_stops_ends_the_process(self):
        self.check("auto")

    def test_what_no_hook_stops_ends_the_process_without_the_compiler(self):
        self.check("off")

    def test_what_no_hook_stops_ends_the_process_that_got_the_signal_blocked(self):
        self.check("auto", StoppedWithSignalBlocked.prepare)

    def test_a_process_that_is_frozen_in_the_middle_of_an_event_stops_it_and_goes_on(self):
        """It ended at once: its time and `stuck` were over before anything had been stopped."""
        gateway = Gateway(config("auto", event="500ms", stuck="100ms"), {"hostile.lua": HOSTILE})
        self.addCleanup(gateway.directory.remove)
        self.addCleanup(gateway.kill)
        publisher = Publisher(gateway.config["sources"][0]["connect"])
        self.addCleanup(publisher.close)
        gateway.start()
        publisher.wait_subscribed()
        idle = gateway.processor_time()
        publisher.put("loop")
        until(lambda: gateway.processor_time() >= idle + 0.02, "the filter to run")
        gateway.send_signal(signal.SIGSTOP)
        frozen = time.monotonic()
        until(lambda: time.monotonic() > frozen + 1, "its time to be over")
        gateway.send_signal(signal.SIGCONT)
        gateway.wait_log(r"ran out of time; event 1 .*ran for more than 500 ms")
        gateway.stop()

    def test_a_supervisor_that_starts_it_again_has_it_running_and_readers_see_a_restart(self):
        gateway, publisher = self.start("auto")
        subscriber = Subscriber(gateway.config["streams"][0]["bind"])
        self.addCleanup(subscriber.close)
        last = None
        for ends in range(3):
            until(lambda: publisher.put("a") or subscriber.pump(20), "a first message")
            if last is not None:
                self.assertLess(subscriber.messages[0].number, last)
            for _ in range(200):
                publisher.put("b")
            publisher.put("c")
            subscriber.wait_label("c")
            last = subscriber.messages[-1].number
            if ends == 2:
                break
            publisher.put("pattern", "never seen")
            self.wait_end(gateway)
            while subscriber.pump(20):
                pass
            self.assertNotIn("never seen", subscriber.labels())
            subscriber.messages = []
            gateway.log.clear()
            gateway.start()
            publisher.wait_subscribed()
        gateway.stop()


class Configuration(unittest.TestCase):
    def check(self, text, environment=None):
        directory = Directory()
        self.addCleanup(directory.remove)
        path = directory.write("kvgate.yaml", text + """
sources: [{ name: store, connect: tcp://127.0.0.1:5557 }]
streams: [{ name: all, bind: "tcp://127.0.0.1:*" }]
""")
        done = run("check", path, environment=environment)
        return done.returncode, (done.stdout + done.stderr).replace(str(path), "@")

    def test_every_limit_can_be_set(self):
        for text in ("limits: { event: 10ms, load: 1s, stuck: 1m, memory: 1GiB }\njit: on",
                     "limits: { memory: 67108864 }\njit: off", "limits: {}", "jit: auto"):
            self.assertEqual(self.check(text)[0], 0, text)

    def test_a_compiler_that_cannot_be_stopped_is_refused_where_it_must_be_on(self):
        told = {jit: self.check(f"jit: {jit}\nfilters: [{{ script: redact.lua }}]",
                                without_profiler("deaf")) for jit in ("on", "auto", "off")}
        self.assertEqual(told["on"][0], 3)
        self.assertIn("jit: this LuaJIT's compiled loops cannot be stopped, "
                      'expected "auto" or "off"', told["on"][1])
        self.assertIn("filters run without the compiler", told["auto"][1])
        self.assertNotIn("compiler", told["off"][1])

    def test_what_is_no_limit_is_told(self):
        wrong = {
            "jit: yes": '@:1:6: unknown jit "yes", expected one of auto, on, off',
            "limits: { memory: 4MiB }": "@:1:19: memory: expected a size like 64MiB or 1GiB, "
                                        'from 8MiB to 64GiB, got "4MiB"',
            "limits: { memory: 64MB }": 'got "64MB"',
            "limits: { event: 1ms }": "from 10ms to 24 hours",
            "limits: { events: 1s }": 'did you mean "event"?',
        }
        for text, expected in wrong.items():
            code, told = self.check(text)
            self.assertEqual(code, 3, text)
            self.assertIn(expected, told)


if __name__ == "__main__":
    unittest.main()

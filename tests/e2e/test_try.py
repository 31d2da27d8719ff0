"""kvgate try tells what the gateway would do with each event of a file."""

import json
import os
import pty
import subprocess
import unittest

from support import recording
from support.event import generation_c, pack_batch
from support.gateway import PROGRAM, Directory, run

EXIT_FINE, EXIT_FAILED, EXIT_USAGE, EXIT_CONFIG = 0, 1, 2, 3
FILTER = """return function(options)
  return function(event)
    local key = event.object_key
    if key == "drop" then return false end
    if key == "fail" then error "on purpose" end
    if key == "split" then return { event, event:copy() } end
    event.tenant_id = options.tenant
    event.lora_name = nil
    event.extra = 7
    return event
  end
end
"""


class Try(unittest.TestCase):
    def setUp(self):
        self.directory = Directory()
        self.addCleanup(self.directory.remove)
        self.filter = self.directory.write("sample.lua", FILTER)

    def lines(self, *events):
        text = "\n".join(e if isinstance(e, str) else json.dumps(e) for e in events) + "\n"
        return self.directory.write("events", text)

    def run_try(self, subject, file, *options, code=EXIT_FINE):
        text = self.read_try(subject, file, "--json", *options, code=code)
        return [json.loads(line) for line in text.splitlines()]

    def read_try(self, *arguments, code=EXIT_FINE):
        result = run("try", *arguments)
        self.assertEqual(result.returncode, code, result.stderr)
        self.said = result.stderr
        return result.stdout

    def test_what_cannot_be_read_is_told_with_the_reason(self):
        self.read_try(str(self.filter), "/", code=EXIT_FAILED)
        self.assertIn("/: cannot be read: Is a directory", self.said)

    def test_output_that_cannot_be_written_is_no_success(self):
        file = self.lines({"object_key": "k"})
        with open("/dev/full", "w", encoding="ascii") as full:
            result = subprocess.run([PROGRAM, "try", str(self.filter), str(file)], stdout=full,
                                    stderr=subprocess.PIPE, text=True, timeout=30, check=False)
        self.assertEqual(result.returncode, EXIT_FAILED)
        self.assertIn("standard output cannot be written: No space left on device", result.stderr)

    def test_each_verdict_is_told_and_counted(self):
        keys = ["k", "drop", "fail", "split"]
        file = self.lines(*[generation_c("stored", i, key) for i, key in enumerate(keys, 1)])
        *told, last = self.run_try(self.filter, file, code=EXIT_FAILED)
        self.assertEqual([line["verdict"] for line in told], ["kept", "dropped", "lost", "split"])
        counts = {"kept": 1, "dropped": 1, "split": 1}
        self.assertEqual(last["summary"], {
            "events": 4, "lost": 1, "dead_letter": 0, **counts,
            "filters": [{"filter": "sample.lua", "rewritten": 1, "errors": 1, "emitted": 0,
                         "first_error": told[2]["error"], **counts}],
            "streams": [{"stream": "out", "events": 3, "left_out": 1}]})
        self.assertEqual(told[1]["dropped_by"], [{"filter": "sample.lua"}])
        self.assertRegex(told[2]["error"], r"sample\.lua:5: on purpose")
        self.assertEqual(len(told[3]["out"]), 2)

    def test_changed_fields_are_told_old_and_new(self):
        file = self.lines(generation_c("stored", (1 << 64) - 1, lora_name="l", tenant_id="a"))
        told = self.run_try(self.filter, file, "--options", "{ tenant: acme }")[0]
        changes = told["out"][0]["changes"]
        self.assertEqual(changes["tenant_id"], {"old": "a", "new": "acme"})
        self.assertEqual(changes["extra"], {"new": 7})
        self.assertNotIn("event_id", changes)

    def test_a_configuration_tells_the_route(self):
        config = {"sources": [{"name": "s", "connect": "ipc://s"}],
                  "streams": [{"name": name, "bind": f"ipc://{name}",
                               "accept": {"tenant_id": [name]}} for name in ("a", "b")]}
        path = self.directory.write("kvgate.yaml", json.dumps(config))
        file = self.lines(*[generation_c("stored", i, tenant_id=t) for i, t in
                            enumerate("abc", 1)])
        told = self.run_try(path, file)[:3]
        self.assertEqual([[out["stream"] for out in line["out"]] for line in told],
                         [["a"], ["b"], []])

    def test_lines_of_tap_and_recordings_are_read(self):
        event = generation_c("stored", 1, "k")
        file = self.lines("", {"stream": "x", "seq": 3, "position": 0, **event})
        want = self.run_try(self.filter, file)
        self.assertEqual(want[-1]["summary"]["events"], 1)
        frames = [b"", b"\0" * 8, pack_batch([event])]
        path = recording.write(self.directory.path / "r", ["one"], [(0, 0, frames)])
        self.assertEqual(self.run_try(self.filter, path), want)

    def test_losses_that_a_file_tells_of_happen(self):
        first, last = generation_c("stored", 1, "k"), generation_c("stored", 2, "k")
        file = self.lines(first, '{"gap":{"after":1,"before":4,"missing":2}}', last)
        told = self.run_try(self.filter, file)
        self.assertEqual(told[1], {"mark": "gap", "source": "in", "missing": 2,
                                   "lost_on": ["out"], "out": []})
        # Two numbers, and one more for the guard behind them.
        self.assertEqual(told[-1]["summary"]["streams"],
                         [{"stream": "out", "events": 2, "left_out": 3}])
        numbers = [number.to_bytes(8, "big") for number in (1, 4)]
        path = recording.write(self.directory.path / "r", ["one"], [
            (0, 0, [b"", number, pack_batch([event])])
            for number, event in zip(numbers, (first, last))])
        self.assertEqual(self.run_try(self.filter, path), told)

    def test_a_message_that_cannot_be_read_is_told_and_the_rest_goes_on(self):
        event = generation_c("stored", 1, "k")
        path = recording.write(self.directory.path / "r", ["one"], [
            (0, 0, [b"one frame"]),
            (0, 0, [b"", b"\0" * 7 + b"\1", b"\xc1"]),
            (0, 0, [b"", b"\0" * 7 + b"\2", pack_batch([event])])])
        told = self.run_try(self.filter, path)
        self.assertEqual([line.get("mark") for line in told[:2]], ["malformed", "malformed"])
        self.assertEqual(told[2]["verdict"], "kept")

    def test_several_files_and_standard_input_are_one_sequence(self):
        event = json.dumps(generation_c("stored", 1, "k"))
        file = self.lines(event)
        result = run("try", self.filter, file, "-", "--json", input=event)
        self.assertEqual(json.loads(result.stdout.splitlines()[-1])["summary"]["events"], 2)

    def test_only_what_is_asked_for_is_told(self):
        file = self.lines(*[generation_c("stored", i, key) for i, key in
                            enumerate(["k", "drop", "split"], 1)])
        told = self.run_try(self.filter, file, "--only", "dropped,split")
        self.assertEqual([line.get("event") for line in told], [2, 3, None])
        self.assertEqual(told[-1]["summary"]["kept"], 1)
        self.read_try(self.filter, file, "--only", "droped", code=EXIT_USAGE)
        self.assertIn('did you mean "dropped"?', self.said)

    def test_a_filter_may_name_streams(self):
        file = self.lines(generation_c("stored", 1, tenant_id="acme"))
        told = self.run_try("route_by_tenant.lua", file, "--streams", "a,b", "--options",
                            "{ routes: { acme: b }, default: a }")
        self.assertEqual([out["stream"] for out in told[0]["out"]], ["b"])

    def test_keys_are_explained_by_the_conventions_at_hand(self):
        keys = ["Qwen3-8B@tp_rank:1@pcp0@dcp0@pp_rank:0@group:0@9edbe9bd18ad781d", "12345"]
        file = self.lines(*[generation_c("stored", i, key) for i, key in enumerate(keys, 1)],
                          {"event_type": "cleared", "key": "its own"})
        options = ["--explain-keys", "--options", "{ convention: vllm }"]
        told = self.run_try("keys_to_hashes.lua", file, *options)
        self.assertEqual(told[0]["key"], {
            "convention": "vllm", "version": "group", "model": "Qwen3-8B", "tp": 1, "pcp": 0,
            "dcp": 0, "pp": 0, "group": 0, "digest": "9edbe9bd18ad781d",
            "hash": 0x9edbe9bd18ad781d})
        self.assertEqual(told[1]["key"], {"matches_none_of": ["vllm"]})
        self.assertNotIn("key", told[2])
        told = self.run_try(self.filter, file, "--explain-keys")
        self.assertEqual(told[1]["key"]["convention"], "integer")
        text = self.read_try("keys_to_hashes.lua", file, *options)
        self.assertIn("    vllm, group: model=Qwen3-8B tp=1 pp=0 ", text)
        self.assertIn("    matches none of: vllm\n", text)

    def test_what_cannot_be_read_is_told_with_its_place(self):
        event = generation_c("stored", 1)
        for text, words in (
                ("[]", '2:1: expected an event, {"event_type": …}, not array'),
                ("{", "2:2: expected a name in double quotes, not the end"),
                ('{"a":tru}', "2:6: expected a value, not 'tru'")):
            file = self.lines(event, text, event)
            told = self.run_try(self.filter, file, code=EXIT_FAILED)
            self.assertEqual(self.said, f"{file}:{words}\n")
            self.assertEqual(told[-1]["summary"]["kept"], 2)
        self.run_try(self.filter, self.lines(*["x"] * 20), code=EXIT_FAILED)
        self.assertIn("given up after 10 wrong lines", self.said)
        told = self.run_try(self.filter, "/no/such/file", code=EXIT_FAILED)
        self.assertEqual(told, [], "nothing to sum up")
        self.run_try(self.filter, self.directory.path, code=EXIT_FAILED)
        self.run_try("/no/such.lua", self.lines(event), code=EXIT_CONFIG)
        self.assertEqual(run("try", self.filter).returncode, EXIT_USAGE)

    def test_events_that_stand_before_the_filter_are_told(self):
        for arguments in (("events.jsonl", "kvgate.yaml"), (self.lines(), self.filter)):
            self.read_try(*arguments, code=EXIT_USAGE)
            self.assertIn("expected a CONFIG or a FILTER first", self.said)

    def test_what_passes_but_is_hardly_meant_is_noted(self):
        event = generation_c("stored", 1)
        passing = self.directory.write(
            "pass.lua", "return function() return function() return true end end")
        file = self.lines({**event, "event_type": "stord"}, {**event, "dp_rank": "zero"},
                          {**event, "event_type": "mine", "dp_rank": None})
        text = self.read_try(passing, file)
        notes = [line.strip() for line in text.splitlines() if "note" in line]
        self.assertEqual(notes, [
            'note: "stord" is no type that publishers write; did you mean "stored"?',
            'note: dp_rank is "zero", not an integer'])

    def test_a_misspelt_field_that_no_event_has_is_told(self):
        path = self.directory.write("reads.lua", """local keyed = require "kvgate.digest".new "secret"
return function()
  return function(event) -- event.modle_name is but a word
    if event.medium == "gpu" or event.tenent_id == "b" then return true end
    event.my_backend_id, event.backend_di = 1, 2
    event.group_ids = event.group_ids or "none"
    return event.layer_ids == nil and not event:has "lora_nmae"
      and keyed:field(event, "object_kye") == nil and event:copy() ~= nil
  end
end
""")
        self.read_try(path, self.lines({**generation_c("stored", 1), "layer_ids": None}))
        self.assertEqual(self.said, "".join(
            f'{path}:{line}: reads "{name}", which no event had; did you mean "{meant}"?\n'
            for line, name, meant in ((4, "tenent_id", "tenant_id"),
                                      (7, "lora_nmae", "lora_name"),
                                      (8, "object_kye", "object_key"))))

    def test_an_event_without_a_type_is_shown_once(self):
        text = self.read_try(self.filter, self.lines({"tenant_id": "acme"}), code=EXIT_FAILED)
        self.assertEqual(text.splitlines()[0], '#1 {"tenant_id":"acme"}')

    def test_what_is_no_event_is_lost(self):
        told = self.run_try(self.filter, self.lines({"x": 1}), code=EXIT_FAILED)
        self.assertEqual(told[0]["verdict"], "lost")
        self.assertEqual(told[0]["error"], "no event_type")

    def test_mistakes_of_a_filter_alone_are_told_without_places_that_nobody_wrote(self):
        file = self.lines(generation_c("stored", 1))
        for options, words in (
                ("{ keeps: cpu }", 'filter select_medium.lua: unknown option "keeps"; did you mean '
                                   '"keep"? known are drop, keep\n'),
                ("{ keep: cpu", "--options: this is not YAML: ")):
            self.read_try("select_medium.lua", file, "--options", options, code=EXIT_CONFIG)
            self.assertEqual(self.said[:len(words)], words)
            self.assertNotRegex(self.said, r"\d:\d")
        config = self.directory.write("kvgate.yaml", "")
        for option in ("--options", "--streams"):
            self.read_try(config, file, option, "x", code=EXIT_USAGE)
            self.assertIn("go with a FILTER", self.said)

    def test_text_shows_each_event_at_a_glance(self):
        keys = ["k", "drop", "fail", "split"]
        file = self.lines(*[generation_c("stored", i, key, tenant_id="a", lora_name=None,
                                         medium="cpu", backend_id="b")
                            for i, key in enumerate(keys, 1)])
        text = self.read_try(self.filter, file, "--options", "{ tenant: acme }",
                             code=EXIT_FAILED)
        self.assertEqual(text, TEXT.replace("DIRECTORY", str(self.directory.path)))

    def test_text_tells_the_streams_and_who_dropped_it_there(self):
        config = {"sources": [{"name": "s", "connect": "ipc://s"}],
                  "streams": [
                      {"name": "all", "bind": "ipc://all"},
                      {"name": "cpu", "bind": "ipc://cpu", "filters": [
                          {"script": "select_medium.lua", "options": {"keep": "cpu"}}]},
                      {"name": "mine", "bind": "ipc://mine", "filters": [
                          {"script": "sample.lua"}]}]}
        path = self.directory.write("kvgate.yaml", json.dumps(config))
        file = self.lines(generation_c("stored", 1, "fail", medium="disk"))
        text = self.read_try(path, file, code=EXIT_FAILED)
        self.assertIn("    kept unchanged → all\n"
                      f"    lost on mine in sample.lua: {self.directory.path}/sample.lua:5: "
                      "on purpose\n"
                      "    dropped on cpu by select_medium.lua\n", text)

    def test_failures_that_on_error_forgives_are_told_and_end_in_an_error(self):
        for fate, words in (("drop", "dropped by on_error"), ("pass", "passed on by on_error")):
            config = {"sources": [{"name": "s", "connect": "ipc://s"}],
                      "filters": [{"script": "sample.lua", "on_error": fate}],
                      "streams": [{"name": "all", "bind": "ipc://all"}]}
            path = self.directory.write("kvgate.yaml", json.dumps(config))
            file = self.lines(generation_c("stored", 1, "fail"))
            self.assertIn(f"    {words} in sample.lua: ", self.read_try(path, file, code=EXIT_FAILED))

    def test_an_event_with_a_dead_letter_is_lost_and_its_letter_shown(self):
        config = {"sources": [{"name": "s", "connect": "ipc://s"}],
                  "dead_letters": {"bind": "ipc://letters"},
                  "filters": [{"script": "sample.lua", "on_error": "dead_letter"}],
                  "streams": [{"name": "all", "bind": "ipc://all"}]}
        path = self.directory.write("kvgate.yaml", json.dumps(config))
        event = generation_c("stored", 1, "fail")
        file = self.lines(event, generation_c("stored", 2, "drop"))
        self.assertIn("    lost on all, with a dead letter, in sample.lua: ",
                      self.read_try(path, file, code=EXIT_FAILED))
        told, other, last = self.run_try(path, file, code=EXIT_FAILED)
        self.assertEqual((told["verdict"], told["lost_on"]), ("dead_letter", ["all"]))
        letter, = told["dead_letters"]
        self.assertEqual((letter["event"], letter["position"]), (event, 0))
        self.assertIn("sample.lua:5: on purpose", letter["error"])
        self.assertNotIn("dead_letters", other)
        self.assertEqual(last["summary"]["dead_letter"], 1)
        self.assertEqual([s["stream"] for s in last["summary"]["streams"]], ["all"])
        only = self.run_try(path, file, "--only", "dead_letter", code=EXIT_FAILED)
        self.assertEqual([line.get("event") for line in only], [1, None])

    def test_the_event_of_a_dead_letter_can_be_tried_again(self):
        event = generation_c("stored", 1, "k", tenant_id="a")
        letter = {"source": "two", "sequence": 7, "position": 0, "stream": None,
                  "filter": "x.lua", "result": "raised an error", "error": "x.lua:1: no",
                  "event": event}
        config = {"sources": [{"name": name, "connect": f"ipc://{name}"}
                              for name in ("one", "two")],
                  "filters": [{"script": "sample.lua", "options": {"tenant": "acme"}}],
                  "streams": [{"name": "all", "bind": "ipc://all", "event_id": "keep",
                               "sources": ["two"]}]}
        path = self.directory.write("kvgate.yaml", json.dumps(config))
        frames = [b"", b"\0" * 8, pack_batch([letter])]
        for file in (self.lines({"seq": 1, **letter}),
                     recording.write(self.directory.path / "r", ["dead"], [(0, 0, frames)])):
            told = self.run_try(path, file)[0]
            self.assertEqual((told["source"], told["verdict"]), ("two", "kept"))
            self.assertEqual(told["out"][0]["changes"]["tenant_id"], {"old": "a", "new": "acme"})

    def test_what_filters_log_and_count_is_told(self):
        logging = self.directory.write("logging.lua", LOGGING)
        file = self.lines(*[generation_c("stored", i, "k", tenant_id="a", medium="cpu",
                                         backend_id="b") for i in range(1, 13)])
        text = self.read_try(logging, file)
        self.assertIn("\n#12 stored tenant_id=a medium=cpu backend_id=b\n    object_key=k\n"
                      "    log debug filter logging.lua: number 12\n    kept unchanged\n", text)
        sample = 'kvgate_filter_seen_total{filter="logging.lua",stream="",position="1"} 12'
        self.assertTrue(text.endswith(f"\nmetrics\n{sample}\n"), text[-300:])
        *told, last = self.run_try(logging, file)
        self.assertEqual(told[0]["log"], ["debug filter logging.lua: number 1"])
        self.assertEqual(last["summary"]["metrics"], [sample])
        self.assertEqual(self.said, "")

    def test_what_hooks_emit_is_told_apart_and_their_failures_too(self):
        hooks = self.directory.write("hooks.lua", HOOKS)
        file = self.lines(generation_c("stored", 1, "k", tenant_id="a", medium="cpu",
                                       backend_id="b"),
                          '{"gap":{"after":1,"before":3,"missing":1}}')
        text = self.read_try(hooks, file, code=EXIT_FAILED)
        self.assertIn("    dropped by hooks.lua\n", text)
        self.assertIn("    emitted seen backend_id=b\n", text)
        self.assertIn("— gap of in: 1 missing\n"
                      "    out leaves 2 numbers out\n"
                      "    out gets lost medium=gap backend_id=b\n"
                      "    out gets lost medium=guard backend_id=b\n", text)
        self.assertIn(f"    failed in hooks.lua: on_batch: {self.directory.path}/hooks.lua:9: "
                      "empty\n", text)
        told = self.run_try(hooks, file, code=EXIT_FAILED)
        self.assertEqual([line.get("verdict") for line in told], ["dropped", None, None])
        self.assertEqual(told[0]["out"][0]["event"]["event_type"], "seen")

    def test_time_passes_as_timestamps_or_the_recording_say(self):
        ticking = self.directory.write("ticking.lua", TICKING)
        events = [generation_c("stored", i, "k", timestamp=1_700_000_000_000 + ms)
                  for i, ms in enumerate((0, 900, 1000, 5000), 1)]
        told = self.run_try(ticking, self.lines(*events))
        self.assertEqual([line.get("mark") for line in told],
                         [None, None, "tick", None, "tick", None, None])
        self.assertEqual(told[2]["out"][0]["event"]["event_type"], "at 1700000001000")
        path = recording.write(self.directory.path / "r", ["one"], [
            (seconds, 0, [b"", number.to_bytes(8, "big"), pack_batch([events[number]])])
            for number, seconds in enumerate((0, 0.9, 1), 1)])
        told = self.run_try(ticking, path)
        self.assertEqual([line.get("mark") for line in told], [None, None, "tick", None, None])

    def test_colours_are_for_terminals_that_want_them(self):
        file = self.lines(generation_c("stored", 1))
        for wanted, environment in ((True, {}), (False, {"NO_COLOR": "1"}),
                                    (False, {"TERM": "dumb"})):
            text = read_terminal([PROGRAM, "try", self.filter, file],
                                 {**os.environ, "TERM": "xterm", **environment})
            self.assertEqual("\033[" in text, wanted, text)
        self.assertNotIn("\033[", self.read_try(self.filter, file))


LOGGING = """local log, metrics = require "kvgate.log", require "kvgate.metrics"
return function()
  local seen = metrics.counter "seen_total"
  return function(event)
    seen:add(1)
    log.debug(("number %d"):format(tonumber(event.event_id)))
    return true
  end
end
"""

TICKING = """local emit = require "kvgate.emit"
return function()
  return {
    on_tick = function(now) emit { event_type = ("at %.0f"):format(now) } end,
    every = 1,
  }
end
"""

HOOKS = """local emit = require "kvgate.emit"
return function()
  return {
    on_event = function()
      emit { event_type = "seen", backend_id = "b" }
      return false
    end,
    on_batch = function(batch)
      if batch.count == 0 then error "empty" end
    end,
    on_loss = function(source, reach, cause)
      emit { event_type = "lost", medium = cause, backend_id = "b" }
    end,
  }
end
"""

TEXT = """#1 stored tenant_id=a medium=cpu backend_id=b
    object_key=k
    kept
    - tenant_id: "a"
    + tenant_id: "acme"
    + extra: 7

#2 stored tenant_id=a medium=cpu backend_id=b
    object_key=drop
    dropped by sample.lua

#3 stored tenant_id=a medium=cpu backend_id=b
    object_key=fail
    lost in sample.lua: DIRECTORY/sample.lua:5: on purpose

#4 stored tenant_id=a medium=cpu backend_id=b
    object_key=split
    split into 2
    1 unchanged
    2 unchanged

4 events: 1 kept, 1 dropped, 1 split, 1 lost

filter        kept  dropped  rewritten  split  emitted  errors
sample.lua       1        1          1      1        0       1
  first error: DIRECTORY/sample.lua:5: on purpose
stream      events left out
out              3        1
"""


def read_terminal(command, environment):
    """What a command prints on a terminal."""
    ours, theirs = pty.openpty()
    with subprocess.Popen(command, stdout=theirs, env=environment):
        os.close(theirs)
        text = b""
        try:
            while part := os.read(ours, 65536):
                text += part
        except OSError:  # how Linux says that the other end is closed
            pass
    os.close(ours)
    return text.decode()


if __name__ == "__main__":
    unittest.main()

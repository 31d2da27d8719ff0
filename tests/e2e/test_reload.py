"""A reload changes behaviour and keeps continuity, or changes nothing (point 10)."""

import copy
import os
import signal
import unittest

from support.case import GatewayCase
from support.deadline import until
from support.subscriber import Subscriber

TAG = """
return function(options)
  local tag = options.tag
  return function(event)
    if event.object_key ~= nil then event.backend_id = tag end
    return event
  end
end
"""


class Reload(GatewayCase):
    config = {
        "sources": [{"name": "store", "gap_guard": False}],
        "streams": [
            {"name": "tagged", "filters": [{"script": "tag.lua", "options": {"tag": "old"}}]},
            {"name": "plain"},
        ],
    }
    scripts = {"tag.lua": TAG}

    def setUp(self):
        """Each test starts from the class's configuration, loaded by a reload."""
        self.gateway.directory.write("tag.lua", TAG)
        self.reload(copy.deepcopy(self.config))
        super().setUp()
        self.tagged, self.plain = self.subscribers["tagged"], self.subscribers["plain"]

    def reload(self, config=None):
        if config is not None:
            self.gateway.configure(config)
        code, text = self.gateway.post("/reload")
        self.assertEqual(code, 200, text)

    def changed(self):
        config = copy.deepcopy(self.config)
        config["streams"][0]["filters"][0]["options"]["tag"] = "new"
        return config

    def tags(self):
        return [event["backend_id"] for event in self.tagged.events()]

    def test_a_reload_without_a_change_marks_nothing_and_keeps_numbers(self):
        self.publisher.put("a")
        self.reload()
        self.publisher.put("b")
        self.tagged.wait_story([["a"], ["b"]])
        self.plain.wait_story([["a"], ["b"]])

    def test_a_reload_changes_behaviour_and_marks_the_changed_stream_by_one_number(self):
        self.publisher.put("a")
        self.tagged.wait_label("a")
        self.reload(self.changed())
        self.publisher.put("b")
        self.tagged.wait_story([["a"], 1, ["b"]])
        self.plain.wait_story([["a"], ["b"]])
        self.assertEqual(self.tags(), ["old", "new"])

    def test_sighup_reloads_like_post_reload(self):
        self.publisher.put("a")
        self.tagged.wait_label("a")
        self.gateway.configure(self.changed())
        start = len(self.gateway.log)
        self.gateway.send_signal(signal.SIGHUP)
        self.gateway.wait_log(r"(?i)reload", start)
        self.publisher.put("b")
        self.tagged.wait_story([["a"], 1, ["b"]])
        self.assertEqual(self.tags(), ["old", "new"])

    def test_a_changed_script_is_a_change_though_the_configuration_is_the_same(self):
        self.publisher.put("a")
        self.tagged.wait_label("a")
        self.gateway.directory.write("tag.lua", TAG.replace("= tag", "= tag .. '!'"))
        self.reload()
        self.publisher.put("b")
        self.tagged.wait_story([["a"], 1, ["b"]])
        self.plain.wait_story([["a"], ["b"]])
        self.assertEqual(self.tags(), ["old", "old!"])

    def test_a_changed_module_of_a_script_is_a_change(self):
        uses = 'local tag = require "the_tag"\n' + TAG.replace("= options.tag", "= tag")
        self.gateway.directory.write("the_tag.lua", 'return "one"')
        self.gateway.directory.write("tag.lua", uses)
        self.reload()
        self.settle()
        self.publisher.put("a")
        self.tagged.wait_label("a")
        self.gateway.directory.write("the_tag.lua", 'return "two"')
        self.reload()
        self.publisher.put("b")
        self.tagged.wait_story([["a"], 1, ["b"]])
        self.assertEqual(self.tags(), ["one", "two"])

    def test_a_file_that_is_only_touched_is_no_change(self):
        self.publisher.put("a")
        self.tagged.wait_label("a")
        path = self.gateway.directory.write("tag.lua", TAG)
        os.utime(path, (0, 0))
        self.reload()
        self.publisher.put("b")
        self.tagged.wait_story([["a"], ["b"]])

    def test_a_link_that_leads_to_another_content_is_a_change(self):
        """As deployments have it: the name stays, what is behind it is exchanged."""
        path = self.gateway.directory.path / "tag.lua"
        for name, text in (("one", TAG), ("same", TAG), ("two", TAG.replace("= tag", "= 'two'"))):
            self.gateway.directory.write(name, text)
        self.publisher.put("a")
        self.tagged.wait_label("a")
        for index, name in enumerate(("one", "same", "two")):
            path.with_name("link").symlink_to(name)
            os.replace(path.with_name("link"), path)
            self.reload()
            self.publisher.put(f"b{index}")
            self.tagged.wait_label(f"b{index}")
        self.tagged.wait_story([["a"], ["b0"], ["b1"], 1, ["b2"]])
        self.assertEqual(self.tags()[1:], ["old", "old", "two"])

    def test_a_changed_accept_marks_its_stream_only(self):
        self.publisher.put("a")
        self.tagged.wait_label("a")
        config = copy.deepcopy(self.config)
        config["streams"][1]["accept"] = {"tenant_id": ["acme"]}
        self.reload(config)
        self.publisher.put("b", tenant_id="acme")
        self.publisher.put("c", tenant_id="other")
        self.publisher.put("d", tenant_id="acme")
        self.tagged.wait_story([["a"], ["b"], ["c"], ["d"]])
        self.plain.wait_story([["a"], 1, ["b"], ["d"]])

    def test_a_global_filter_that_comes_marks_every_stream(self):
        self.publisher.put("a")
        self.tagged.wait_label("a")
        config = copy.deepcopy(self.config)
        config["filters"] = [{"script": "tag.lua", "options": {"tag": "global"}}]
        self.reload(config)
        self.publisher.put("b")
        self.tagged.wait_story([["a"], 1, ["b"]])
        self.plain.wait_story([["a"], 1, ["b"]])
        self.assertEqual(self.plain.events()[1]["backend_id"], "global")

    def test_a_change_that_nothing_follows_is_announced(self):
        config = self.changed()
        config["streams"][0]["announce_after"] = "50ms"
        self.reload(config)
        self.tagged.wait_story([1, []])

    def test_the_source_keeps_its_tracker_over_a_reload(self):
        self.publisher.put("a")
        self.plain.wait_label("a")
        self.reload(self.changed())
        self.publisher.skip(3)
        self.publisher.put("b")
        self.plain.wait_story([["a"], 3, ["b"]])
        self.tagged.wait_story([["a"], 4, ["b"]])
        self.assertEqual(self.gateway.source("store")["restarts"], 0)

    def test_streams_that_a_reload_does_not_touch_keep_their_sockets(self):
        """The subscribers never connect again, or messages would be missing."""
        for index in range(5):
            self.publisher.put(f"k{index}")
            self.plain.wait_label(f"k{index}")
            self.reload(self.changed() if index % 2 else copy.deepcopy(self.config))
        self.publisher.put("end")
        self.plain.wait_story([["k0"], ["k1"], ["k2"], ["k3"], ["k4"], ["end"]])

    def check_refused(self, config, *words):
        """Nothing changes, and the answer and the log say why."""
        before = self.gateway.status()
        self.publisher.put("a")
        self.tagged.wait_label("a")
        self.gateway.configure(config)
        start = len(self.gateway.log)
        code, text = self.gateway.post("/reload")
        self.assertIn(code, range(400, 600), text)
        for word in words:
            self.assertRegex(text, word)
            self.gateway.wait_log(word, start)
        self.publisher.put("b")
        self.tagged.wait_story([["a"], ["b"]])
        self.plain.wait_story([["a"], ["b"]])
        self.assertEqual(self.tags(), ["old", "old"])
        after = self.gateway.status()
        self.assertEqual([s["name"] for s in after["streams"]],
                         [s["name"] for s in before["streams"]])

    def test_a_failing_script_changes_nothing_and_says_where_it_fails(self):
        self.gateway.directory.write("broken.lua", "return function()\n  error 'no'\nend\n")
        config = self.changed()
        config["streams"][1]["filters"] = [{"script": "broken.lua"}]
        self.check_refused(config, r"broken\.lua:2: no")

    def test_a_syntax_error_changes_nothing_and_says_where_it_is(self):
        self.gateway.directory.write("tag.lua", "return function(\n")
        self.check_refused(self.changed(), r"tag\.lua:\d+: ")

    def test_a_mistake_in_the_configuration_changes_nothing_and_says_where_it_is(self):
        self.check_refused("sources: []\nstreams:\n  - nam: x\n", r"kvgate\.yaml:3:\d+: .*nam")

    def test_a_pipe_in_the_place_of_the_configuration_is_refused_and_not_waited_for(self):
        self.publisher.put("a")
        self.tagged.wait_label("a")
        path = self.gateway.path
        path.unlink()
        os.mkfifo(path)
        code, text = self.gateway.post("/reload")
        path.unlink()
        self.assertEqual(code, 422)
        self.assertIn("no regular file", text)
        self.publisher.put("b")
        self.tagged.wait_story([["a"], ["b"]])

    def test_an_address_that_cannot_be_bound_changes_nothing(self):
        config = self.changed()
        config["streams"].append({"name": "new", "bind": "ipc:///no/such/directory/socket"})
        self.check_refused(config, r'stream "new".*/no/such/directory')

    def test_a_failing_sighup_changes_nothing_and_says_why(self):
        self.publisher.put("a")
        self.tagged.wait_label("a")
        self.gateway.directory.write("tag.lua", "return 1 +\n")
        start = len(self.gateway.log)
        self.gateway.send_signal(signal.SIGHUP)
        self.gateway.wait_log(r"tag\.lua:\d+: ", start)
        self.publisher.put("b")
        self.tagged.wait_story([["a"], ["b"]])
        self.assertEqual(self.tags(), ["old", "old"])


class QueueBounds(GatewayCase):
    """A lower hwm used to mute peers for ever: 400 messages that libzmq's reader had not reported
    yet were more than the new bound, so the queue was full although nothing lay in it."""

    config = {
        "sources": [{"name": "store", "gap_guard": False, "hwm": 1000}],
        "streams": [{"name": "all", "hwm": 1000}],
    }

    def reload(self, hwm):
        config = copy.deepcopy(self.config)
        config["sources"][0]["hwm"] = config["streams"][0]["hwm"] = hwm
        self.gateway.configure(config)
        code, text = self.gateway.post("/reload")
        self.assertEqual(code, 200, text)
        return text

    def pass_on(self, count):
        self.subscriber.forget()
        for index in range(count):
            self.publisher.put(f"k{index}")
        self.subscriber.wait_story([[f"k{index}"] for index in range(count)])

    def test_a_lower_bound_takes_a_restart_and_mutes_nobody(self):
        self.pass_on(400)
        text = self.reload(100)
        for name in ('source "store"', 'stream "all"'):
            self.assertRegex(text, name + r": hwm stays \d+, a lower one takes a restart")
        self.pass_on(400)

    def test_a_higher_bound_is_taken_at_once(self):
        self.pass_on(400)
        self.assertNotIn("hwm stays", self.reload(5000))
        self.pass_on(400)
        self.assertIn("hwm stays 5000", self.reload(1000))


class NewStreams(GatewayCase):
    config = {"sources": [{"name": "store", "gap_guard": False}], "streams": [{"name": "old"}]}

    def test_a_stream_may_come_and_go_and_come_back_with_its_numbers(self):
        both = copy.deepcopy(self.config)
        both["streams"].append({"name": "new"})
        self.load(both)
        new = self.open(Subscriber(self.gateway.config["streams"][1]["bind"]))

        def arrived():
            self.publisher.put("warm-up")
            return new.pump(20)
        until(arrived, "a message of the new stream")
        self.publisher.put("a")
        new.wait_label("a")
        last = self.gateway.stream("new")["last_sequence"]
        self.load(copy.deepcopy(self.config))
        self.assertEqual([s["name"] for s in self.gateway.status()["streams"]], ["old"])
        self.publisher.put("missed")
        self.subscriber.wait_label("missed")
        new.forget()
        self.load(both)
        self.assertEqual(self.gateway.stream("new")["last_sequence"], last + 1)

        def back():
            self.publisher.put("back")
            return new.pump(20)
        until(back, "a message of the stream that is back")
        self.assertNotIn("missed", new.labels())
        self.assertGreater(new.messages[0].number, last + 1)
        self.assertEqual(self.subscriber.gaps(), [], "the other stream noticed something")

    def load(self, config):
        self.gateway.configure(config)
        code, text = self.gateway.post("/reload")
        self.assertEqual(code, 200, text)


if __name__ == "__main__":
    unittest.main()

"""What filters say is done, event by event and in order."""

import unittest

from support.case import GatewayCase

# A filter that does what the key tells it: its words are the tests below.
OBEY = """
local words = {
  keep = function(event) return event end,
  yes = function() return true end,
  drop = function() return false end,
  left = function() return "left" end,
  both = function() return { "left", "right" } end,
  nobody = function() return {} end,
  twice = function(event)
    local copy = event:copy()
    copy.object_key = "twice-copy"
    return { event, copy }
  end,
  rewrite = function(event)
    event.backend_id = "pool-1"
    event.seq_hashes = { 1ULL, 18446744073709551615ULL }
    event.parent_hash = 18446744073709551614ULL
    event.extra = { nested = { true, "text" } }
    event:remove "token_ids"
    return event
  end,
  twin = function(event) return { event, event:copy() } end,
  thousands = function(event)
    local all = {}
    for index = 1, 5000 do all[index] = event:copy() end
    return all
  end,
  half = function(event)
    event.backend_id = "half done"
    error "on the way"
  end,
}

return function(options)
  return function(event)
    local key = event.object_key
    local word = key and words[key:match "^%a+"]
    if word == nil then return true end
    return word(event, options)
  end
end
"""


class Verdicts(GatewayCase):
    config = {
        "sources": [{"name": "store", "gap_guard": False}],
        "filters": [{"script": "obey.lua"}],
        "streams": [{"name": "left"}, {"name": "right"}],
    }
    scripts = {"obey.lua": OBEY}

    def setUp(self):
        super().setUp()
        self.left, self.right = self.subscribers["left"], self.subscribers["right"]

    def put(self, *keys):
        self.publisher.put(*keys)
        self.publisher.put("end")

    def test_an_event_or_true_keeps(self):
        self.put("keep", "yes")
        self.left.wait_story([["keep", "yes"], ["end"]])
        self.right.wait_story([["keep", "yes"], ["end"]])

    def test_false_drops(self):
        self.put("a", "drop", "b")
        self.left.wait_story([["a", "b"], ["end"]])

    def test_a_name_narrows_and_leaves_no_gap_where_it_does_not_go(self):
        self.put("a", "left", "b")
        self.left.wait_story([["a", "left", "b"], ["end"]])
        self.right.wait_story([["a", "b"], ["end"]])

    def test_a_batch_narrowed_away_whole_takes_no_number(self):
        self.put("left-1", "left-2")
        self.left.wait_story([["left-1", "left-2"], ["end"]])
        self.right.wait_story([["end"]])

    def test_several_names_keep_for_all_of_them(self):
        self.put("both")
        self.left.wait_story([["both"], ["end"]])
        self.right.wait_story([["both"], ["end"]])

    def test_a_split_puts_all_parts_in_the_place_of_the_event(self):
        self.put("a", "twice", "b")
        self.left.wait_story([["a", "twice", "twice-copy", "b"], ["end"]])
        self.right.wait_story([["a", "twice", "twice-copy", "b"], ["end"]])

    def test_a_split_and_a_drop_that_even_out_are_not_the_message_as_it_came(self):
        self.put(*["drop", "twin"] * 16)
        self.left.wait_story([["twin"] * 32, ["end"]])

    def test_a_split_into_more_than_a_batch_holds_loses_the_event(self):
        self.put("a", "thousands", "b")
        self.left.wait_story([["a"], 1, ["b"], ["end"]])
        self.right.wait_story([["a"], 1, ["b"], ["end"]])

    def test_a_rewrite_replaces_the_fields_that_it_names_and_no_other(self):
        event = self.publisher.stored("rewrite", tenant_id="acme", lora_name="adapter")
        self.publisher.send(event)
        self.left.wait_label("rewrite")
        expected = dict(event, backend_id="pool-1", seq_hashes=[1, 2**64 - 1],
                        parent_hash=2**64 - 2)
        del expected["token_ids"]
        expected["extra"] = {"nested": [True, "text"]}
        seen = self.left.events()[0]
        self.assertEqual(seen, expected)
        self.assertEqual(list(seen), list(expected), "the order of the fields")

    def test_counters_say_what_the_filter_did(self):
        before = self.gateway.status()["filters"][0]
        self.put("keep", "drop", "twice", "rewrite", "half")
        self.left.wait_label("end")
        after = self.gateway.status()["filters"][0]
        did = {name: after[name] - before[name]
               for name in ("kept", "dropped", "split", "rewritten", "errors")}
        # Kept are "keep", "rewrite" and "end"; of "twice" one part is changed.
        self.assertEqual(did, {"kept": 3, "dropped": 1, "split": 1, "rewritten": 2, "errors": 1})


class OnError(GatewayCase):
    config = {
        "sources": [{"name": "store", "gap_guard": False}],
        "streams": [
            {"name": "drops", "filters": [{"script": "obey.lua", "on_error": "drop"}]},
            {"name": "passes", "filters": [{"script": "obey.lua", "on_error": "pass"}]},
            {"name": "loses", "filters": [{"script": "obey.lua", "on_error": "lose"}]},
        ],
    }
    scripts = {"obey.lua": OBEY}

    def test_on_error_drop_leaves_no_gap(self):
        self.publisher.put("a", "half", "b")
        self.subscribers["drops"].wait_story([["a", "b"]])

    def test_on_error_pass_lets_the_event_through_as_it_was_before_the_filter(self):
        self.publisher.put("a", "half", "b")
        self.subscribers["passes"].wait_story([["a", "half", "b"]])
        self.assertEqual(self.subscribers["passes"].events()[1]["backend_id"], "mooncake")

    def test_a_split_and_a_drop_that_even_out_are_not_the_message_as_it_came(self):
        self.publisher.put(*["drop", "twin"] * 16)
        for subscriber in self.subscribers.values():
            subscriber.wait_story([["twin"] * 32])

    def test_on_error_lose_leaves_a_gap(self):
        self.publisher.put("a", "half", "b")
        self.subscribers["loses"].wait_story([["a"], 1, ["b"]])


class Chain(GatewayCase):
    """Global filters run first; each stream's filters see and edit a copy of its own."""

    config = {
        "sources": [{"name": "store"}],
        "filters": [
            {"script": "tag.lua", "options": {"tag": "1"}},
            {"script": "tag.lua", "options": {"tag": "2"}},
        ],
        "streams": [
            {"name": "plain"},
            {"name": "three", "filters": [{"script": "tag.lua", "options": {"tag": "3"}}]},
            {"name": "four", "filters": [{"script": "tag.lua", "options": {"tag": "4"}},
                                         {"script": "tag.lua", "options": {"tag": "5"}}]},
        ],
    }
    scripts = {"tag.lua": """
        return function(options)
          return function(event)
            event.backend_id = event.backend_id .. options.tag
            return event
          end
        end
    """}

    def test_filters_run_in_order_and_streams_do_not_see_each_others_edits(self):
        self.publisher.put("a", "b")
        for name, backend in {"plain": "mooncake12", "three": "mooncake123",
                              "four": "mooncake1245"}.items():
            subscriber = self.subscribers[name]
            subscriber.wait_story([["a", "b"]])
            self.assertEqual([event["backend_id"] for event in subscriber.events()],
                             [backend, backend])


class Reach(GatewayCase):
    """Names narrow what the configuration allows; they never widen it."""

    config = {
        "sources": [{"name": "left", "gap_guard": False}, {"name": "right", "gap_guard": False}],
        "filters": [{"script": "name.lua"}],
        "streams": [{"name": "from-left", "sources": ["left"]},
                    {"name": "from-right", "sources": ["right"]}],
    }
    scripts = {"name.lua": """
        return function()
          return function(event)
            local key = event.object_key or "probe"
            if key:find "^probe" then return true end
            if key:find "both" then return { "from-left", "from-right" } end
            return "from-left"
          end
        end
    """}

    def test_a_name_that_the_source_does_not_reach_is_no_loss_and_no_way_in(self):
        left, right = self.publishers["left"], self.publishers["right"]
        right.put("both-1", "name-1", "both-2")
        self.subscribers["from-right"].wait_story([["both-1", "both-2"]])
        left.put("both-3", "name-2", "both-4")
        self.subscribers["from-left"].wait_story([["both-3", "name-2", "both-4"]])


class Modules(GatewayCase):
    config = {
        "sources": [{"name": "store"}],
        "filters": [{"script": "counts.lua"}],
        "streams": [{"name": "all"}],
    }
    scripts = {"counts.lua": """
        local seen = {}
        return function()
          return function(event)
            if event.event_type == "cleared" then return true end
            assert(event.source == "store")
            assert(event:has "parent_hash" and event.parent_hash == nil)
            assert(not event:has "no_such_field")
            if event.object_key == "stale" then
              assert(not pcall(function() return seen.first.object_key end))
            end
            seen.first = seen.first or event
            for _, name in ipairs { "io", "ffi", "debug", "load", "os.execute", "package" } do
              local ok, found = pcall(function()
                local value = _G
                for part in name:gmatch "%w+" do value = value[part] end
                return value
              end)
              assert(not (ok and found), name)
            end
            return true
          end
        end
    """}

    def test_an_event_kept_beyond_its_batch_is_an_error_that_a_filter_can_catch(self):
        self.publisher.put("a")
        self.subscriber.wait_label("a")
        self.publisher.put("stale")
        self.subscriber.wait_story([["a"], ["stale"]])

    def test_filters_are_in_a_sandbox_and_see_absent_and_nil_apart(self):
        self.publisher.put("a", "b")
        self.subscriber.wait_story([["a", "b"]])


if __name__ == "__main__":
    unittest.main()

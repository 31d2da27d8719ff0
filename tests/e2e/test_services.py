"""What filters count stands on /metrics for readers that are not ours; what they log, in the log."""

import re
import unittest

from support.case import GatewayCase
from support.deadline import until

COUNTING = """
local metrics, log = require "kvgate.metrics", require "kvgate.log"
return function()
  local seen = metrics.counter("seen_total", { labels = { "tenant_id" }, limit = 20 })
  local level = metrics.gauge("level", { help = "Two\\nlines \\\\ and more." })
  return function(event)
    seen:add(1, event.tenant_id)
    level:add(0.5)
    if event.object_key and event.object_key:find "log" then
      log.warn("key\\n" .. event.object_key .. ("x"):rep(3000))
      log.debug "never shown"
    end
    return true
  end
end
"""

TEXT = r'"((?:\\[n"\\]|[^"\\\n])*)"'
SAMPLE = re.compile(r"([a-z][a-z0-9_]*)(?:\{((?:[a-z_]+=" + TEXT + r",?)+)\})? "
                    r"(-?[0-9.e+-]+|NaN|[+-]Inf)")
LABEL = re.compile(r"([a-z_]+)=" + TEXT)


def parse(text):
    """The exposition format 0.0.4, strictly; {(name, labels): value}."""
    samples, families = {}, []
    for line in text.removesuffix("\n").split("\n"):
        if line.startswith("# TYPE "):
            families.append(line.split(" ")[2])
        elif not line.startswith("# HELP "):
            found = SAMPLE.fullmatch(line)
            if not found or found[1] != families[-1]:
                raise ValueError(f"no sample of {families[-1]}: {line}")
            labels = tuple((name, re.sub(r"\\(.)", lambda m: {"n": "\n"}.get(m[1], m[1]), value))
                           for name, value in LABEL.findall(found[2] or ""))
            if (found[1], labels) in samples:
                raise ValueError(f"twice: {line}")
            samples[found[1], labels] = float(found[4])
    if len(set(families)) != len(families):
        raise ValueError("a family is declared twice")
    return samples


class Services(GatewayCase):
    config = {
        "sources": [{"name": "store", "gap_guard": False}],
        "filters": [{"script": "counting.lua"}],
        "streams": [{"name": "out", "filters": [{"script": "counting.lua"}]}],
    }
    scripts = {"counting.lua": COUNTING}

    def own(self, name, stream=""):
        """The samples of one metric of the filter: the values of its labels and its value."""
        place = (("filter", "counting.lua"), ("stream", stream), ("position", "1"))
        return {labels[3:]: value for (found, labels), value in
                parse(self.gateway.get("/metrics")[1]).items()
                if found == "kvgate_filter_" + name and labels[:3] == place}

    def logged(self):
        return sum("key\\nlog" in line for line in self.gateway.log)

    def test_metrics_of_filters_are_read_by_a_strict_reader_however_labels_look(self):
        tenants = ['a"b', "a\nb", "a\\b", 'x"} 1\ny{', "ä\u2028\x0b", "", "acme"]
        before = self.own("seen_total")
        for index, tenant in enumerate(tenants):
            self.publisher.put(f"a{index}", tenant_id=tenant)
        self.subscriber.wait_label(f"a{len(tenants) - 1}")
        after = self.own("seen_total")
        for tenant in tenants:
            key = (("tenant_id", tenant),)
            self.assertEqual(after[key] - before.get(key, 0), 1, tenant)
        self.assertEqual(sum(after.values()) / 2, self.own("level")[()])
        self.assertEqual(after, self.own("seen_total", "out"))

    def test_label_values_without_end_take_no_more_than_their_limit(self):
        for index in range(100):
            self.publisher.put(f"b{index}", tenant_id=f"tenant-{index}" * (1 + index * 100))
        self.subscriber.wait_label("b99")
        found = self.own("seen_total")
        self.assertLessEqual(len(found), 21)
        self.assertGreaterEqual(found[("tenant_id", "_other"),], 79)
        for name in (r"filter counting\.lua", r'filter counting\.lua of stream "out"'):
            self.gateway.wait_log(name + r': metric "seen_total": .* counted as "_other"')
        self.assertEqual(sum('metric "seen_total"' in line for line in self.gateway.log), 2,
                         "once for each of the two filters")

    def test_lines_of_a_filter_are_named_escaped_cut_and_held_back(self):
        for index in range(50):
            self.publisher.put(f"log{index}")
        self.subscriber.wait_label("log49")
        mine = re.compile(r" warn  filter counting\.lua: key\\nlog\d+x+\.\.\.$")
        until(lambda: self.logged() >= 20, "ten lines of each filter")
        lines = [line for line in self.gateway.log if "key\\nlog" in line]
        written = [line for line in lines if "of stream" not in line]
        self.assertEqual(len(written), 10)
        for line in written:
            self.assertRegex(line, mine)
            self.assertLess(len(line), 1100)
        self.assertEqual(len(lines) - len(written), 10, "as many are of the stream's own filter")
        self.assertNotIn("never shown", "".join(self.gateway.log))


if __name__ == "__main__":
    unittest.main()

"""What must be reached, and whether it was: informational, for the machine is noisy."""

from dataclasses import dataclass


@dataclass
class Bar:
    what: str
    value: float
    limit: float
    unit: str = ""
    least: bool = True   # the limit is the least that will do, else the most

    def reached(self):
        return self.value >= self.limit if self.least else self.value <= self.limit

    def row(self):
        sign = "≥" if self.least else "≤"
        mark = "pass" if self.reached() else "**miss**"
        value = f"{self.value:.0f}" if abs(self.value) >= 100 else f"{self.value:.3g}"
        return [self.what, value + self.unit, f"{sign} {self.limit:g}{self.unit}", mark]


def at_least(what, value, limit, unit="×"):
    return Bar(what, value, limit, unit)


def at_most(what, value, limit, unit="×"):
    return Bar(what, value, limit, unit, least=False)


def against_hand(series, hand, rate, cpu):
    """Throughput and CPU against the loop that feeds as many sockets."""
    return [at_least(f"{series.name}: throughput of {hand.name}",
                     series.ratio(hand, "rate"), rate),
            at_most(f"{series.name}: CPU of {hand.name}", series.ratio(hand, "cpu"), cpu)]


def table(head, rows, left=1):
    """Markdown; the first `left` columns hold words, the others figures."""
    lines = ["| " + " | ".join(head) + " |",
             "| " + " | ".join(["---"] * left + ["---:"] * (len(head) - left)) + " |"]
    lines += ["| " + " | ".join(row) + " |" for row in rows]
    return "\n".join(lines)

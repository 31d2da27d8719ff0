"""Wait on conditions, never on time: every wait has a deadline and says what it waited for."""

import os
import time

# Sanitizers and valgrind make everything slower, but not wrong.
SLOWNESS = float(os.environ.get("KVGATE_SLOWNESS", "1"))
PATIENCE = 20 * SLOWNESS


class Deadline:
    """A moment that must not pass: `left()` raises when it has."""

    def __init__(self, what, seconds=PATIENCE):
        self.what = what
        self.seconds = seconds
        self.end = time.monotonic() + seconds

    def left(self):
        left = self.end - time.monotonic()
        if left <= 0:
            what = self.what() if callable(self.what) else self.what
            raise AssertionError(f"not within {self.seconds:g} s: {what}")
        return left


def until(condition, what, seconds=PATIENCE):
    """Ask again and again until `condition()` is true; returns what it returned."""
    deadline = Deadline(what, seconds)
    while True:
        result = condition()
        if result:
            return result
        time.sleep(min(0.005, deadline.left()))

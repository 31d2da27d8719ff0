"""Rounds of runs, their medians, and ratios of runs that ran side by side."""

import statistics


def median(values):
    return statistics.median(values)


class Series:
    """All runs of one middle process: a list, a run a round."""

    def __init__(self, name):
        self.name = name
        self.runs = []

    def values(self, figure):
        return [getattr(run, figure) for run in self.runs]

    def median(self, figure):
        return median(self.values(figure))

    def ratio(self, other, figure):
        """Round by round: what slows the machine down slows both."""
        return median([mine / theirs for mine, theirs in
                       zip(self.values(figure), other.values(figure))])

    def added(self, other, figure):
        return median([mine - theirs for mine, theirs in
                       zip(self.values(figure), other.values(figure))])

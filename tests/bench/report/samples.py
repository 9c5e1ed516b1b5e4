# SPDX-License-Identifier: BSD-3-Clause
"""The samples of a run, and their medians with ranges, ratios and differences by round."""

import csv
import os
import statistics
from dataclasses import dataclass

from names import Names, title_of

GB = 1e9


@dataclass(frozen=True)
class Spread:
    """The median, the smallest and the largest of some values of one measure."""

    median: float
    least: float
    most: float
    count: int


def spread(values):
    """Returns the Spread of @values without None, or None if no value is left."""
    known = [value for value in values if value is not None]
    if not known:
        return None
    return Spread(statistics.median(known), min(known), max(known), len(known))


def _cpu(sample):
    """Returns the CPU seconds of both hops, or None."""
    hops = [sample[name] for name in ("cpu_first_s", "cpu_second_s") if sample[name] is not None]
    return sum(hops) if hops else None


def _ratio(over, under):
    return over / under if over is not None and under else None


def _difference(of, less):
    return None if of is None or less is None else of - less


def _greatest(*values):
    known = [value for value in values if value is not None]
    return max(known) if known else None


# What can be asked of a sample, a dict of its columns. Of time it is microseconds.
METRICS = {
    "ops": lambda s: s["ops_per_s"],
    "gb": lambda s: _ratio(s["bytes_per_s"], GB),
    "p50": lambda s: s["p50_us"],
    "p99": lambda s: s["p99_us"],
    "p999": lambda s: s["p999_us"],
    "cpu": lambda s: _ratio(_times(_cpu(s), 1e6), s["all_ops"]),
    "cpu_first": lambda s: _ratio(_times(s["cpu_first_s"], 1e6), s["all_ops"]),
    "cpu_second": lambda s: _ratio(_times(s["cpu_second_s"], 1e6), s["all_ops"]),
    "cpu_gb": lambda s: _ratio(_cpu(s), _times(s["all_ops"], bytes_of(s) / GB)),
    "cpu_gb_first": lambda s: _ratio(s["cpu_first_s"], _times(s["all_ops"], bytes_of(s) / GB)),
    "cpu_gb_second": lambda s: _ratio(s["cpu_second_s"], _times(s["all_ops"], bytes_of(s) / GB)),
    "fair": lambda s: _ratio(s["least_ops"], s["most_ops"]),
    "connects": lambda s: s["connect_per_s"],
    "wakes": lambda s: _greatest(s["wakes_first_per_s"], s["wakes_second_per_s"]),
    "pss_first": lambda s: s["pss_first_bytes"],
    "pss_second": lambda s: s["pss_second_bytes"],
    "peak_first": lambda s: s["peak_first_bytes"],
    "peak_second": lambda s: s["peak_second_bytes"],
}

# Of these less is better.
LOWER = {"p50", "p99", "p999", "cpu", "cpu_first", "cpu_second", "cpu_gb", "cpu_gb_first", "cpu_gb_second", "wakes",
         "pss_first", "pss_second", "peak_first", "peak_second"}


def _times(value, factor):
    return None if value is None or factor is None else value * factor


def bytes_of(sample):
    """Returns the data bytes of one operation of a sample: 4096 for "read:4096", 0 for "getattr"."""
    _, _, size = sample["work"].partition(":")
    return int(size or 0)


WORDS = {"series", "row", "contender", "work"}


def _typed(column, text):
    if column in WORDS:
        return text
    return float(text) if text else None


class Run:
    """All samples of a run, facts about its machine, and all names."""

    def __init__(self, samples, machine=None, names=None):
        self.machine = machine or {}
        self.names = names or Names()
        self.cells = {}  # (series, row, contender): round: sample
        for sample in samples:
            cell = self.cells.setdefault((sample["series"], sample["row"], sample["contender"]), {})
            cell[sample["round"]] = sample

    @staticmethod
    def load(folder):
        """Returns the run in @folder."""
        with open(os.path.join(folder, "samples.csv"), newline="", encoding="utf-8") as lines:
            samples = [{k: _typed(k, v) for k, v in line.items()} for line in csv.DictReader(lines)]
        with open(os.path.join(folder, "machine.csv"), newline="", encoding="utf-8") as lines:
            machine = dict(csv.reader(lines))
        return Run(samples, machine, Names.load(folder))

    def rows(self):
        """Returns each (series, row) once, in the order of the run."""
        return list(dict.fromkeys(key[:2] for key in self.cells))

    def title(self, series, row):
        """Returns the title of a row, with its series unless that is loopback."""
        one = next(iter(next(cell for key, cell in self.cells.items() if key[:2] == (series, row)).values()))
        title = self.names.row(series, row).title or title_of(one["work"], one["inflight"], one["connections"])
        return title if series == "lo" else f"{self.names.series(series)}: {title}"

    def pictured(self, series, picture):
        """Returns the rows of @series in one kind of pictures."""
        return [row for of, row in self.rows() if of == series and picture in self.names.row(series, row).pictures]

    def contenders(self, series, row):
        """Returns the measured contenders of a row, in the order of the first round."""
        return [key[2] for key in self.cells if key[:2] == (series, row)]

    def all_samples(self):
        """Returns all samples."""
        return [sample for cell in self.cells.values() for sample in cell.values()]

    def value(self, series, row, contender, metric):
        """Returns the Spread of a measure over the rounds, or None."""
        return spread(METRICS[metric](s) for s in self.cells.get((series, row, contender), {}).values())

    def paired(self, series, row, contender, reference, metric, how):
        """Returns the Spread of @how, applied to both measures of each round, or None."""
        ours = self.cells.get((series, row, contender), {})
        theirs = self.cells.get((series, row, reference), {})
        return spread(
            how(METRICS[metric](ours[at]), METRICS[metric](theirs[at])) for at in ours if at in theirs
        )

    def ratio(self, series, row, contender, reference, metric):
        """Returns the Spread of the ratio of @contender's measure to @reference's."""
        return self.paired(series, row, contender, reference, metric, _ratio)

    def difference(self, series, row, contender, reference, metric):
        """Returns the Spread of the difference of @contender's measure and @reference's."""
        return self.paired(series, row, contender, reference, metric, _difference)

# SPDX-License-Identifier: BSD-3-Clause
"""The aims of the proxy, as ratios of one run, and whether they are reached."""

from dataclasses import dataclass, replace

from samples import LOWER

REACHED, ENOUGH, SHORT, UNSURE = "reached", "at least", "short", "unsure"

# Ratios whose rounds differ by more than this factor are no figures, whatever their median is.
NOISE = 2


@dataclass(frozen=True)
class Aim:
    """A measure of a row, absolute or relative to the reference, with its aim and its least value."""

    text: str
    row: str
    metric: str
    aim: float
    least: float
    contender: str = "chain"
    reference: str = "haproxy2"  # none: the measure itself
    series: str = "lo"

    @property
    def lower(self):
        """Returns whether less is better."""
        return self.metric in LOWER

    def reached(self, run):
        """Returns its Spread, or None if the run has not measured it."""
        if self.reference:
            return run.ratio(self.series, self.row, self.contender, self.reference, self.metric)
        return run.value(self.series, self.row, self.contender, self.metric)

    def verdict(self, value):
        """Returns REACHED, ENOUGH or SHORT by the median of a Spread, or UNSURE if its rounds differ too much."""
        if self.reference and value.most > NOISE * value.least:
            return UNSURE
        sign = -1 if self.lower else 1
        if sign * value.median >= sign * self.aim:
            return REACHED
        return ENOUGH if sign * value.median >= sign * self.least else SHORT


# Two proxies with iWARP between them, to two HAProxies if nothing else is said.
SPEED = (
    Aim("1 MiB READ, 4 in flight", "read-1m-x4", "ops", 1.1, 1.0),
    Aim("1 MiB READ, 1 in flight", "read-1m-x1", "ops", 1.0, 0.9),
    Aim("1 MiB WRITE, 4 in flight", "write-1m-x4", "ops", 1.0, 0.9),
    Aim("1 MiB WRITE, 1 in flight", "write-1m-x1", "ops", 0.95, 0.85),
    Aim("64 KiB READ, 8 in flight", "read-64k-x8", "ops", 1.0, 0.85),
    Aim("64 KiB WRITE, 8 in flight", "write-64k-x8", "ops", 1.0, 0.85),
    Aim("4 KiB READ, 16 in flight", "read-4k-x16", "ops", 0.85, 0.7),
    Aim("GETATTR, 16 in flight", "getattr-x16", "ops", 0.85, 0.7),
    Aim("CPU of a GETATTR, 1 in flight", "getattr-x1", "cpu", 1.0, 1.15),
    Aim("CPU of a GETATTR, 1,000 connections", "getattr-c1000", "cpu", 1.0, 1.15),
    Aim("CPU of a GETATTR, 16 in flight", "getattr-x16", "cpu", 1.4, 1.7),
    Aim("CPU of a 4 KiB READ, 16 in flight", "read-4k-x16", "cpu", 1.4, 1.7),
    Aim("GETATTR, 1 in flight: p50", "getattr-x1", "p50", 1.0, 1.1),
    Aim("GETATTR beside another client's 1 MiB READs: p99", "mixed", "p99", 1.0, 1.5),
)
COPIES = (
    Aim("1 MiB READ, 4 in flight, to two copy proxies", "read-1m-x4", "ops", 1.0, 0.9, reference="copy2"),
    Aim("1 MiB WRITE, 4 in flight, to two copy proxies", "write-1m-x4", "ops", 1.0, 0.9, reference="copy2"),
)
FAIR = Aim("8 equal bulk clients: least to most", "fair", "fair", 0.8, 0.6, reference="")
QUIET = Aim("1,000 quiet connections: wake-ups a second", "idle-c1000", "wakes", 1, 5, reference="", series="idle")
SCALE = (
    Aim("connections a second", "connect", "connects", 1.0, 0.5),
    Aim("1,000 clients at once: p99 of the first Reply", "crowd", "p99", 1.0, 2.0),
)
CHAIN = (*SPEED, *COPIES, FAIR, QUIET, *SCALE)

# One proxy from tcp to tcp is to be as good as one HAProxy in each of these. How often a quiet HAProxy wakes may be never,
# so that is no ratio.
TCP_LEAST = 0.9


def _as_good(aim):
    least = 1 / TCP_LEAST if aim.lower else TCP_LEAST
    return replace(aim, contender="tcp", reference="haproxy", aim=1.0, least=least)


TCP = (
    *(_as_good(aim) for aim in (*SPEED, FAIR)),
    replace(QUIET, contender="tcp"),
    *(replace(aim, contender="tcp", reference="haproxy") for aim in SCALE),
)


def judged(run, aims=CHAIN + TCP):
    """Returns (Aim, Spread, verdict) of each measured aim."""
    found = ((aim, aim.reached(run)) for aim in aims)
    return [(aim, value, aim.verdict(value)) for aim, value in found if value]


# A load that the measurement makes itself, with two cores and as many as five processes that are at work at once.
BUSY = 6

# Works in which the server is not what limits operations.
UNLIMITED = {"getattr-open", "mixed", "mixed-bulk"}


def ahead_of_none(run, series, row):
    """Returns contenders with more operations than a direct connection."""
    direct = run.value(series, row, "direct", "ops")
    found = [(name, run.value(series, row, name, "ops")) for name in run.contenders(series, row)]
    return [name for name, value in found if direct and value and value.median > direct.median]


def doubts(run):
    """Returns doubts about the run: a proxy faster than no proxy, retransmitted segments, a busy machine."""
    told = []
    began, ended = (run.machine.get(name, "0").split()[0] for name in ("load", "load at the end"))
    if run.machine.get("quiet") == "no":
        told.append(f"When it began the machine had a load of {began}.")
    if float(ended) > BUSY:
        told.append(f"When it ended the machine had a load of {ended}.")
    unsure = [aim for aim, _, verdict in judged(run) if verdict == UNSURE]
    if unsure:
        told.append(f"{len(unsure)} of what is aimed at had rounds that differ by more than a factor of {NOISE}.")
    for series, row in run.rows():
        ahead = [] if row in UNLIMITED else ahead_of_none(run, series, row)
        if ahead:
            told.append(f"{series}/{row}: ahead of the server without a proxy: {', '.join(ahead)}.")
    again = sum(sample["retransmits"] or 0 for sample in run.all_samples())
    if again:
        worst = max(run.all_samples(), key=lambda sample: sample["retransmits"] or 0)
        told.append(
            f"TCP sent {again:.0f} segments again, {worst['retransmits']:.0f} of them in a sample of "
            f"{worst['series']}/{worst['row']} of {worst['contender']}."
        )
    return told

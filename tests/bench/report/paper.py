# SPDX-License-Identifier: BSD-3-Clause
"""Estimates from a run for other networks: cores for a link, microseconds of a hop, peak memory."""

from dataclasses import dataclass

from words import figure

LINKS_GBIT = (25, 100)
ALONE = ("getattr-x1", "read-4k-x1", "write-4k-x1")
BULK = ("read-1m-x4", "write-1m-x4", "read-64k-x8", "write-64k-x8")


@dataclass(frozen=True)
class Topology:
    """A way to move the bytes, as a multiple of the time that a contender uses for a GB of a row."""

    text: str
    contender: str
    metric: str = "cpu_gb"
    factor: float = 1.0


TOPOLOGIES = (
    Topology("tcp to tcp, one proxy", "tcp"),
    Topology("iWARP in software, both proxies", "chain"),
    Topology("iWARP in software, clients' side", "chain", "cpu_gb_first"),
    Topology("iWARP in software, server's side", "chain", "cpu_gb_second"),
    Topology("RDMA device, both proxies (assumed)", "tcp"),
    Topology("RDMA device, one side (assumed)", "tcp", factor=0.5),
    Topology("one HAProxy", "haproxy"),
    Topology("two HAProxies", "haproxy2"),
)

ASSUMED = (
    "Cores are processor time for each GB at this machine's speed times the GB in a second: a core is never idle, more of them "
    "cost no more, and the network card's driver costs what loopback does.",
    "With an RDMA device a proxy is assumed to cost half of one from tcp to tcp: it receives or sends each byte once by TCP, "
    "and the device moves it on the other side for nothing.",
)


def cores(seconds_per_gb, gbit):
    """Returns the number of cores that are always busy at @gbit Gb/s."""
    return seconds_per_gb * gbit / 8


def cores_cells(run):
    """Returns a row for each measured topology and bulk row."""
    cells = [("", "", "CPU s/GB", *(f"cores at {gbit} Gb/s" for gbit in LINKS_GBIT))]
    for row in BULK:
        for one in TOPOLOGIES:
            value = run.value("lo", row, one.contender, one.metric)
            if value:
                spent = one.factor * value.median
                needed = (figure(cores(spent, gbit)) for gbit in LINKS_GBIT)
                cells.append((run.title("lo", row), one.text, figure(spent), *needed))
    return cells


def assumed(run):
    """Returns the assumptions of the estimated cores, if there are any."""
    return ASSUMED if len(cores_cells(run)) > 1 else ()


def hop_cells(run):
    """Returns what each hop adds to the median latency, with one Call at a time and no other work."""
    cells = [("", "", "hops", "µs a hop", "range")]
    for series, row in run.rows():
        if row not in ALONE:
            continue
        for name in run.contenders(series, row):
            hops = run.names.contender(name).hops
            added = run.difference(series, row, name, "direct", "p50") if hops else None
            if added:
                spread = f"{figure(added.least / hops)}–{figure(added.most / hops)}"
                cells.append((run.title(series, row), run.names.contender(name).title, str(hops),
                              figure(added.median / hops), spread))
    return cells


def peak_cells(run):
    """Returns the peak memory of processes, in MiB."""
    cells = [("", "", "first hop, MiB", "second hop")]
    for series, row in run.rows():
        for name in run.contenders(series, row):
            found = [run.value(series, row, name, metric) for metric in ("peak_first", "peak_second")]
            if any(found):
                shown = (figure(one.median / (1 << 20)) if one else "" for one in found)
                cells.append((run.title(series, row), run.names.contender(name).title, *shown))
    return cells


def tables(run):
    """Returns (title, cells) of each table."""
    return [
        ("On paper: cores for a link", cores_cells(run)),
        ("What a hop adds to the p50 of one Call at a time", hop_cells(run)),
        ("Memory at its most", peak_cells(run)),
    ]

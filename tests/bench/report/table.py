# SPDX-License-Identifier: BSD-3-Clause
"""The tables of a run as text."""

import itertools

import paper
from aims import CHAIN, TCP, doubts, judged
from words import METRIC_TITLES, figure, ranged


def columns(rows):
    """Returns lines for @rows with aligned columns; only the first one is left-aligned."""
    widths = [max(len(row[i]) for row in rows) for i in range(len(rows[0]))]
    lines = []
    for first, *others in rows:
        lines.append("  ".join([first.ljust(widths[0]), *(c.rjust(w) for c, w in zip(others, widths[1:]))]).rstrip())
    return lines


AIMS_TITLES = {
    CHAIN: "What is aimed at with two proxies and iWARP between them",
    TCP: "What is aimed at with one proxy, tcp to tcp",
}


def aims_cells(run, aims):
    """Returns the table of @aims: a header and a row for each measured one."""
    cells = [("measure", "reached", "range", "aim", "at least", "")]
    for aim, value, verdict in judged(run, aims):
        spread = f"{figure(value.least)}–{figure(value.most)}"
        sign = "≤ " if aim.lower else ""
        wanted = (sign + figure(aim.aim), sign + figure(aim.least))
        cells.append((aim.text, figure(value.median), spread, *wanted, verdict))
    return cells


def compared(run, reference, metric):
    """Returns the table of ratios to @reference: a header, and a row for each row with both."""
    names = run.names.compared_with(reference)
    names = [name for name in names if any(run.ratio(*row, name, reference, metric) for row in run.rows())]
    cells = [("", *(run.names.contender(name).title for name in names))]
    for series, row in run.rows():
        found = [run.ratio(series, row, name, reference, metric) for name in names]
        if any(found):
            cells.append((run.title(series, row), *(ranged(one) for one in found)))
    return cells


def comparisons(run, metrics=("ops", "cpu", "p50", "p99")):
    """Returns (title, cells) of each comparison with values."""
    found = []
    for reference, metric in itertools.product(("haproxy2", "haproxy"), metrics):
        cells = compared(run, reference, metric)
        if len(cells) > 1 and len(cells[0]) > 1:
            better, whom = "more" if metric == "ops" else "less", run.names.contender(reference).title
            found.append((f"{METRIC_TITLES[metric]}, as a ratio to {whom} ({better} is better)", cells))
    return found


def values_cells(run):
    """Returns the medians of each row with each contender."""
    cells = [("", "", "ops/s", "GB/s", "p50 µs", "p99 µs", "p99.9 µs", "CPU µs/op", "CPU s/GB")]
    for series, row in run.rows():
        for name in run.contenders(series, row):
            found = [run.value(series, row, name, m) for m in ("ops", "gb", "p50", "p99", "p999", "cpu", "cpu_gb")]
            shown = [figure(one.median) if one and one.median else "" for one in found]
            if any(shown):
                cells.append((run.title(series, row), run.names.contender(name).title, *shown))
    return cells


def idle_cells(run):
    """Returns the cost of idle connections."""
    cells = [("", "", "first hop, bytes each", "second hop", "wake-ups/s")]
    for series, row in run.rows():
        if series != "idle":
            continue
        for name in run.contenders(series, row):
            found = [run.value(series, row, name, m) for m in ("pss_first", "pss_second", "wakes")]
            shown = [figure(one.median) if one else "" for one in found]
            cells.append((run.title(series, row), run.names.contender(name).title, *shown))
    return cells


def text(run):
    """Returns the most important tables; the page has all."""
    said = [", ".join(f"{key} {value}" for key, value in run.machine.items()), ""]
    sections = [(AIMS_TITLES[aims], aims_cells(run, aims)) for aims in (CHAIN, TCP)]
    sections += [*comparisons(run, ("ops", "cpu")), ("Idle connections", idle_cells(run)), *paper.tables(run)]
    for title, cells in sections:
        if len(cells) > 1:
            said += [title, "", *columns(cells), ""]
    return "\n".join([*said, *paper.assumed(run), *doubts(run)]).rstrip() + "\n"
